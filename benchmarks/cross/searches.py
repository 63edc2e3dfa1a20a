"""Searches for views: exact against many starts and screening, on the paper's table; growth with the columns."""

import statistics
import time
from typing import Any

import numpy as np

from bayesgrove.datasets import make_cross_table
from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.likelihoods import Bernoulli, Binomial, Columns
from bayesgrove.stats.partitions import adjusted_rand
from benchmarks.timing import exponent

KINDS = {"Binomial(50)": 50, "Bernoulli": 1}
SEARCHES = ("exact", "polish", "screen")
FLOOR_SECONDS, REFERENCE_GATHERS = 2.5, 1450e6
"""Floor of the exact search of 100 x 200 Binomial, at so many table look-ups a second."""
WANTED_RATIO, WANTED_OVER_FLOOR, NEAR_NATS = 8.0, 2.0, 1.0
GROWTH_COLUMNS, QUICK_COLUMNS = (50, 100, 200, 400, 800), (50, 100)


def make_model(n_trials: int, n_columns: int, search: str, seed: int) -> BHCC:
    """A search on one thread with fixed numbers."""
    prior = Binomial(n_trials, 0.5, 0.5) if n_trials > 1 else Bernoulli(0.5, 0.5)
    return BHCC(likelihood=Columns([prior] * n_columns), search=search, random_state=seed, n_jobs=1)


def timed(model: BHCC, X: np.ndarray) -> tuple[BHCC, float]:
    """A fit and its CPU seconds."""
    start = time.process_time()
    model.fit(X)
    return model, time.process_time() - start


def measure(constants: dict[str, float], seeds: list[int], *, quick: bool) -> list[dict[str, Any]]:
    """One row for each kind and search, then the growth with the columns."""
    widths = (6, 10, 10, 14) if quick else (30, 50, 50, 70)
    rows = []
    for kind, n_trials in KINDS.items():
        for search in SEARCHES:  # compile
            table = make_cross_table(30, (3, 4), (2, 2), n_trials=n_trials, random_state=0)
            make_model(n_trials, 7, search, 0).fit(table.X)
        rows += compare(kind, n_trials, widths, seeds, constants)
    return rows + growth(QUICK_COLUMNS if quick else GROWTH_COLUMNS, seeds[0])


def compare(
    kind: str, n_trials: int, widths: tuple[int, ...], seeds: list[int], constants: dict[str, float]
) -> list[dict[str, Any]]:
    """The searches in turn on every seed's table."""
    found: dict[str, list[tuple[float, float, float]]] = {search: [] for search in SEARCHES}
    for seed in seeds:
        made = make_cross_table(view_columns=widths, n_trials=n_trials, random_state=seed)
        for search in SEARCHES:
            model, seconds = timed(make_model(n_trials, sum(widths), search, seed), made.X)
            agreement = float(adjusted_rand(made.view_labels, model.view_labels_))
            found[search].append((seconds, model.log_evidence_, agreement))
    floor = FLOOR_SECONDS * REFERENCE_GATHERS / constants["gather_per_s"] if sum(widths) == 200 else None
    return [row_of(kind, sum(widths), search, found, floor) for search in SEARCHES]


def row_of(
    kind: str, n_columns: int, search: str, found: dict[str, list[tuple[float, float, float]]], floor: float | None
) -> dict[str, Any]:
    """Medians, and bounds against the exact search."""
    seconds, bounds, agreements = zip(*found[search], strict=True)
    own, exact = statistics.median(seconds), [bound for _, bound, _ in found["exact"]]
    n_near = sum(bound >= other - NEAR_NATS for bound, other in zip(bounds, exact, strict=True))
    row = {
        "part": "searches", "data": f"100 x {n_columns} {kind}", "search": search, "cpu_seconds": own,
        "exact_over_this": statistics.median(s for s, _, _ in found["exact"]) / own,
        "least_ari": min(agreements), "within_1_nat": f"{n_near}/{len(bounds)}",
    }  # fmt: skip
    if floor is not None and kind.startswith("Binomial") and search == "exact":
        row |= {"over_floor": own / floor, "wanted": f"<= {WANTED_OVER_FLOOR:g} floors",
                "holds": own / floor <= WANTED_OVER_FLOOR}  # fmt: skip
    if floor is not None and search == "polish":
        row |= {"wanted": f">= {WANTED_RATIO:g} x exact", "holds": row["exact_over_this"] >= WANTED_RATIO}
    return row


def growth(columns: tuple[int, ...], seed: int) -> list[dict[str, Any]]:
    """Time and row trees of the default search as columns grow."""
    rows, seconds = [], []
    for n_columns in columns:
        widths = [len(part) for part in np.array_split(np.arange(n_columns), 4)]
        made = make_cross_table(view_columns=widths, n_trials=1, random_state=seed)
        model, own = timed(make_model(1, n_columns, "polish", seed), made.X)
        seconds.append(own)
        rows.append(
            {
                "part": "growth", "columns": n_columns, "cpu_seconds": own,
                "row_trees": model.result_.details["n_row_trees"],
                "row_trees_if_exact": (n_columns - 1) ** 2 + n_columns,
            }
        )  # fmt: skip
    rows[-1]["exponent"] = exponent(columns, seconds)
    return rows

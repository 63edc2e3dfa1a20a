"""Section 8.3 of Li and Shafto (2011): bound, accuracy and time as columns grow."""

import math
from typing import Any

import numpy as np

from papers.cross_methods import (
    CHAINS,
    METHODS,
    RANDOMIZED,
    TREES,
    Score,
    cross_validate,
    exact_search,
)
from papers.cross_tables import equal_views
from papers.outcome import Claim, Outcome, Tell

COLUMNS, QUICK_COLUMNS = (40, 80, 120, 160, 200), (40, 80, 160)
N_VIEWS, N_SEEDS = 4, 5
EXACT = "BHCC, exact search"
NEAR_LINEAR, NEAR_QUADRATIC, ALIKE = 1.3, 1.5, 0.02


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """Four views, more and more columns."""
    methods = {EXACT: exact_search, **{name: METHODS[name] for name in (TREES, RANDOMIZED, CHAINS)}}
    rows = []
    for name, make in methods.items():
        tell(f"{name}: once untimed, so that everything is compiled")
        cross_validate(make, equal_views(N_VIEWS, seed, COLUMNS[0]), seed, 1)
    for n_columns in QUICK_COLUMNS if quick else COLUMNS:
        for name, make in methods.items():
            tell(f"{n_columns} columns: {name}")
            scores = [
                cross_validate(make, equal_views(N_VIEWS, seed + k, n_columns), seed + k, 1)
                for k in range(1 if quick else N_SEEDS)
            ]
            rows.append(row_of(n_columns, name, scores))
    exponents = {name: exponent(rows, name) for name in methods}
    table_of = [{"method": name, "exponent of time": value} for name, value in exponents.items()]
    tables = {"by columns": rows, "growth of time": table_of}
    return Outcome("Bound, accuracy and time by number of columns", tables, claims(rows, exponents), notes())


def row_of(n_columns: int, name: str, scores: list[Score]) -> dict[str, Any]:
    """One line of the table: means over tables, and the least and the largest accuracy."""
    mean = Score(*np.mean(np.array(scores), axis=0).tolist())
    accuracy = [score.accuracy for score in scores]
    return {
        "columns": n_columns, "method": name, "bound": None if math.isnan(mean.bound) else mean.bound,
        "accuracy": mean.accuracy, "least": min(accuracy), "largest": max(accuracy),
        "log_score": mean.log_score, "cpu_seconds": mean.seconds,
    }  # fmt: skip


def exponent(rows: list[dict[str, Any]], name: str) -> float:
    """Slope of log time over log columns, between the smallest and the largest table."""
    own = [row for row in rows if row["method"] == name]
    first, last = own[0], own[-1]
    return math.log(last["cpu_seconds"] / first["cpu_seconds"]) / math.log(last["columns"] / first["columns"])


def claims(rows: list[dict[str, Any]], exponents: dict[str, float]) -> list[Claim]:
    """Linear, quadratic, alike."""
    last = max(row["columns"] for row in rows)
    accuracy = {row["method"]: row["accuracy"] for row in rows if row["columns"] == last}
    spread = max(accuracy.values()) - min(accuracy.values())
    return [
        Claim(
            "8.3: randomized BHCC is linear in the columns",
            f"time grows with the power {exponents[RANDOMIZED]:.2f}",
            exponents[RANDOMIZED] <= NEAR_LINEAR,
        ),
        Claim(
            "8.3: BHCC is quadratic",
            f"our exact search grows with the power {exponents[EXACT]:.2f} (the default search, "
            f"many starts: {exponents[TREES]:.2f})",
            exponents[EXACT] >= NEAR_QUADRATIC,
        ),
        Claim("8.3: accuracies are alike", f"within {spread:.3f} at {last} columns", spread <= ALIKE),
    ]


def notes() -> list[str]:
    """What to know."""
    return ["A tenth of the cells is hidden. Times are CPU seconds of fits with compiled kernels, means over tables."]

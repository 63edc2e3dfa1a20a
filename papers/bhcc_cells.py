"""Section 8.2 of Li and Shafto (2011): prediction of hidden cells, one view against many."""

from typing import Any

import numpy as np

from papers.cross_methods import BHC, CHAINS, CROSS, DPM, METHODS, SINGLE, TREES, cross_validate
from papers.cross_tables import FOLDS, REAL_SETS, CellTable, equal_views, real_table
from papers.outcome import FEWEST_SIGNS, Claim, Outcome, Tell, sign_test, undecided

SYNTHETIC = {2: "II", 3: "III", 4: "IV"}
REAL_PAIRS = ((CHAINS, DPM), (TREES, BHC))
FORMS = ("median split", "Gaussian")
REAL_COLUMNS = 60
SMALL, ALIKE = 0.05, 0.02
"""Error probability of a sign test; nats per cell that count as agreement."""


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """Synthetic sets II to IV and the four real ones."""
    n_folds, n_seeds = (1, 2) if quick else (FOLDS, 5)
    synthetic = [
        scores(equal_views(n_views, seed + k), seed + k, n_folds, tell) for n_views in SYNTHETIC for k in range(n_seeds)
    ]
    real, missing = real_rows(n_folds, seed, data_home, tell)
    tables = {"synthetic sets": flat(synthetic), "real sets": flat(real)}
    notes = [f"{name}: no data found; docs/data.md says where to get them." for name in missing]
    notes.append("Prior numbers and concentrations are fixed at 1/2 and 1; the paper does not give its own.")
    notes.append(
        "Where the mean and the median of a log density disagree, some outlying cells decide: in a tree a row leaves "
        "its cluster only together with all rows merged with it before, so a view of few columns can be too sure."
    )
    tested, *others = [*synthetic_claims(synthetic), *real_claims(real)]
    claims = [tested, *(undecided(others) if n_folds < FOLDS else others)]
    return Outcome("Prediction of hidden cells", tables, claims, notes)


def scores(table: CellTable, seed: int, n_folds: int, tell: Tell) -> dict[str, dict[str, Any]]:
    """All methods on one table."""
    found = {}
    for name, make in METHODS.items():
        tell(f"{table.name}, seed {seed}: {name}")
        score = cross_validate(make, table, seed, n_folds)
        found[name] = {"data": table.name, "seed": seed, "method": name, **score._asdict()}
        found[name].pop("bound")
    return found


def real_rows(n_folds: int, seed: int, data_home: Any, tell: Tell) -> tuple[list[dict[str, dict[str, Any]]], list[str]]:
    """The real sets that are there, in both forms, and the names of those that are not."""
    found, missing = [], []
    for name in REAL_SETS:
        for form in FORMS:
            table = real_table(name, form, REAL_COLUMNS, seed, data_home)
            if table is None:
                missing.append(name)
            else:
                found.append(scores(table, seed, n_folds, tell))
    return found, sorted(set(missing))


def flat(results: list[dict[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """One row per table and method."""
    return [row for result in results for row in result.values()]


def log_score(result: dict[str, dict[str, Any]], method: str) -> float:
    """Mean log probability of hidden cells."""
    return float(result[method]["log_score"])


def synthetic_claims(results: list[dict[str, dict[str, Any]]]) -> list[Claim]:
    """Many views beat one; one view falls as views grow; the methods with many views agree."""
    gains = [log_score(r, TREES) - max(log_score(r, name) for name in SINGLE) for r in results]
    spreads = [np.ptp([log_score(r, name) for name in CROSS]) for r in results]
    by_set = {
        label: np.mean([log_score(r, BHC) for r in results if r[BHC]["data"] == label]) for label in SYNTHETIC.values()
    }
    falls = list(by_set.values())
    return [
        Claim(
            "8.2: with several views, cross-clustering predicts better than one view",
            f"BHCC over the better of BHC and DPM: {min(gains):.3f} to {max(gains):.3f} nats per cell in "
            f"{len(gains)} tables, sign test p = {sign_test(gains):.2g}",
            None if len(gains) < FEWEST_SIGNS else sign_test(gains) < SMALL,
        ),
        Claim(
            "8.2: single-view methods get worse from set II to set IV",
            "BHC " + ", ".join(f"{label}: {value:.3f}" for label, value in by_set.items()),
            falls[0] > falls[1] > falls[2],
        ),
        Claim(
            "8.2: BHCC, randomized BHCC and MCMC agree",
            f"largest difference {max(spreads):.3f} nats per cell",
            bool(max(spreads) < ALIKE),
        ),
    ]


def real_claims(results: list[dict[str, dict[str, Any]]]) -> list[Claim]:
    """The same direction on real data, chains against chains and trees against trees."""
    paper = "8.2: cross-clustering is ahead on Arcene and Isolet, slightly on Musk and Sonar"
    if not results:
        return [Claim(paper, "no data found", None)]
    return [real_claim(f"{paper} ({many} against {one})", results, many, one) for many, one in REAL_PAIRS]


def real_claim(paper: str, results: list[dict[str, dict[str, Any]]], many: str, one: str) -> Claim:
    """Holds where many views are ahead on all sets."""
    gains = {r[many]["data"]: log_score(r, many) - log_score(r, one) for r in results}
    ahead = sum(gain > 0.0 for gain in gains.values())
    details = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
    return Claim(paper, f"ahead on {ahead} of {len(gains)}, nats per cell: {details}", ahead == len(gains))

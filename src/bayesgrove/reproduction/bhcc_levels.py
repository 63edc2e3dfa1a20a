"""Section 8.4 of Li and Shafto (2011): the randomized search with more and more levels."""

from typing import Any

import numpy as np

from bayesgrove.reproduction.cross_methods import cross_validate, unpolished
from bayesgrove.reproduction.cross_tables import FOLDS, equal_views, real_table
from bayesgrove.reproduction.outcome import Claim, Outcome, Tell

SETS = ("Arcene", "Isolet", "Musk")
LEVELS, QUICK_LEVELS = (2, 3, 4, 5, 6, 7, 8), (2, 4, 6)
N_COLUMNS = 100
FLAT = 0.005
"""Change of accuracy that counts as none."""


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """Accuracy on hidden cells of median splits, without the polish that the paper does not have."""
    levels, n_folds = (QUICK_LEVELS, 1) if quick else (LEVELS, FOLDS)
    tables = [equal_views(4, seed)]
    found = [real_table(name, "median split", N_COLUMNS, seed, data_home) for name in SETS]
    tables += [table for table in found if table is not None]
    rows = []
    for table in tables:
        for level in levels:
            tell(f"{table.name}: {level} levels")
            score = cross_validate(unpolished(level), table, seed, n_folds)
            rows.append({"data": table.name, "levels": level, "accuracy": score.accuracy, "log_score": score.log_score})
    missing = [name for name, table in zip(SETS, found, strict=True) if table is None]
    notes = [f"{name}: no data found; see `bayesgrove doctor`." for name in missing]
    notes.append("Truncated leaves are taken for one view; polishing afterwards, our default, would hide the levels.")
    claims = [judge(table.name, rows) for table in tables]
    return Outcome("Accuracy by levels of the randomized search", {"levels": rows}, claims, notes)


def judge(name: str, rows: list[dict[str, Any]]) -> Claim:
    """Rises at first, changes little at the end."""
    accuracy = np.array([row["accuracy"] for row in rows if row["data"] == name])
    rise, last = accuracy.max() - accuracy[0], abs(accuracy[-1] - accuracy[-2])
    text = f"{accuracy[0]:.3f} at first, best {accuracy.max():.3f}, last {accuracy[-1]:.3f}"
    holds = bool(rise > 0.0 and last <= max(FLAT, 0.5 * rise))
    return Claim(f"8.4: accuracy rises with the levels, then flattens ({name})", text, holds)

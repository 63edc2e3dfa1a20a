"""Section 8.4 of Li and Shafto (2011): the randomized search with more and more levels."""

from typing import Any

import numpy as np

from papers.cross_methods import cross_validate, unpolished
from papers.cross_tables import FOLDS, CellTable, equal_views, real_table
from papers.outcome import FEWEST_SIGNS, Claim, Outcome, Tell, sign_test, undecided

SETS = ("Arcene", "Isolet", "Musk")
LEVELS, QUICK_LEVELS = (2, 3, 4, 5, 6, 7, 8), (2, 4, 6)
N_COLUMNS, N_SEEDS = 100, 5
FLAT, SMALL = 0.005, 0.05
"""Change of accuracy that counts as none; error probability of a sign test."""


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """Accuracy on hidden cells of median splits, without the polish that the paper does not have."""
    levels, n_folds, n_seeds = (QUICK_LEVELS, 1, 2) if quick else (LEVELS, FOLDS, N_SEEDS)
    synthetic = [rows_of(equal_views(4, seed + k), seed + k, levels, 1, tell) for k in range(n_seeds)]
    found = [real_table(name, "median split", N_COLUMNS, seed, data_home) for name in SETS]
    real = [rows_of(table, seed, levels, n_folds, tell) for table in found if table is not None]
    missing = [name for name, table in zip(SETS, found, strict=True) if table is None]
    notes = [f"{name}: no data found; docs/data.md says where to get them." for name in missing]
    notes.append("Truncated leaves are taken for one view; polishing afterwards, our default, would hide the levels.")
    rows = [row for rows in (*synthetic, *real) for row in rows]
    on_real = [judge_real(rows) for rows in real]
    claims = [judge_synthetic(synthetic), *(undecided(on_real) if n_folds < FOLDS else on_real)]
    return Outcome("Accuracy by levels of the randomized search", {"levels": rows}, claims, notes)


def rows_of(table: CellTable, seed: int, levels: tuple[int, ...], n_folds: int, tell: Tell) -> list[dict[str, Any]]:
    """One row a number of levels."""
    rows = []
    for level in levels:
        tell(f"{table.name}, seed {seed}: {level} levels")
        score = cross_validate(unpolished(level), table, seed, n_folds)
        rows.append(
            {"data": table.name, "seed": seed, "levels": level}
            | {"accuracy": score.accuracy, "log_score": score.log_score}
        )
    return rows


def rise_and_end(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """From the fewest levels to the most, and the change at the last step."""
    accuracy = [row["accuracy"] for row in rows]
    return accuracy[-1] - accuracy[0], abs(accuracy[-1] - accuracy[-2])


def judge_synthetic(tables: list[list[dict[str, Any]]]) -> Claim:
    """By the signs of the rises."""
    rises, ends = np.transpose([rise_and_end(rows) for rows in tables])
    holds = bool(sign_test(rises.tolist()) < SMALL and ends.max() <= FLAT)
    return Claim(
        "8.4: accuracy rises with the levels, then flattens (set IV)",
        f"rises by {rises.min():.3f} to {rises.max():.3f} in {rises.size} tables, sign test "
        f"p = {sign_test(rises.tolist()):.2g}; the last level changes it by at most {ends.max():.4f}",
        None if rises.size < FEWEST_SIGNS else holds,
    )


def judge_real(rows: list[dict[str, Any]]) -> Claim:
    """Rises at first, changes little at the end."""
    rise, end = rise_and_end(rows)
    text = f"{rows[0]['accuracy']:.4f} at {rows[0]['levels']} levels, {rows[-1]['accuracy']:.4f} at the last"
    name = rows[0]["data"]
    return Claim(f"8.4: accuracy rises with the levels, then flattens ({name})", text, rise > 0.0 and end <= FLAT)

"""Columns that no family should describe: constants, identifiers, free text, dates, repeats of other columns."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.table import DATE, Table
from bayesgrove.likelihoods.facts import Facts
from bayesgrove.stats.partitions import relabel

CONSTANT, EMPTY = "constant", "empty"
IDENTIFIER, FREE_TEXT, REPEAT = "identifier", "free text", "repeat"
FEWEST_ROWS = 20
"""With fewer rows, different values prove nothing."""
MOSTLY = 0.5
"""Texts of which more than this share are different are free text."""
DENSE, FEW = 1.05, 5
"""Identifiers count up: their range is at most so many times the number of rows, and a few more."""
FEWEST_OTHERS = 5
"""A column can repeat another where at least so many cells differ from its commonest value."""
UNEVEN = 0.06
"""How far the distribution of identifiers may be from a uniform one."""
NAME_OF_IDENTIFIER = re.compile(r"(?i:(^|.*[^a-z])(id|uuid|guid|rowid|index))|.*[a-z]I[dD]")


class Recognised(NamedTuple):
    """What a column is, and why."""

    kind: str
    reason: str


def recognised(table: Table, facts: Facts, j: int) -> Recognised | None:
    """What a column is that says nothing about clusters; None for all others."""
    if facts.n_seen[j] == 0:
        return Recognised(EMPTY, "no observed cell")
    if facts.least[j] == facts.largest[j]:
        return Recognised(CONSTANT, "all cells are equal")
    if table.kinds[j] == DATE:
        return Recognised("date", "dates or times")
    if facts.n_rows < FEWEST_ROWS or table.kinds[j] == "bool":
        return None
    return of_text(table, facts, j) if table.kinds[j] == "category" else of_numbers(table, facts, j)


def of_text(table: Table, facts: Facts, j: int) -> Recognised | None:
    """Labels of which all or most are different."""
    n_seen = int(facts.n_seen[j])
    n_labels = np.unique(table.values[~np.isnan(table.values[:, j]), j]).size
    if n_seen < FEWEST_ROWS or n_labels <= MOSTLY * n_seen:
        return None
    if n_labels == n_seen and np.mean([" " in str(label) for label in table.categories[j]]) < MOSTLY:
        return Recognised(IDENTIFIER, f"all {n_seen:,} labels are different")
    return Recognised(FREE_TEXT, f"{n_labels:,} different labels in {n_seen:,} cells")


def of_numbers(table: Table, facts: Facts, j: int) -> Recognised | None:
    """Whole numbers that are all different and count up, in whatever order, or are called identifiers."""
    cells = facts.rows[~np.isnan(facts.rows[:, j]), j]
    if not facts.is_whole[j] or facts.n_seen[j] < FEWEST_ROWS or np.unique(cells).size < cells.size:
        return None
    if NAME_OF_IDENTIFIER.fullmatch(table.names[j]):
        return Recognised(IDENTIFIER, "whole numbers, all different, and the name of an identifier")
    span = facts.largest[j] - facts.least[j] + 1.0
    if not facts.n_seen[j] <= span <= DENSE * facts.n_rows + FEW:
        return None
    expected = facts.least[j] + span * (np.arange(cells.size) + 0.5) / cells.size
    if np.abs(np.sort(cells) - expected).max() > UNEVEN * span + FEW:
        return None
    return Recognised(IDENTIFIER, f"whole numbers that count from {facts.least[j]:g} to {facts.largest[j]:g}")


def repeats(facts: Facts, columns: Sequence[int]) -> dict[int, int]:
    """Columns whose values correspond one to one to those of an earlier column, and that column.

    Rows in which one of them has no cell must be the same. Where most values are different, nothing can be told. Where
    three columns agree, or half of all would be repeats, rows differ in many columns at once because they belong to
    different clusters, and nothing is repeated.
    """
    first: dict[bytes, int] = {}
    found: dict[int, int] = {}
    for j in columns if facts.n_rows >= FEWEST_ROWS else ():
        seen = ~np.isnan(facts.rows[:, j])
        codes = relabel(np.unique(facts.rows[seen, j], return_inverse=True)[1])
        counts = np.bincount(codes)
        if counts.size > MOSTLY * codes.size or codes.size - counts.max() < FEWEST_OTHERS:
            continue
        earlier = first.setdefault(seen.tobytes() + codes.tobytes(), j)
        if earlier != j:
            found[j] = earlier
    times = Counter(found.values())
    pairs = {j: earlier for j, earlier in found.items() if times[earlier] == 1}
    return pairs if 2 * len(pairs) < len(columns) else {}

"""Binding a likelihood to rows that stand in parts: from a few numbers of each part, bit-identical to one table.

All a likelihood takes from a table are the kinds of its columns, their extremes, lower medians and moments.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.jit import kernel
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import Encoding, RowsInBrief
from bayesgrove.likelihoods.bind import Bound, open_grain, to_learn
from bayesgrove.likelihoods.facts import Facts, column_facts
from bayesgrove.likelihoods.understanding import Understood, understand
from bayesgrove.likelihoods.uninformative import leave_out

SAMPLED_ROWS = 65_536
"""Rows of all parts together that bracket the medians."""
BRACKET = 0.02
"""How far from the middle, in shares of the rows, the bracket's ends lie in the sample: ten standard errors of it."""


class Brief(NamedTuple):
    """A part of a table in few numbers per column, as in `Facts`, and a sample of its rows."""

    n_rows: int
    n_seen: np.ndarray
    least: np.ndarray
    largest: np.ndarray
    is_binary: np.ndarray
    is_whole: np.ndarray
    rows: np.ndarray
    """Those that families are chosen by."""
    sample: np.ndarray

    @property
    def facts(self) -> Facts:
        """All but the sample."""
        return Facts(*self[:-1])


def brief_of(values: np.ndarray, n_sampled: int, rows: np.ndarray | None = None) -> Brief:
    """A part in brief, with so many rows at even distances and those that families are chosen by."""
    chosen = values[:0] if rows is None else values[rows]
    n_sampled = min(n_sampled, len(values))
    sampled = values[np.arange(n_sampled) * len(values) // max(1, n_sampled)]
    n_seen, least, largest, is_binary, is_whole = column_facts(values)
    return Brief(len(values), n_seen, least, largest, is_binary, is_whole, chosen, sampled)


def joined(briefs: Sequence[Brief]) -> Brief:
    """Several parts in brief."""
    return Brief(
        sum(brief.n_rows for brief in briefs),
        np.sum([brief.n_seen for brief in briefs], axis=0),
        np.min([brief.least for brief in briefs], axis=0),
        np.max([brief.largest for brief in briefs], axis=0),
        np.all([brief.is_binary for brief in briefs], axis=0),
        np.all([brief.is_whole for brief in briefs], axis=0),
        np.concatenate([brief.rows for brief in briefs]),
        np.concatenate([brief.sample for brief in briefs]),
    )


def understand_brief(
    likelihood: Any, brief: Brief, names: tuple[str, ...], kinds: tuple[str, ...], *, with_repeats: bool = False
) -> Understood:
    """The likelihood "auto" or a name stands for; the facts and a few rows tell as much as all of them."""
    if brief.n_rows == 0 or brief.n_seen.size == 0:
        raise InvalidTableError(
            f"a table needs at least one row and one column, got {brief.n_rows} x {brief.n_seen.size}."
        )
    table = Table(np.array(ends(brief)), names, kinds)
    return understand(likelihood, table, brief.facts, with_repeats=with_repeats)


def ends(brief: Brief) -> tuple[np.ndarray, np.ndarray]:
    """Extremes of the columns, NaN where no cell is observed."""
    empty = brief.n_seen == 0
    return np.where(empty, np.nan, brief.least), np.where(empty, np.nan, brief.largest)


def bracket(brief: Brief) -> np.ndarray:
    """For each column two numbers that the lower median most likely lies between, shape (2, n_columns)."""
    least, largest = ends(brief)
    limits = np.array([least, largest])
    for j in range(least.size):
        cells = np.sort(brief.sample[~np.isnan(brief.sample[:, j]), j])
        low, high = int((0.5 - BRACKET) * cells.size), int((0.5 + BRACKET) * cells.size) + 1
        if low > 0 and high < cells.size:
            limits[:, j] = cells[low], cells[high]
    return limits


def middle_cells(values: np.ndarray, limits: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each column: how many cells lie below the bracket, and the different cells inside it with their counts."""
    n_below, columns, cells = cells_inside(values, limits)
    found = []
    for j in range(values.shape[1]):
        found.append((int(n_below[j]), *np.unique(cells[columns == j], return_counts=True)))
    return found


@kernel
def cells_inside(values, limits):
    """How many cells of each column lie below its limits; columns and values of those between them."""
    n_below, n_inside = np.zeros(values.shape[1], np.int64), 0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            n_below[j] += values[i, j] < limits[0, j]
            n_inside += limits[0, j] <= values[i, j] <= limits[1, j]
    columns, cells, at = np.empty(n_inside, np.int64), np.empty(n_inside), 0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if limits[0, j] <= values[i, j] <= limits[1, j]:
                columns[at], cells[at] = j, values[i, j]
                at += 1
    return n_below, columns, cells


def lower_medians(brief: Brief, parts: Sequence[list[tuple[int, np.ndarray, np.ndarray]]]) -> np.ndarray:
    """The lower median of each column from what parts have in its bracket; NaN where it lies outside."""
    medians = np.full(brief.n_seen.size, np.nan)
    for j in range(medians.size):
        cells = np.concatenate([part[j][1] for part in parts])
        counts = np.concatenate([part[j][2] for part in parts])
        wanted = (int(brief.n_seen[j]) - 1) // 2 - sum(part[j][0] for part in parts)
        order = np.argsort(cells, kind="stable")
        place = int(np.searchsorted(np.cumsum(counts[order]), wanted, side="right"))
        if wanted >= 0 and place < cells.size:
            medians[j] = cells[order][place]
    return medians


def encode_brief(
    understood: Understood,
    brief: Brief,
    medians: np.ndarray,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    hyper: str = "auto",
) -> tuple[Encoding, Table]:
    """The encoding of all rows, and three rows that stand for them."""
    likelihood, unused = understood.likelihood, understood.left_out
    least, largest = ends(brief)
    table = Table(np.array([least, medians, largest]), names, kinds).without(unused)
    return leave_out(likelihood.encoding(table), table, likelihood, to_learn(likelihood, hyper), unused), table


def encode_part(values: np.ndarray, understood: Understood, encoding: Encoding, table: Table, first: int) -> np.ndarray:
    """A part's rows as kernels see them; cells the likelihood cannot describe are refused by row and column."""
    part = Table(np.ascontiguousarray(values, dtype=np.float64), table.names, table.kinds).without(understood.left_out)
    likelihood = understood.likelihood
    try:
        likelihood.check(part)
    except InvalidTableError as error:
        raise InvalidTableError(f"{error} (Rows are counted from row {first} of the table.)") from error
    return np.ascontiguousarray(encoding.apply(likelihood.cells(part)))


def bind_brief(
    understood: Understood, hyper: str, encoding: Encoding, table: Table, n_seen: np.ndarray, moments: Any
) -> Bound:
    """A likelihood with all its numbers, bound to rows that stand elsewhere; `table` has three that stand for them."""
    likelihood = understood.likelihood
    rows = np.ascontiguousarray(encoding.apply(likelihood.cells(table))).view(RowsInBrief)
    rows.moments = moments
    prior = likelihood.prior(rows, encoding, table)
    free = to_learn(likelihood, hyper)
    nothing = np.empty((0, table.n_columns))
    log_measure = encoding.total_log_measure(n_seen)
    described = likelihood.described_by(prior, encoding)
    is_open = open_grain(likelihood, free, table.n_columns)
    return Bound(described, prior, encoding, nothing, log_measure, free, is_open, understood.choices)

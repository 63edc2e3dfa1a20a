"""What the choice of families looks at: a few numbers of each column, and some rows at even distances."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel

MOST_ROWS = 1_000
"""Rows that families are chosen by."""


class Facts(NamedTuple):
    """A table in brief: for each column the number of observed cells, extremes, whether all are 0 or 1, or whole."""

    n_rows: int
    n_seen: np.ndarray
    least: np.ndarray
    largest: np.ndarray
    is_binary: np.ndarray
    is_whole: np.ndarray
    rows: np.ndarray
    """Up to `MOST_ROWS` rows at even distances."""


def facts_of(values: np.ndarray) -> Facts:
    """The facts of a whole table."""
    n_seen, least, largest, is_binary, is_whole = column_facts(values)
    rows = values[rows_to_choose_by(len(values))]
    return Facts(len(values), n_seen, least, largest, is_binary, is_whole, rows)


def rows_to_choose_by(n_rows: int) -> np.ndarray:
    """Numbers of the rows that families are chosen by."""
    most = min(MOST_ROWS, n_rows)
    return np.arange(most) * n_rows // max(1, most)


@kernel
def column_facts(values):
    """For each column: the number of observed cells, the least and largest, whether all are 0 or 1, and whole."""
    n_columns = values.shape[1]
    n_seen = np.zeros(n_columns, np.int64)
    is_binary, is_whole = np.ones(n_columns, np.bool_), np.ones(n_columns, np.bool_)
    least, largest = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    for i in range(values.shape[0]):
        for j in range(n_columns):
            x = values[i, j]
            if not math.isnan(x):
                n_seen[j] += 1
                least[j], largest[j] = min(least[j], x), max(largest[j], x)
                is_binary[j] &= x == 0.0 or x == 1.0
                is_whole[j] &= x == math.floor(x)
    return n_seen, least, largest, is_binary, is_whole

"""Columns that carry no information: constant ones and those without a single observed cell."""

import logging
from collections.abc import Sequence

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import CONSTANT, EMPTY, IN_USE, Encoding, Likelihood


def leave_out(
    encoding: Encoding, table: Table, likelihood: Likelihood, free: tuple[str, ...], known: Sequence[int] = ()
) -> Encoding:
    """The encoding without the columns that carry no information, where hyperparameters are learned.

    A constant column says nothing about clusters, but a learned prior would shrink its variance to nothing and let it
    outweigh all others. Where all columns are constant, none is left out.

    Parameters
    ----------
    encoding : Encoding
    table : Table
        With the least and the largest cell of every column among its rows.
    likelihood : Likelihood
    free : tuple of str
        Names of what is learned; with nothing to learn a likelihood is used as it stands.
    known : sequence of int
        Columns that were left out for other reasons, which were reported.
    """
    if not free:
        return encoding
    ignored, constant = uninformative_columns(table.values)
    ignored[~np.array(likelihood.learned_columns(table.n_columns, free))] = IN_USE
    if not ignored.any() or (ignored != IN_USE).all():
        return encoding
    news = ignored.copy()
    news[list(known)] = IN_USE
    if news.any():
        report_left_out(table.names, news)
    return encoding.ignoring(ignored, constant)


def uninformative_columns(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each column IN_USE, CONSTANT or EMPTY, and the constants."""
    seen = ~np.isnan(values)
    least = np.min(values, axis=0, where=seen, initial=np.inf)
    largest = np.max(values, axis=0, where=seen, initial=-np.inf)
    kinds = np.where(least == largest, CONSTANT, IN_USE)
    kinds[~seen.any(axis=0)] = EMPTY
    return kinds.astype(np.int64), np.where(kinds == CONSTANT, least, 0.0)


def report_left_out(names: tuple[str, ...], ignored: np.ndarray) -> None:
    """One line that names the columns left out."""
    columns = ", ".join(repr(names[j]) for j in np.flatnonzero(ignored)[:10])
    more = np.count_nonzero(ignored) - 10
    logging.getLogger("bayesgrove").warning(
        "columns left out because they are constant or have no observed cell: %s%s",
        columns,
        f" and {more} more" if more > 0 else "",
    )

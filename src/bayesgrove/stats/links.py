"""What is known of some rows beforehand: which belong to one cluster, and which do not."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.stats.partitions import relabel

UNKNOWN = -1
"""Partial label of a row of which nothing is known."""


class Links(NamedTuple):
    """Constraints on a partition of rows. Rows that must be together form one item; other rows are items of their own.

    Examples
    --------
    >>> links = make_links(4, must_link=[(0, 2)], cannot_link=[(2, 3)])
    >>> links.item.tolist(), links.apart.tolist()
    ([0, 1, 0, 2], [[0, 2]])
    """

    item: np.ndarray
    """(n_rows,) item of each row, numbered by first appearance."""
    apart: np.ndarray
    """(n_pairs, 2) items that are in different clusters, the smaller first, without duplicates."""

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.item.max()) + 1

    @property
    def first_rows(self) -> np.ndarray:
        """(n_items,) the first row of each item."""
        return np.unique(self.item, return_index=True)[1]

    def allows(self, labels: np.ndarray) -> bool:
        """Whether a partition of the rows meets all constraints."""
        of_items = labels[self.first_rows]
        together = np.array_equal(of_items[self.item], labels)
        return together and bool(np.all(of_items[self.apart[:, 0]] != of_items[self.apart[:, 1]]))

    def met_by(self, labels: np.ndarray) -> np.ndarray:
        """A partition near a given one that meets all constraints.

        Each item goes where its first row is; an item that may not be there founds a cluster of its own.
        """
        of_items = relabel(labels)[self.first_rows]
        for one, two in self.apart.tolist():
            if of_items[one] == of_items[two]:
                of_items[two] = of_items.max() + 1
        return relabel(of_items[self.item])

    def parted(self, parts: np.ndarray, unions: np.ndarray) -> np.ndarray:
        """Unions of the parts of an allowed partition; a union with a pair that is to be apart is left in its parts."""
        one, two = unions[self.first_rows[self.apart]].T
        is_broken = np.isin(unions, one[one == two])
        return relabel(np.where(is_broken, unions.max() + 1 + parts, unions))


def make_links(n_rows: int, must_link: Any = None, cannot_link: Any = None, labels: Any = None) -> Links | None:
    """Constraints from what a user gives, or None where there are none.

    Parameters
    ----------
    n_rows : int
    must_link : sequence of sequences of int, optional
        Groups of rows, each of one cluster. Groups that share a row are one group.
    cannot_link : sequence of pairs of int, optional
        Rows of different clusters.
    labels : int array of shape (n_rows,), optional
        Rows with the same label are in one cluster, rows with different labels in different ones; -1 is unknown.

    Examples
    --------
    >>> make_links(3, labels=[1, -1, 0]).apart.tolist()
    [[0, 2]]
    """
    groups = [] if must_link is None else [rows_of(group, n_rows, "must_link") for group in must_link]
    pairs = [] if cannot_link is None else [rows_of(pair, n_rows, "cannot_link") for pair in cannot_link]
    if any(pair.size != 2 for pair in pairs):
        raise InvalidSettingError("cannot_link must be pairs of rows, such as [(0, 5), (3, 5)]; got other numbers.")
    classes = [] if labels is None else rows_of_labels(check_labels(labels, n_rows))
    if not (groups or pairs or classes):
        return None
    item = joined(n_rows, [*groups, *classes])
    pairs += [np.array(pair) for pair in itertools.combinations([rows[0] for rows in classes], 2)]
    if item.max() + 1 == n_rows and not pairs:
        return None
    for one, two in pairs:
        refuse_conflict(int(one), int(two), item, labels)
    apart = np.sort(item[np.array(pairs, np.int64).reshape(-1, 2)], axis=1)
    return Links(item, np.unique(apart, axis=0))


def rows_of(given: Any, n_rows: int, name: str) -> np.ndarray:
    """A group of row numbers, or an error."""
    rows = np.asarray(given)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise InvalidSettingError(f"{name} must hold groups of row numbers, got {given!r:.60}. Count rows from 0.")
    if rows.min() < 0 or rows.max() >= n_rows:
        raise InvalidSettingError(f"{name} names rows from 0 to {n_rows - 1}, got {given!r:.60}. Count rows from 0.")
    return rows.astype(np.int64)


def check_labels(given: Any, n_rows: int) -> np.ndarray:
    """Partial labels as whole numbers, or an error."""
    labels = np.asarray(given)
    if labels.shape != (n_rows,):
        raise InvalidSettingError(f"y must have one label for each of the {n_rows} rows, got shape {labels.shape}.")
    if labels.dtype.kind not in "iuf" or not np.array_equal(labels, np.round(labels)) or labels.min() < UNKNOWN:
        raise InvalidSettingError(
            f"partial labels must be whole numbers from 0, or {UNKNOWN} where unknown, got {given!r:.60}. "
            "Number the classes 0, 1, 2, ...."
        )
    return labels.astype(np.int64)


def rows_of_labels(labels: np.ndarray) -> list[np.ndarray]:
    """Rows of each label that is known."""
    return [np.flatnonzero(labels == label) for label in np.unique(labels[labels != UNKNOWN])]


def joined(n_rows: int, groups: list[np.ndarray]) -> np.ndarray:
    """Item of each row: the rows that groups connect, directly or through others."""
    members = np.concatenate([np.zeros(0, np.int64), *groups])
    heads = np.repeat([group[0] for group in groups], [group.size for group in groups]).astype(np.int64)
    graph = coo_array((np.ones(members.size), (heads, members)), shape=(n_rows, n_rows))
    return relabel(connected_components(graph, directed=False)[1])


def refuse_conflict(one: int, two: int, item: np.ndarray, labels: Any) -> None:
    """Refuse a pair that must be together and apart, by name."""
    if item[one] != item[two]:
        return
    known = labels is not None and min(labels[one], labels[two]) != UNKNOWN and labels[one] != labels[two]
    why = f"have the labels {labels[one]} and {labels[two]}" if known else "are a pair of cannot_link"
    raise InvalidSettingError(
        f"rows {one} and {two} {why}, but must be in one cluster by must_link or by their labels. "
        "Drop one of the two constraints.",
        rows=(one, two),
    )

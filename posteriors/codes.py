"""Partitions and hierarchies in their canonical coding.

A partition of n items is its restricted growth string: labels by first appearance, one character per item, "0" to
"9", then "a" to "z". What consists of several partitions, such as the levels of a hierarchy or the views of a
table, is their strings in order with "|" between them.
"""

import itertools
import string
from collections.abc import Iterable, Sequence
from functools import cache

DIGITS = string.digits + string.ascii_lowercase

Labels = tuple[int, ...]


def canonical(labels: Iterable[object]) -> Labels:
    """Labels by first appearance.

    Examples
    --------
    >>> canonical([7, 7, 3, 7])
    (0, 0, 1, 0)
    """
    seen: dict[object, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


def code_of(labels: Iterable[object]) -> str:
    """The restricted growth string.

    Examples
    --------
    >>> code_of(["x", "x", "y"])
    '001'
    """
    found = canonical(labels)
    if max(found) >= len(DIGITS):
        raise ValueError(
            f"a code has at most {len(DIGITS)} blocks, got {max(found) + 1}. "
            "Compare numbers of blocks and pairs instead."
        )
    return "".join(DIGITS[label] for label in found)


def labels_of(code: str) -> Labels:
    """Labels of a code of one partition."""
    return tuple(DIGITS.index(character) for character in code)


@cache
def all_partitions(n_items: int) -> tuple[Labels, ...]:
    """Every partition, in the order of their codes."""
    found: list[Labels] = [(0,)]
    for _ in range(n_items - 1):
        found = [(*labels, new) for labels in found for new in range(max(labels) + 2)]
    return tuple(found)


def blocks(labels: Sequence[int]) -> list[tuple[int, ...]]:
    """Items of every block, blocks by first appearance."""
    return [tuple(i for i, own in enumerate(labels) if own == k) for k in dict.fromkeys(labels)]


def is_finer(finer: Sequence[int], coarser: Sequence[int]) -> bool:
    """Whether every block of the first lies within a block of the second."""
    return all(len({coarser[i] for i in block}) == 1 for block in blocks(finer))


@cache
def all_hierarchies(n_items: int, depth: int) -> tuple[tuple[Labels, ...], ...]:
    """Every chain of `depth` partitions, each finer than or equal to the one before, in the order of their codes."""
    return tuple(
        levels
        for levels in itertools.product(all_partitions(n_items), repeat=depth)
        if all(is_finer(fine, coarse) for coarse, fine in itertools.pairwise(levels))
    )


def joint_code(levels: Iterable[Iterable[object]]) -> str:
    """Codes of several partitions in one.

    Examples
    --------
    >>> joint_code([[0, 0, 0], [4, 4, 2]])
    '000|001'
    """
    return "|".join(code_of(labels) for labels in levels)

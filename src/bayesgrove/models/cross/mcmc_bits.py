"""Counts of categories by cluster as bits: a word holds 64 rows, and a count is a few `and`s and population counts.

A discrete column has one row of bits per category, a cluster has one row of bits; missing cells are in none.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from bayesgrove.core.jit import borrower, kernel

WORD = 64


@intrinsic
def _count_ones(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


def count_ones(word):
    """Number of bits that are set in 64."""
    return int(word).bit_count()


@overload(count_ones, inline="always")
def _(word):
    return lambda word: _count_ones(word)


def n_words(n_rows: int) -> int:
    """Words that so many rows take."""
    return -(-n_rows // WORD)


def bits_of_codes(codes: np.ndarray, n_codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bits (category, word) of all discrete columns one after the other, and where each column's begin.

    `codes` (column, row) are categories plus 1, 0 where missing.
    """
    at = np.concatenate([[0], np.cumsum(n_codes)])
    padded = np.zeros((at[-1], n_words(codes.shape[1]) * WORD), np.uint8)
    for j in np.flatnonzero(n_codes):
        for code in range(n_codes[j]):
            padded[at[j] + code, : codes.shape[1]] = codes[j] == code + 1
    return np.packbits(padded, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64), at


@borrower
def set_masks(labels, n_clusters, masks):
    """Bits of the clusters of one view; `masks` is (cluster, word)."""
    for k in range(n_clusters):
        for w in range(masks.shape[1]):
            masks[k, w] = np.uint64(0)
    one = np.uint64(1)
    for i in range(labels.size):
        masks[labels[i], i >> 6] |= one << np.uint64(i & 63)


@kernel
def masks_of(labels, n_clusters, n_views, n_spare):
    """Bits (view, cluster, word) of all views, with room for some more of each."""
    most = 0
    for v in range(n_views):
        most = max(most, n_clusters[v])
    n_words = (labels.shape[1] + WORD - 1) // WORD
    masks = np.empty((n_views + n_spare, most + n_spare, n_words), np.uint64)
    for v in range(n_views):
        set_masks(labels[v], n_clusters[v], masks[v])
    return masks


@borrower
def count_common(bits, row, masks, view, k):
    """How many rows of a cluster have a category."""
    total = np.uint64(0)
    for w in range(bits.shape[1]):
        total += count_ones(bits[row, w] & masks[view, k, w])
    return np.int64(total)

"""Sets of rows cut in halves at medians, down to blocks: where a set is one cluster, no cut is better than another."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel

ROWS_INSPECTED = 2_048


@kernel
def widest_column(values, order, low, high):
    """Column of largest variance among at most 2,048 evenly spaced rows; missing cells are passed over."""
    step, size = max(1, (high - low) // ROWS_INSPECTED), values.shape[1]
    n, mean, spread = np.zeros(size), np.zeros(size), np.zeros(size)
    for i in range(low, high, step):
        for j in range(size):
            x = values[order[i], j]
            if not math.isnan(x):
                n[j] += 1.0
                delta = x - mean[j]
                mean[j] += delta / n[j]
                spread[j] += delta * (x - mean[j])
    widest, best = 0, -1.0
    for j in range(size):
        if n[j] > 0.0 and spread[j] / n[j] > best:
            widest, best = j, spread[j] / n[j]
    return widest


@kernel
def part_at(key, order, low, high, middle):
    """Reorder `key` and `order` from low to high so that the smaller keys stand before `middle` (Hoare's selection)."""
    high -= 1
    while low < high:
        pivot = key[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if j < middle:
            low = i
        if i > middle:
            high = j


@kernel
def halving_shape(low, high, leaf_size):
    """The tree of the halves of a range, which depends on its length only.

    Arrays left, right, low, high; parents before children, NULL children: a block.
    """
    most = 4 * ((high - low) // max(1, leaf_size // 2) + 1)
    left, right = np.full(most, NULL), np.full(most, NULL)
    lows, highs = np.full(most, NULL), np.full(most, NULL)
    lows[0], highs[0], n_nodes, k = low, high, 1, 0
    while k < n_nodes:
        a, b = lows[k], highs[k]
        if b - a >= leaf_size and b - a >= 2:
            middle = (a + b) // 2
            left[k], right[k] = n_nodes, n_nodes + 1
            lows[n_nodes], highs[n_nodes] = a, middle
            lows[n_nodes + 1], highs[n_nodes + 1] = middle, b
            n_nodes += 2
        k += 1
    return left[:n_nodes], right[:n_nodes], lows[:n_nodes], highs[:n_nodes]


@kernel
def halve(values, order, key, low, high, leaf_size):
    """Cut order[low:high] at medians until each part has fewer than `leaf_size` rows; `key` is scratch of its length.

    Gives back the tree of halves, see `halving_shape`.
    """
    left, right, lows, highs = halving_shape(low, high, leaf_size)
    for k in range(left.size):
        if left[k] != NULL:
            a, b = lows[k], highs[k]
            column = widest_column(values, order, a, b)
            for i in range(a, b):
                x = values[order[i], column]
                key[i] = np.inf if math.isnan(x) else x
            part_at(key, order, a, b, highs[left[k]])
    return left, right, lows, highs

"""Exact laws of the nested Chinese restaurant process: numbers of nodes of a level, and pairs that share a node."""

from functools import cache

import numpy as np


@cache
def node_laws(n_rows: int, depth: int, alpha: float) -> np.ndarray:
    """P(a level has k nodes), shape (depth, n_rows + 1): row 0 is level 1.

    Notes
    -----
    With G_l(n) the generating function of the number of nodes l levels below one of n data, G_0 = s and
    sum_n c_n G_l(n) x^n = exp(alpha sum_m G_{l-1}(m) x^m / m), c_n = (alpha)_n / n!, whose derivative by x is the
    recursion n A_n = alpha sum_{m=1..n} G_{l-1}(m) A_{n-m} of A_n = c_n G_l(n).
    """
    rising = np.cumprod([1.0, *((alpha + i) / (i + 1) for i in range(n_rows))])
    laws = np.zeros((n_rows + 1, n_rows + 1))  # of so many data: coefficients of s^k
    laws[:, 1] = 1.0
    found = []
    for _ in range(depth):
        terms = [np.eye(1, n_rows + 1)[0]]
        for n in range(1, n_rows + 1):
            products = [np.convolve(laws[m], terms[n - m])[: n_rows + 1] for m in range(1, n + 1)]
            terms.append(alpha * np.sum(products, axis=0) / n)
        laws = np.array(terms) / rising[:, None]
        found.append(laws[n_rows])
    return np.array(found)


def pair_chances(depth: int, alpha: float) -> np.ndarray:
    """P(two data share the node of level 1, 2, ...)."""
    return (1.0 + alpha) ** -np.arange(1.0, depth + 1)


def shared_pairs(counts: np.ndarray) -> float:
    """Share of the pairs of data that share a node of a level whose nodes have these counts."""
    n_rows = counts.sum()
    return float((counts * (counts - 1)).sum() / (n_rows * (n_rows - 1)))

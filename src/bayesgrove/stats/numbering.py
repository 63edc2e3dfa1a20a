"""Numbers of clusters: the largest cluster is number 0."""

import numpy as np


def by_size(labels: np.ndarray) -> np.ndarray:
    """The same partition with the largest cluster first; of equal ones, the cluster of the first item.

    Parameters
    ----------
    labels : int array of shape (n_items,)
        Consecutive from 0, every label used.

    Examples
    --------
    >>> by_size(np.array([0, 1, 2, 1, 2, 3])).tolist()
    [2, 0, 1, 0, 1, 3]
    """
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    rank = np.empty(sizes.size, np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(sizes.size)
    return rank[labels]

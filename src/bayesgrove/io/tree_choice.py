"""Which trees of many are asked for."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError


def chosen_trees(key: Any, n_trees: int) -> np.ndarray:
    """Numbers of the trees that a slice, a list of numbers or a mask asks for."""
    if isinstance(key, slice):
        return np.arange(n_trees)[key]
    wanted = np.asarray(key)
    if wanted.size == 0:
        return np.empty(0, np.int64)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iub":
        raise InvalidSettingError(f"ask for trees by number, slice, list of numbers or mask, got {key!r:.80}.")
    if wanted.dtype.kind == "b":
        if wanted.size != n_trees:
            raise InvalidSettingError(f"a mask has one truth value per tree, {n_trees}, got {wanted.size}.")
        return np.flatnonzero(wanted)
    if wanted.min() < -n_trees or wanted.max() >= n_trees:
        raise IndexError(f"trees are 0 .. {n_trees - 1}, got {wanted.min()} .. {wanted.max()}")
    return np.where(wanted < 0, wanted + n_trees, wanted).astype(np.int64)

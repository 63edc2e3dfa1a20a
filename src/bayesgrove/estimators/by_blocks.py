"""Answers about rows that come in blocks: no more than a block of them is in memory, answers aside."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.io.blocks import is_block_source, is_dask_array, iterate_row_blocks

HEAVY = ("tree_", "labels_", "result_", "_summaries", "_row_names")
"""What prediction does not need, and workers are not sent: it grows with the rows of training."""


def answer_blocks(model: Any, X: Any, dtype: type, answer: Callable[[Any, Any], Any], width: int | None = None) -> Any:
    """`answer(model, X)`, block by block where X comes in blocks; lazily, as a dask array, where X is one.

    `width` is the number of columns of the answer where it has any.
    """
    if not is_block_source(X):
        return answer(model, X)
    if not hasattr(model, "tree_"):
        return answer(model, np.empty((0, 0)))  # says that it is not fitted
    if is_dask_array(X):
        return answer_lazily(model, X, dtype, answer, width)
    names = model._schema[0]
    return np.concatenate([answer(model, named(block, names)) for block in iterate_row_blocks(X)])


def answer_lazily(model: Any, X: Any, dtype: type, answer: Callable[[Any, Any], Any], width: int | None) -> Any:
    """A dask array of answers; only what prediction needs is sent to workers."""
    light, names = copy.copy(model), model._schema[0]
    for name in HEAVY:
        setattr(light, name, None)

    def of_block(block: np.ndarray) -> Any:
        return answer(light, named(np.ascontiguousarray(block, dtype=np.float64), names))

    whole = X.rechunk({1: X.shape[1]})
    if width is None:
        return whole.map_blocks(of_block, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
    chunks = (whole.chunks[0], (width,))
    return whole.map_blocks(of_block, chunks=chunks, dtype=dtype, meta=np.empty((0, 0), dtype))


def named(block: np.ndarray, names: tuple[str, ...]) -> Any:
    """A block of numbers with the names of the training columns; one of another width as it is, to be refused."""
    return Table(block, names, ("float",) * len(names)) if block.shape[1] == len(names) else block

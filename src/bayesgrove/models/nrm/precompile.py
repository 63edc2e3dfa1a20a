"""Compiling the kernels of a mixture side by side: the largest one in a process of its own, through the disk cache.

Cold, the kernels of one likelihood take the compiler some 45 s, and numba compiles one at a time in a process. Before
anything else of a fit they are all asked for once; later runs find them on the disk and skip this.
"""

from typing import Any

import numpy as np

from bayesgrove.core.jit import compile_for, is_compiled
from bayesgrove.core.rng import generator
from bayesgrove.core.subprocesses import working_in_subprocess
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.inference.schedule import Schedule
from bayesgrove.likelihoods import Bound
from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.guide import Guide
from bayesgrove.models.nrm.process import Process
from bayesgrove.models.nrm.sampler import MixtureSampler, make_sampler
from bayesgrove.models.nrm.state import Clusters, Weights
from bayesgrove.scoring.row_scorers import choose_scorer

FEW_ROWS = 8


def compile_kernels(bound: Bound, process: Process, schedule: Schedule, *, loss: str | None) -> None:
    """Have everything a fit needs compiled, unless it is; `loss` names that of the point estimate, if any."""
    has_anchors = any(step.move == "anchors" for step in schedule.draw)
    n_rows, complete = bound.values.shape[0], not bool(np.isnan(bound.values).any())
    if not has_anchors or n_rows < FEW_ROWS or moves_are_compiled(bound.prior, n_rows, complete=complete):
        return
    with working_in_subprocess(compile_moves, bound.prior, n_rows, complete):
        small, rng = few_rows(bound, process), generator(0)
        state = small.start(rng)
        for step in schedule.draw:
            if step.move != "anchors":
                small.move(rng, state, step)
        small.refresh(state)
        small.scalars(state)
        if loss is not None:
            estimate_partition(0, np.zeros((2, FEW_ROWS), np.int32), loss)


def few_rows(bound: Bound, process: Process) -> MixtureSampler:
    """The same model with the first rows only, and a missing one among them where the data have missing cells."""
    values = bound.values[:FEW_ROWS].copy()
    if np.isnan(bound.values).any():
        values[0] = np.nan
    order = np.arange(FEW_ROWS)
    return make_sampler(bound.prior, values, (order, order[:-1].copy()), process, bound.free, 0.0, None, {})


def move_arguments(prior: Any, n_rows: int, *, complete: bool) -> tuple[Any, ...]:
    """Arguments of the types that split-merge moves, the largest kernel, are called with; their content means nothing.

    No state is made for them: what makes one would have to be compiled first.
    """
    whole, number, matrix = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1))
    clusters = Clusters(whole, whole, whole, matrix, matrix, number)
    guide = Guide(whole, whole, whole, whole, number)
    scorer = choose_scorer(prior, n_rows, complete=complete)
    return (generator(0), scorer, matrix, clusters, Weights(number, number, number), guide, whole, Options(), 0, whole)


def compile_moves(prior: Any, n_rows: int, complete: bool) -> None:
    """Compile split-merge moves for a likelihood."""
    compile_for(split_merge_moves, *move_arguments(prior, n_rows, complete=complete))


def moves_are_compiled(prior: Any, n_rows: int, *, complete: bool) -> bool:
    """Whether split-merge moves are ready for a likelihood."""
    return is_compiled(split_merge_moves, *move_arguments(prior, n_rows, complete=complete))

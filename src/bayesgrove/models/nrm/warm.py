"""Compiling the kernels of a mixture side by side: the largest one in a process of its own, through the disk cache.

Cold, the kernels of one likelihood take the compiler some 35 s, and numba compiles one at a time in a process. Before
the chains begin they are all asked for once, with eight rows; later runs find them on the disk and skip this.
"""

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayesgrove.core.jit import is_compiled
from bayesgrove.core.rng import generator
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.sampler import MixtureSampler, make_sampler
from bayesgrove.models.nrm.starts import OneCluster
from bayesgrove.models.nrm.state import Clusters, Weights

FEW_ROWS = 8
logger = logging.getLogger("bayesgrove")


def compile_kernels(sampler: MixtureSampler, schedule: Schedule, *, loss: str | None) -> None:
    """Have everything a fit needs compiled, unless it is; `loss` names that of the point estimate, if any."""
    anchors = next((step for step in schedule.draw if step.move == "anchors"), None)
    if anchors is None or sampler.n_items < FEW_ROWS or moves_are_compiled(sampler):
        return
    small = few_rows(sampler)
    with working_elsewhere(make_moves, dataclasses.replace(small, first_labels=OneCluster(FEW_ROWS)), anchors):
        rng = generator(0)
        state = small.start(rng)
        for step in schedule.draw:
            if step.move != "anchors":
                small.move(rng, state, step)
        small.refresh(state)
        small.scalars(state)
        if loss is not None:
            estimate_partition(0, np.zeros((2, FEW_ROWS), np.int32), loss)


@contextlib.contextmanager
def working_elsewhere(work: Callable[..., None], *arguments: Any) -> Iterator[None]:
    """Do some work in a process of its own while the block runs, and wait for it.

    It only saves time: whatever goes wrong there, this process can do the work when it comes to it. The process is not
    one of joblib's workers, which others may be using.
    """
    executor = None
    try:
        from joblib.externals.loky import ProcessPoolExecutor

        executor = ProcessPoolExecutor(max_workers=1)
        made = executor.submit(work, *arguments)
    except Exception as error:  # no processes here, for instance inside another worker
        logger.debug("no process to compile kernels in: %s", error)
        yield
        return
    try:
        yield
        made.result()
    except Exception as error:
        if not made.done() or made.exception() is not error:
            raise
        logger.debug("kernels were not compiled in another process: %s", error)
    finally:
        executor.shutdown(wait=False, kill_workers=True)


def few_rows(sampler: MixtureSampler) -> MixtureSampler:
    """The same model with the first rows only, and a missing one among them where the data have missing cells."""
    values = sampler.values[:FEW_ROWS].copy()
    if np.isnan(sampler.values).any():
        values[0] = np.nan
    order = np.arange(FEW_ROWS)
    return make_sampler(
        sampler.prior,
        values,
        (order, order[:-1].copy()),
        sampler.process,
        sampler.free,
        0.0,
        None,
        {},
    )


def make_moves(sampler: MixtureSampler, step: Step) -> None:
    """One step from the start."""
    rng = generator(0)
    sampler.move(rng, sampler.start(rng), step)


def moves_are_compiled(sampler: MixtureSampler) -> bool:
    """Whether split-merge moves, the largest kernel, are ready for this likelihood."""
    whole, number = np.zeros(1, np.int64), np.zeros(1)
    matrix = np.zeros((1, 1))
    clusters = Clusters(whole, whole, whole, matrix, matrix, number)
    scorer = sampler.scorer(np.zeros(len(sampler.free)))
    weights = Weights(number, number)
    arguments = (scorer, sampler.values, clusters, weights, sampler.guide, whole, Options(), 0, whole)
    return is_compiled(split_merge_moves, generator(0), *arguments)

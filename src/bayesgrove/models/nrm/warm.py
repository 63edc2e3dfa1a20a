"""Compiling the moves of a mixture side by side: half of them in a process of its own, through the disk cache.

Cold, the kernels of one likelihood take the compiler some 35 s, and numba compiles one at a time in a process. They are
asked for once with eight rows here, before the chains begin; later runs find them on the disk and skip this.
"""

import logging
from concurrent.futures import Future
from typing import Any

import numpy as np

from bayesgrove.core.jit import is_compiled
from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.sampler import MixtureSampler, make_sampler
from bayesgrove.models.nrm.starts import SampleStart

FEW_ROWS = 8
logger = logging.getLogger("bayesgrove")


def compile_moves(sampler: MixtureSampler, schedule: Schedule) -> None:
    """Have all kernels of a schedule compiled, split-merge moves in another process, unless they are."""
    anchors = next((step for step in schedule.draw if step.move == "anchors"), None)
    if anchors is None or are_compiled(sampler):
        return
    small = few_rows(sampler)
    other = _in_another_process(small, anchors)
    rng = generator(0)
    state = small.start(rng)
    for step in schedule.draw:
        if step.move != "anchors":
            small.move(rng, state, step)
    small.refresh(state)
    small.scalars(state)
    if other is not None:
        try:
            other.result()
        except Exception as error:  # it only saves time: whatever it was, this process can do the work
            logger.debug("kernels were not compiled in another process: %s", error)


def _in_another_process(sampler: MixtureSampler, step: Step) -> "Future[None] | None":
    try:
        from joblib.externals.loky import get_reusable_executor

        return get_reusable_executor(max_workers=1, timeout=60).submit(make_moves, sampler, step)
    except Exception as error:  # no processes here, for instance inside another worker
        logger.debug("no process to compile kernels in: %s", error)
        return None


def make_moves(sampler: MixtureSampler, step: Step) -> None:
    """One step from the start."""
    rng = generator(0)
    sampler.move(rng, sampler.start(rng), step)


def are_compiled(sampler: MixtureSampler) -> bool:
    """Whether split-merge moves, the largest kernel, are ready for this likelihood."""
    small = few_rows(sampler)
    state = small.start(generator(0)) if False else None
    return state is not None

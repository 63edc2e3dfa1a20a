"""Compiling the kernels of CrossCat side by side, as `models.nrm.warm` does for mixtures.

Cold, they take the compiler some 90 s of one processor, and numba compiles one at a time in a process. Before the
chains begin, Gibbs moves of rows and the search for the point estimate are asked for in a process of its own, all other
moves here, each once with eight rows; later runs find them on the disk and skip this.
"""

import dataclasses

import numpy as np

from bayesgrove.core.elsewhere import working_elsewhere
from bayesgrove.core.jit import is_compiled
from bayesgrove.core.rng import generator
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.cross.mcmc_coordinates import Hyperpriors
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler, sweep_rows
from bayesgrove.models.cross.mcmc_starts import Given
from bayesgrove.models.cross.mcmc_state import ROWS
from bayesgrove.models.cross.mcmc_target import make_target

FEW_ROWS, FEW_COLUMNS = 8, 4


def compile_kernels(sampler: CrossCatSampler, schedule: Schedule) -> None:
    """Have the moves of the chains compiled, unless they are."""
    if sampler.n_rows < FEW_ROWS or rows_are_compiled(sampler):
        return
    small = few_cells(sampler)
    with working_elsewhere(make_row_moves, small):
        rng = generator(0)
        state = small.start(rng)
        for step in schedule.draw:
            if step.move != "rows":
                small.move(rng, state, step)
        small.refresh(state)
        small.scalars(state)


def few_cells(sampler: CrossCatSampler) -> CrossCatSampler:
    """The same model with the first rows and columns only, all in one view."""
    target = sampler.target
    kept = slice(min(FEW_COLUMNS, sampler.n_columns))
    values = np.ascontiguousarray(target.by_row[:FEW_ROWS, kept])
    widths = np.diff(target.start)[kept]
    prior = ColumnsPrior(target.family[kept], sampler.params[kept], np.concatenate([[0], np.cumsum(widths)]))
    law = sampler.hyperpriors
    hyperpriors = Hyperpriors(law.gamma, law.free, law.tied, law.centre[kept], law.spread[kept], law.learned[kept])
    first = Given(np.zeros(widths.size, np.int64), [np.zeros(FEW_ROWS, np.int64)])
    return dataclasses.replace(
        sampler,
        target=make_target(prior, values),
        params=prior.params.copy(),
        hyperpriors=hyperpriors,
        first=first,
        grids=None,
    )


def make_row_moves(sampler: CrossCatSampler) -> None:
    """Gibbs moves of the rows from the start, and a point estimate."""
    rng = generator(0)
    sampler.move(rng, sampler.start(rng), Step("rows"))
    estimate_partition(0, np.zeros((2, FEW_ROWS), np.int32), "vi")


def rows_are_compiled(sampler: CrossCatSampler) -> bool:
    """Whether Gibbs moves of rows, the largest kernel, are ready."""
    small = few_cells(sampler)
    chain = small.start(generator(0)).chains[0]
    arguments = (small.target, chain.views, chain.params, chain.tables, float(chain.concentrations[ROWS]), 1.0, 1.0)
    return is_compiled(sweep_rows, generator(0), *arguments)

"""From a bound likelihood to a randomized tree of many rows."""

import math
from typing import Any

import numpy as np

from bayesgrove.agglomeration.exact import Progress
from bayesgrove.agglomeration.learn import new_space
from bayesgrove.agglomeration.randomized import grow
from bayesgrove.agglomeration.randomized_search import first_sample_size, search_rows
from bayesgrove.agglomeration.splits import Problem, Settings
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.coordinates import with_grain
from bayesgrove.likelihoods.parts import columns_in_use, with_columns
from bayesgrove.models.bhc.fit import (
    LEARNING_PATH,
    ExactOptions,
    Fitted,
    based_on,
    check_concentration,
    finish,
    fit_best,
    fit_with_scale,
    learns_scale,
    new_problem,
    report_limits,
    rows_for_scale,
)


def fit_randomized(
    bound: Bound,
    concentration: Any,
    settings: Settings,
    seed: int,
    n_threads: int,
    progress: Progress | None,
    *,
    regraft: bool,
    refine: int,
    remote: Any = None,
) -> Fitted:
    """Rows divided by samples of them, again and again; they are those of the bound table or on a Dask cluster."""
    problem, bound = new_problem(bound, concentration, seed, n_threads, remote)
    return finish(problem, bound, grow(problem, settings, regraft=regraft, refine=refine, progress=progress))


def fit_randomized_best(
    bound: Bound,
    concentration: Any,
    settings: Settings,
    seed: int,
    n_threads: int,
    progress: Progress | None,
    remote: Any = None,
) -> Fitted:
    """The tree and the hyperparameters that the search finds, by a sample of the rows first; of few rows by all."""
    rows = bound.values if remote is None else remote
    n, n_sampled = rows.shape[0], first_sample_size(settings)
    if n <= n_sampled or n < settings.leaf_size:
        bound = bound._replace(values=np.ascontiguousarray(rows[np.arange(n)]))
        return fit_best(bound, concentration, ExactOptions(memory_limit=math.inf), seed, n_threads, progress)
    if learns_scale(bound):
        some = rows_for_scale(bound, rows)
        bound = based_on(bound, fit_with_scale(some, concentration, ExactOptions(), seed, n_threads, None).bound.prior)
    learn_concentration = isinstance(concentration, str) and concentration == "auto"
    log_concentration = 0.0 if learn_concentration else math.log(check_concentration(concentration))
    sample = rows[np.sort(generator(seed, LEARNING_PATH).choice(n, n_sampled, replace=False))]
    prior = with_grain(bound.prior, sample, bound.open_grain)
    problem, used = problem_in_use(bound._replace(prior=prior), seed, n_threads, remote)
    sample = np.ascontiguousarray(sample if problem.rows.shape[1] == used.size else sample[:, used])
    space = new_space(problem.prior, log_concentration, bound.free, learn_concentration=learn_concentration)
    found = search_rows(problem, settings, space, sample, progress)
    report_limits(space, found.where)
    part, log_concentration = space.at(found.where)
    bound = relearned(bound, part if used.all() else with_columns(prior, part, used))
    whole = Problem(bound.prior, bound.values, log_concentration, problem.complete, seed, n_threads, remote)
    return finish(whole, bound, found.grown)


def problem_in_use(bound: Bound, seed: int, n_threads: int, remote: Any) -> tuple[Problem, np.ndarray]:
    """The problem without the columns that have no cell, as far as the prior allows, and which columns have any."""
    used = ~np.isnan(bound.values).all(axis=0) if remote is None else remote.columns_in_use()
    prior, values = bound.prior, bound.values
    if not used.all():
        prior, values = columns_in_use(prior, values, used)
        if remote is not None and prior is not bound.prior:
            remote = remote.only_columns(used)
    complete = remote.is_complete if remote is not None else not bool(np.isnan(values).any())
    return Problem(prior, values, 0.0, complete, seed, n_threads, remote), used

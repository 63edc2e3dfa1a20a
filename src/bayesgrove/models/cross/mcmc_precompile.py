"""Compiling the kernels of CrossCat side by side, as `models.nrm.precompile` does for mixtures.

Cold, they take the compiler most of a minute of one processor, and numba compiles one at a time in a process. They are
the same for all tables, so that a fit asks for them by the types of their arguments alone, once its table is accepted.
What two processes both need is compiled twice: moves of columns, of views and of rows, which share most, go to one of
their own, all else is done here. Later runs find them on the disk and skip this.
"""

from functools import partial

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.core.subprocesses import Call, compile_in_two
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import BERNOULLI
from bayesgrove.models.cross.draw_trees import view_tree
from bayesgrove.models.cross.mcmc_allocation import allocate_rows
from bayesgrove.models.cross.mcmc_columns import Options, move_columns
from bayesgrove.models.cross.mcmc_coordinates import Hyperpriors
from bayesgrove.models.cross.mcmc_dependence import all_dependences
from bayesgrove.models.cross.mcmc_hyper import slice_columns
from bayesgrove.models.cross.mcmc_lanes import Layout, layout_of
from bayesgrove.models.cross.mcmc_sampler import sweep_rows, sweep_split_merge
from bayesgrove.models.cross.mcmc_state import Views, fill_views, log_joint_of
from bayesgrove.models.cross.mcmc_target import Target, fill_all_tables
from bayesgrove.models.cross.mcmc_views import split_merge_views

FEW_ROWS = 8


def compile_kernels(loss: str | None) -> None:
    """Have the moves of the chains compiled, unless they are; `loss` names that of the point estimate, if any."""
    compile_in_two(calls_here, calls_elsewhere, rehearse=partial(rehearse, loss))


def rehearse(loss: str | None) -> None:
    """What is done after the chains: a point estimate, and trees of two draws of two columns."""
    if loss is not None:
        estimate_partition(0, np.zeros((2, FEW_ROWS), np.int32), loss)
    labels = np.repeat([0, 1], FEW_ROWS // 2)
    posterior = CrossPosterior(np.zeros((1, 2, 2), np.int64), rows=np.array([labels, labels], np.uint8))
    posterior.consensus_tree()
    prior = ColumnsPrior(np.full(2, BERNOULLI), np.ones((2, 4)), np.array([0, 2, 4]))
    view_tree(prior, np.zeros((FEW_ROWS, 2)), np.arange(2), labels, posterior.rows, 1.0)


def calls_here() -> list[Call]:
    """Split-merge of rows, and what is small."""
    rng, target, views, params, tables = common_arguments()
    whole, number, flags = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1), np.bool_)
    laws = Hyperpriors(params, flags[0], False, params, params, flags)
    return [
        (sweep_split_merge, (rng, target, views, params, tables, 1.0, 1.0, 1, whole)),
        (fill_views, (target, params, views)),
        (fill_all_tables, (target, params, tables)),
        (log_joint_of, (target, laws, views, params, tables, number)),
        (slice_columns, (rng, target, laws, views, params, tables, 1.0, 1.0)),
        (all_dependences, (views.labels, number)),
        (layout_of, (target, params, whole, 0, 0)),
    ]


def calls_elsewhere() -> list[Call]:
    """Moves of columns, of whole views and of single rows: all score columns under labels of the rows."""
    rng, target, views, params, tables = common_arguments()
    whole, number = np.zeros(1, np.int64), np.zeros(1)
    layout = Layout(whole, whole, number, number, 0, 0, number)
    return [
        (move_columns, (rng, target, views, params, tables, number, 1.0, Options(0, 1, 1.0), whole, whole)),
        (split_merge_views, (rng, target, views, params, tables, number, 1.0, 1, 1.0, whole)),
        (allocate_rows, (rng, target, params, tables, 1.0, 1.0, layout, whole, 0, whole, whole, 0.0)),
        (sweep_rows, (rng, target, views, params, tables, 1.0, 1.0, 1.0)),
    ]


def common_arguments() -> tuple[np.random.Generator, Target, Views, np.ndarray, np.ndarray]:
    """Generator, target, views, numbers and tables."""
    whole, number, matrix = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1))
    codes, wholes, bits = np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int64), np.zeros((1, 1), np.uint64)
    target = Target(
        whole, whole, whole, whole, matrix, matrix, codes, codes, bits, whole, number, number, number
    )  # fmt: skip
    views = Views(whole, whole, whole, wholes, whole, wholes, matrix)
    return generator(0), target, views, matrix, matrix

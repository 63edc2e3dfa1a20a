"""Compiling the kernels of infinite tree mixtures side by side, as `models.nrm.precompile` does for other mixtures.

They are the same for all forests, whatever their labels. A fit asks for them before anything else: all that draw tables
in a process of their own, where what they share is compiled once, the others here. Later runs find them on the disk and
skip this.
"""

from functools import partial

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.core.subprocesses import Call, compile_in_two
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.models.tree_hmm.assignments import assign_trees
from bayesgrove.models.tree_hmm.component import Row
from bayesgrove.models.tree_hmm.downward import go_downward
from bayesgrove.models.tree_hmm.links import Links, unique_links
from bayesgrove.models.tree_hmm.mixture_joint import joint_of_state
from bayesgrove.models.tree_hmm.mixture_state import empty_components, normal_labels
from bayesgrove.models.tree_hmm.mixture_target import N_VALUES, Target, renumberings
from bayesgrove.models.tree_hmm.redraw import count_uses, draw_all_tables, score_all
from bayesgrove.models.tree_hmm.split_merge import split_merge_moves
from bayesgrove.models.tree_hmm.tables import zero_counts
from bayesgrove.models.tree_hmm.upward import go_upward
from bayesgrove.stats.partitions import co_clustering
from bayesgrove.trees.forest import Forest

FEW = 8


def compile_kernels(loss: str | None = None) -> None:
    """Have the moves of the default schedule compiled, unless they are; `loss` names that of the point estimate."""
    compile_in_two(calls_here, calls_elsewhere, rehearse=partial(rehearse, loss))


def rehearse(loss: str | None) -> None:
    """What is done before and after the chains, on one tree of two nodes and two draws."""
    if loss is not None:
        estimate_partition(0, np.zeros((2, FEW), np.int32), loss)
    forest = Forest.from_depths(np.zeros(2, np.int32), np.arange(2), np.array([0, 2]), 1)
    unique_links(forest)
    co_clustering(np.zeros((2, FEW), np.int32))


def tiny_target() -> Target:
    """A target of the types of all others."""
    whole, number = np.zeros(1, np.int32), np.zeros(1)
    links = Links(whole, whole, whole, whole, whole, number, whole)
    prior = np.ones(N_VALUES), np.ones((N_VALUES, 2))
    return Target(links, 0, 1, 1, 1, *prior, renumberings(1), np.empty((0, 0)), np.empty((4, 0)), False)


def calls_here() -> list[Call]:
    """Passes, hidden states, scores."""
    target, rng, whole, number = tiny_target(), generator(0), np.zeros(1, np.int64), np.zeros(1)
    components, counts, matrix = empty_components(target, 1), zero_counts(1, target.shape), np.zeros((1, 1))
    row = Row(*(part[0] for part in components[:7]))
    tables = (row.initial, row.emission, row.log_scale, row.switching, row.transition)
    uses = (counts.initial[0], counts.emission[0], counts.switching[0], counts.transition[0], counts.present[0])
    return [
        (go_upward, (target.links, *tables, 0, 0, 0, matrix, matrix, number)),
        (go_downward, (target.links, row.switching, row.transition, 0, matrix, matrix, matrix, *uses)),
        (count_uses, (rng, target, components, whole, counts)),
        (score_all, (target, components)),
        (joint_of_state, (target, components, whole, number)),
        (normal_labels, (whole, 0, whole.astype(np.uint8))),
        (normal_labels, (whole, 0, whole)),
    ]


def calls_elsewhere() -> list[Call]:
    """Split-merge moves, tables and assignments."""
    target, rng, whole, number = tiny_target(), generator(0), np.zeros(1, np.int64), np.zeros(1)
    components, counts = empty_components(target, 1), zero_counts(1, target.shape)
    return [
        (split_merge_moves, (rng, target, components, whole, number, 0, whole)),
        (draw_all_tables, (rng, target, components, number, counts)),
        (assign_trees, (rng, target, components, whole, number, 0, 0)),
    ]

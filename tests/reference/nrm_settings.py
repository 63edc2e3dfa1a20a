"""Small data sets with their exact laws, and the transition matrices of the moves on them.

A setting is named by (process, guide, data): ambiguous data under DP(1) or NGGP(1, 1/2) at u = 2,
six points, or the plane under NGGP(1/2, 1/2) at u = 0.3; a greedy guide tree or a deliberately wrong one.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from reference import nrm, nrm_trees
from reference.enumerate_moves import collapsed, transition_matrix
from reference.nrm_anchors import (
    ancestor_law,
    balanced_law,
    cluster_law,
    near_even_law,
    tree_law,
    uniform_law,
)
from reference.nrm_moves import (
    anchored,
    coin_launch,
    cut_launch,
    fixed_rule,
    place_at_random,
    scaled_rule,
    tree_launch,
    v1,
)

AMBIGUOUS = [-1.5, -0.6, 0.2, 1.1, 2.4]
PLANE = [(-1.5, -1), (-1, -0.4), (0, 0.3), (1.2, 1), (1.9, 0.4)]
DATA = {"ambiguous": (AMBIGUOUS, 9.0), "six": ([*AMBIGUOUS, 0.7], 9.0), "plane": (PLANE, 4.0)}
WRONG_GUIDE = "((0,4),((1,3),2))"
LAWS = ("uniform", "tree", "near even", "ancestor", "balanced", "cluster .5", "cluster .3", "cluster scaled")
PROCESSES = ("dp", "nggp")


class Setting(NamedTuple):
    """Potentials, all partitions, their exact law, a guide tree and the positions of its leaves."""

    log_phi: nrm.LogPhi
    states: list
    law: np.ndarray
    guide: nrm_trees.Tree
    pos: dict

    def tree_of(self, union, choose):
        """The guide restricted to a set."""
        return nrm_trees.restrict(self.guide, union)

    def greedy_of(self, union, choose):
        """The greedy tree of a set."""
        return nrm_trees.greedy_bhc(union, self.log_phi)[0]


@cache
def setting(kind, guide="greedy", data="ambiguous"):
    """One of the settings above."""
    rows, prior_variance = DATA[data]
    alpha, log_u = (0.5, math.log(0.3)) if data == "plane" else (1.0, math.log(2.0))
    process = nrm.Dirichlet(1.0) if kind == "dp" else nrm.GeneralisedGamma(alpha, 0.5)
    log_phi = nrm.phi_of(nrm.gaussian_evidence(rows, 1.0, prior_variance), process, log_u)
    exact = nrm.posterior_given_phi(log_phi, len(rows))
    tree = nrm_trees.greedy_bhc(range(len(rows)), log_phi)[0] if guide == "greedy" else nrm_trees.parse(WRONG_GUIDE)
    return Setting(log_phi, exact.states, exact.probabilities, tree, nrm_trees.leaf_order(tree).pos)


def law_named(case, name):
    """An anchor law on a setting."""
    log_phi, guide = case.log_phi, case.guide
    rules = {"cluster .5": fixed_rule(log_phi, 0.5), "cluster .3": fixed_rule(log_phi, 0.3)}
    if name.startswith("cluster"):
        return cluster_law(log_phi, rules.get(name) or scaled_rule(log_phi), case.tree_of)
    return {
        "uniform": uniform_law,
        "tree": lambda: tree_law(guide, log_phi),
        "near even": lambda: near_even_law(guide, log_phi),
        "ancestor": lambda: ancestor_law(guide),
        "balanced": balanced_law,
    }[name]()


@cache
def launch_on(key, place=place_at_random, n_scans=0):
    """The tree launch on a setting, its law enumerated once."""
    case = setting(*key)
    return collapsed(tree_launch(case.guide, case.pos, case.log_phi, place, n_scans))


def matrix_of(case, move):
    """Transition matrix over all partitions of a move (partition, log_phi, choose) -> partition."""
    return transition_matrix(lambda state, choose: move(state, case.log_phi, choose), case.states)


@cache
def anchored_matrix(key, name, place=place_at_random, n_scans=0):
    """Anchors first, by the name of the law."""
    case, launch = setting(*key), launch_on(key, place, n_scans)
    law = law_named(case, name)
    return matrix_of(case, lambda state, log_phi, choose: anchored(state, log_phi, law, launch, choose, pos=case.pos))


def jain_neal_matrix(case, n_scans):
    """Jain and Neal's move."""
    launch, law = collapsed(coin_launch(case.log_phi, n_scans)), uniform_law()
    return matrix_of(case, lambda state, log_phi, choose: anchored(state, log_phi, law, launch, choose))


def v1_matrix(case, rule, tree_of, n_scans=0, **options):
    """V1 with a rule of picking and a tree of the union."""
    launch = collapsed(cut_launch(case.log_phi, tree_of, n_scans))
    return matrix_of(case, lambda state, log_phi, choose: v1(state, log_phi, rule, launch, choose, **options))

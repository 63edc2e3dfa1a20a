"""Small mixtures under constraints: samplers, and the posterior over the allowed partitions by enumeration."""

import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesgrove.models.nrm.linked import linked
from bayesgrove.stats.links import make_links
from reference import nrm, nrm_trees
from reference.mixtures import DP, GIBBS_TYPE, NGGP, build, guide_of, known_variance

ROWS = [-1.5, -0.6, 0.9, 2.4, 0.2, 1.1]
LOG_U = math.log(2.0)
GUIDE = "(((0,1),(4,5)),(2,3))"
CONSTRAINTS = {
    "links": {"must_link": [(0, 3), (5, 2)], "cannot_link": [(1, 4)]},
    "labels": {"labels": [0, -1, 1, 0, 2, -1]},
    "together": {"must_link": [(1, 0), (4, 1), (2, 3)]},
    "apart": {"must_link": [(0, 1, 2)], "cannot_link": [(2, 3), (3, 4), (0, 5)]},
}
TWINS = {
    "dp": (DP, nrm.Dirichlet(1.0)),
    "nggp": (NGGP, nrm.GeneralisedGamma(1.0, 0.5)),
    "pitman-yor": GIBBS_TYPE["negative"],
    "mfm": GIBBS_TYPE["mfm"],
}


class Case(NamedTuple):
    """A sampler, the partitions of its rows that are allowed, and their posterior probabilities."""

    sampler: object
    states: list
    law: np.ndarray


def is_allowed(partition, constraints):
    """Whether a partition meets constraints, plainly."""
    labels = constraints.get("labels", [-1] * len(partition))
    together = [pair for group in constraints.get("must_link", ()) for pair in itertools.combinations(group, 2)]
    apart = list(constraints.get("cannot_link", ()))
    for i, j in itertools.combinations(range(len(partition)), 2):
        if min(labels[i], labels[j]) >= 0:
            (together if labels[i] == labels[j] else apart).append((i, j))
    return all(partition[i] == partition[j] for i, j in together) and all(
        partition[i] != partition[j] for i, j in apart
    )


def restricted(states, logs, constraints):
    """The allowed states and their law."""
    allowed = [(state, log) for state, log in zip(states, logs, strict=True) if is_allowed(state, constraints)]
    return nrm.normalise([state for state, _ in allowed], [log for _, log in allowed])


@cache
def case_of(kind, name):
    """Six rows under a process; u is 2 where there is one."""
    process, twin = TWINS[kind]
    evidence, states = nrm.gaussian_evidence(ROWS, 1.0, 9.0), nrm.partitions(len(ROWS))
    if kind == "nggp":
        logs = [nrm.log_joint(state, evidence, twin, LOG_U) for state in states]
    else:
        logs = [nrm.log_marginal_joint(state, evidence, twin) for state in states]
    exact = restricted(states, logs, CONSTRAINTS[name])
    plain = build(known_variance(1), np.array(ROWS)[:, None], process, guide=guide_of(nrm_trees.parse(GUIDE)))
    return Case(linked(plain, make_links(len(ROWS), **CONSTRAINTS[name])), exact.states, exact.probabilities)

"""Trees under constraints, by enumeration of the partitions that are consistent with the tree and allowed.

Run as plain Python by the test of planted errors, so that nothing is compiled for it.
"""

import itertools
import math
from dataclasses import replace

import numba
import numpy as np
import pytest

from bayesgrove import BHC
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import GaussianKnownVariance
from bayesgrove.models.bhc.linked import without_forbidden
from bayesgrove.stats.links import make_links
from reference import nrm
from reference.linked import CONSTRAINTS, ROWS, is_allowed

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]
CONCENTRATION = 0.7
LIKELIHOOD = GaussianKnownVariance(variance=1.0, prior_mean=0.0, prior_variance=9.0)


def fit(name, search):
    given = dict(CONSTRAINTS[name])
    labels = given.pop("labels", None)
    model = BHC(LIKELIHOOD, CONCENTRATION, search=search, hyper="fixed", partial_labels=labels is not None)
    return model.fit(np.array(ROWS)[:, None], labels, **given)


def consistent(tree, node):
    """Partitions of the rows below a node that cut the tree, as lists of sets."""
    if tree.item[node] >= 0:
        return [[frozenset([int(tree.item[node])])]]
    inside = [consistent(tree, child) for child in np.flatnonzero(tree.parent == node)]
    apart = [[*one, *two] for one, two in itertools.product(*inside)]
    return [[frozenset().union(*apart[0])], *apart]


def allowed_below(blocks, name):
    """Whether a partition of some rows can be part of one that is allowed: no item split, no pair together."""
    rows = sorted(set().union(*blocks))
    label = {row: k for k, block in enumerate(blocks) for row in block}
    given, place = CONSTRAINTS[name], {row: k for k, row in enumerate(rows)}
    inside = {
        key: [tuple(place[row] for row in group if row in place) for group in given.get(key, ())]
        for key in ("must_link", "cannot_link")
    }
    inside["cannot_link"] = [pair for pair in inside["cannot_link"] if len(pair) == 2]
    if "labels" in given:
        inside["labels"] = [given["labels"][row] for row in rows]
    return is_allowed([label[row] for row in rows], inside)


@pytest.mark.parametrize("search", ["best", "greedy"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_sums_over_the_allowed_partitions_of_every_node(name, search):
    model = fit(name, search)
    tree, evidence = model.tree_, nrm.gaussian_evidence(ROWS, 1.0, 9.0)
    unit = model._bound.log_measure / len(ROWS)  # q is that of the encoded rows
    for node in np.flatnonzero(tree.item < 0):
        partitions = [blocks for blocks in consistent(tree, node) if allowed_below(blocks, name)]
        prior = [sum(math.log(CONCENTRATION) + math.lgamma(len(block)) for block in blocks) for blocks in partitions]
        logs = [
            weight + sum(map(evidence, blocks)) - tree.size[node] * unit
            for weight, blocks in zip(prior, partitions, strict=True)
        ]
        one = [log for log, blocks in zip(logs, partitions, strict=True) if len(blocks) == 1]
        odds = tree.columns["log_merge_odds"][node]
        whole = nrm.log_sum(logs)
        np.testing.assert_allclose(tree.columns["log_q"][node], whole, rtol=0.0, atol=1e-9)
        if math.isfinite(odds):
            np.testing.assert_allclose(odds, one[0] - math.log(-math.expm1(one[0] - whole)) - whole, atol=1e-8)
        else:
            assert (odds > 0.0) == (len(one) == 1)
    assert math.isclose(tree.columns["log_q"][-1], nrm.log_sum(logs), abs_tol=1e-9)
    assert math.isclose(tree.columns["log_d"][-1], nrm.log_sum(prior), abs_tol=1e-9)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_bound_is_one_on_data_and_constraints(name):
    evidence, states = nrm.gaussian_evidence(ROWS, 1.0, 9.0), nrm.partitions(len(ROWS))
    joint = [nrm.log_joint(state, evidence, nrm.Dirichlet(CONCENTRATION)) for state in states]
    allowed = nrm.log_sum(log for log, state in zip(joint, states, strict=True) if is_allowed(state, CONSTRAINTS[name]))
    model = fit(name, "best")
    assert model.log_evidence_ <= allowed + 1e-9
    assert is_allowed(model.labels_.tolist(), CONSTRAINTS[name])


def test_forbidden_nodes_of_a_rearranged_tree_are_weighed_anew():
    """A tree that was weighed without regard to forbidden pairs is the one that was weighed with it."""
    model, name = fit("links", "best"), "links"
    tree, is_forbidden = model.tree_, np.isneginf(model.tree_.columns["log_merge_odds"])
    assert is_forbidden.any()
    wrong = {name: np.where(is_forbidden, 3.0, column) for name, column in tree.columns.items()}
    found = without_forbidden(replace(tree, columns=wrong), make_links(len(ROWS), **CONSTRAINTS[name]))
    for column in ("log_merge_odds", "log_q", "log_d"):
        np.testing.assert_allclose(found.columns[column], tree.columns[column], rtol=0.0, atol=1e-12)


def test_constraints_on_a_table_with_learned_hyperparameters():
    """All is learned from 24 rows; labels meet the constraints, and the same partition without them has them not."""
    rng = generator(2)
    values = rng.normal(np.repeat([0.0, 2.5], 12)[:, None], 1.0, (24, 2))
    constraints = {"must_link": [(0, 1, 14), (20, 21)], "cannot_link": [(3, 4), (0, 20), (5, 15)]}
    model = BHC(random_state=0).fit(values, **constraints)
    assert is_allowed(model.labels_.tolist(), constraints)
    assert not is_allowed(BHC(random_state=0).fit(values).labels_.tolist(), constraints)
    assert model.result_.provenance["constraints"] == {"rows_linked": 5, "items": 21, "pairs_apart": 3}
    np.testing.assert_allclose(model.predict_proba(values).sum(axis=1), 1.0)

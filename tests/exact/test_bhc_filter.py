"""What sends rows to the groups of a sample, against sums over all nodes of each group."""

import math

import numpy as np
import pytest

from bayesgrove.agglomeration.filters import FullFilter, make_filter
from bayesgrove.agglomeration.filters import group_scores as group_scores_of
from bayesgrove.agglomeration.splits import Problem, Settings, divide_by
from bayesgrove.likelihoods.contract import add, log_predictive, n_stats
from bayesgrove.likelihoods.gaussian_full import full_prior
from reference.bhc import evidence_of, node_weights, parents_of
from reference.tables import merges_of, standard_prior

pytestmark = pytest.mark.exact
ALL_NODES = Settings(filter_nodes=None)


def blobs_with_strays():
    """40 rows in two clusters, then five rows far from both; the sample is the even ones of the first 40."""
    rng = np.random.default_rng(71)
    values = rng.normal(size=(45, 2)) * 0.3 + 3.0 * (np.arange(45) % 4 < 2)[:, None]
    values[40:] = rng.normal(size=(5, 2)) + [30.0, -30.0]
    return values, np.arange(0, 40, 2)


def group_scores(values, sample, front_items, concentration):
    """s_l(x) = log of the sum over the nodes of group l of omega n p(x | node), last log(alpha p_0(x))."""
    prior = standard_prior(2)
    got = merges_of(prior, values[sample], concentration)
    parent, n = parents_of(got.children), len(sample)
    below = [{node} for node in range(n)]
    items = [{int(sample[i])} for i in range(n)]
    for a, b in got.children:
        below.append({len(below)} | below[a] | below[b])
        items.append(items[a] | items[b])
    evidence = evidence_of("gaussian", prior, values)
    weights, scores = node_weights(got.children, got.log_odds), np.full((len(values), len(front_items) + 1), -np.inf)
    for group, head_items in enumerate(front_items):
        head = items.index(head_items)
        above, split = parent[head], 1.0
        while above != -1:
            split /= 1.0 + math.exp(got.log_odds[above])
            above = parent[above]
        for x in range(len(values)):
            for node in below[head]:
                own = frozenset(items[node])
                term = math.log(weights[node] / split * len(own)) + evidence(own | {x}) - evidence(own)
                scores[x, group] = np.logaddexp(scores[x, group], term)
    for x in range(len(values)):
        scores[x, -1] = math.log(concentration) + evidence(frozenset([x]))
    return scores


@pytest.mark.parametrize("concentration", [0.5, 3.0])
def test_rows_go_to_the_best_group_or_to_the_residual(concentration):
    values, sample = blobs_with_strays()
    problem = Problem(standard_prior(2), values, math.log(concentration), True, 0, 1)
    division = divide_by(problem, ALL_NODES, np.arange(45), sample)
    tree, front = division.groups.tree, division.groups.front
    front_items = [{int(sample[i]) for i in tree.items_below(int(head))} for head in front]
    expected = np.argmax(group_scores(values, sample, front_items, concentration), axis=1)
    others = np.setdiff1d(np.arange(45), sample)
    assert division.labels[others].tolist() == expected[others].tolist()
    assert division.labels[40:].tolist() == [len(front)] * 5  # strays are collected apart
    assert (division.labels[sample] < len(front)).all()  # so that sets always become smaller


def test_weights_inside_a_group_sum_to_its_size():
    values, sample = blobs_with_strays()
    problem = Problem(standard_prior(2), values, 0.0, True, 0, 1)
    groups = divide_by(problem, ALL_NODES, np.arange(45), sample).groups
    for group, head in enumerate(groups.front):
        inside = groups.log_weight[groups.group_start[group] : groups.group_start[group + 1]]
        assert np.exp(inside).sum() == pytest.approx(groups.tree.size[head], rel=1e-12)
    assert groups.log_weight[-1] == 0.0  # the residual has the weight of the concentration, here 1


@pytest.mark.parametrize("grain", [np.zeros(0), np.array([0.3, 0.0, 0.02])])
@pytest.mark.parametrize("columns", [np.zeros(0, np.int64), np.array([3, 0, 4])])
def test_full_covariances_are_scored_as_one_by_one(grain, columns):
    rng = np.random.default_rng(5)
    scale = np.cov(rng.normal(size=(9, 3)), rowvar=False) + np.eye(3)
    prior = full_prior(rng.normal(size=3), 0.4, 5.5, scale, grain, columns)
    values = 3.0 * rng.normal(size=(150, 5 if columns.size else 3))
    rows = np.zeros((4, n_stats(prior)))  # the last stays empty
    for k, members in enumerate((values[:1], values[:40], values[40:])):
        for x in members:
            add(prior, rows[k], x)
    density, order = make_filter(prior, rows, complete=True), rng.permutation(150)
    assert isinstance(density, FullFilter)
    out = np.empty((4, 130))
    group_scores_of(density, np.zeros(4), np.arange(5), values, order, 7, 137, out)
    expected = [[log_predictive(prior, row, values[i]) for i in order[7:137]] for row in rows]
    assert out == pytest.approx(np.array(expected), rel=1e-11, abs=1e-11)

"""Tables of many rows: views from a sample, row trees over all rows."""

import math

import numpy as np
import pytest

from bayesgrove import BHCC, RandomizedBHCC
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bernoulli, Columns, GaussianDiagonal
from bayesgrove.models.cross.fit import problem_of
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.learning import Numbers
from bayesgrove.stats.partitions import adjusted_rand

pytestmark = pytest.mark.unit
N = 300


def long_table(n_rows=N, missing=0.1):
    """Two views of three measurements and three yes/no columns each."""
    rng = generator(11)
    labels = rng.integers(0, 3, (2, n_rows))
    columns = []
    for j in range(12):
        own = labels[j % 2]
        if j < 6:
            columns.append(rng.normal(4.0 * rng.normal(size=3)[own], 1.0))
        else:
            columns.append(rng.random(n_rows) < rng.beta(0.3, 0.3, 3)[own])
    X = np.column_stack(columns).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, labels


LIKELIHOOD = Columns([GaussianDiagonal()] * 6 + [Bernoulli()] * 6)


@pytest.fixture(scope="module", params=[BHCC, RandomizedBHCC])
def models(request):
    """Row trees by samples, and exactly."""
    X, _ = long_table()
    sampled = request.param(LIKELIHOOD, row_method="randomized", row_sample=100, random_state=0).fit(X)
    return sampled, request.param(LIKELIHOOD, row_method="exact", random_state=0).fit(X)


def test_views_of_a_sample_are_those_of_all(models):
    _, labels = long_table()
    for model in models:
        assert model.view_labels_.tolist() == [0, 1] * 6
        for view, truth in zip(model.views_, labels, strict=True):
            assert view.labels_.size == N
            assert adjusted_rand(view.labels_, truth) > 0.8


def test_bounds_are_near_and_valid(models):
    sampled, exact = models
    assert sampled.log_evidence_ >= sampled.result_.details["flat_bound"] - 1e-9
    assert abs(sampled.log_evidence_ - exact.log_evidence_) < 0.01 * abs(exact.log_evidence_)
    merges = sampled._fit.node_row_children
    assert all(children.shape == (N - 1, 2) for children in merges)
    assert len({id(children) for children in merges}) <= sampled.n_views_


def test_auto_chooses_by_the_number_of_rows():
    assert BHCC()._grows_exactly(2_000)
    assert not BHCC()._grows_exactly(2_001)
    assert BHCC(row_method="exact")._grows_exactly(10**6)


def test_the_evidence_of_nodes_is_that_of_their_row_trees(models):
    """Recomputed for every node: q of its row tree, scaled."""
    sampled, _ = models
    problem, fit = sampled_problem(sampled), sampled._fit
    constant = math.lgamma(1.0) - math.lgamma(N + 1.0)
    for node in range(fit.column_tree.n_nodes):
        columns = np.sort(fit.column_tree.items_below(node))
        tree = row_tree(problem, columns, fit.node_row_children[node])
        expected = tree.columns["log_q"][-1] + constant
        assert fit.column_tree.columns["log_evidence"][node] == pytest.approx(expected, abs=1e-6)


def sampled_problem(model):
    """The problem a fitted model solved."""
    bound = model._bound._replace(values=model._values)
    return problem_of(bound, Numbers(bound.prior, *model._logs))


def test_further_rows_by_samples(models):
    sampled, _ = models
    X, _ = long_table()
    more = sampled.with_rows(X[:5])
    assert more.labels_.size == N + 5
    assert np.isfinite(more.log_evidence_)
    assert np.isfinite(more.score_samples(X[:5])).all()

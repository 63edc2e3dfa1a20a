"""Clusters of discrete and mixed tables: components between which rows are torn are one cluster."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, RandomizedBHC
from bayesgrove.agglomeration.overlaps import Groups, clusters_by_overlap, left_out_predictives
from bayesgrove.agglomeration.regrow import weighed
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal, Poisson, bind, log_marginal

pytestmark = pytest.mark.exact


def independent(rng, n):
    """One latent class: columns of every kind, independent, some of a shape that no family has."""
    return pd.DataFrame(
        {
            "height": rng.normal(170, 9, n),
            "age": np.rint(rng.normal(40, 12, n)),
            "income": np.exp(rng.normal(10, 0.6, n)).round(-1),
            "visits": rng.poisson(3, n),
            "orders": rng.negative_binomial(1.5, 0.2, n),
            "answer": np.clip(np.rint(rng.normal(3, 1, n)), 1, 5),
            "region": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "member": rng.random(n) < 0.3,
            "spent": np.where(rng.random(n) < 0.4, 0.0, np.exp(rng.normal(2, 0.8, n))),
            "tails": rng.standard_t(4, n),
            "flat": rng.random(n),
            "wait": rng.exponential(5, n).round(1),
        }
    )


def correlated(rng, n):
    """One latent class: correlated measurements beside two categories, one of which depends on them."""
    factor = rng.normal(size=n)
    noisy = factor[:, np.newaxis] + 0.5 * rng.normal(size=(n, 3))
    return pd.DataFrame(
        {
            "a": noisy[:, 0],
            "b": noisy[:, 1],
            "c": np.exp(noisy[:, 2]),
            "grade": np.array(list("xyz"))[np.digitize(factor + rng.normal(size=n), [-0.5, 0.7])],
            "member": rng.random(n) < 0.3,
        }
    )


def answers(rng, n):
    """One latent class: six answers on a scale that depend on one trait, beside an age and a category."""
    trait = rng.normal(size=(n, 1))
    levels = np.clip(np.rint(3 + trait + 0.8 * rng.normal(size=(n, 6))), 1, 5)
    frame = pd.DataFrame(levels, columns=[f"q{j}" for j in range(6)])
    return frame.assign(age=np.rint(rng.normal(40, 12, n)), region=rng.choice(list("abcde"), n))


def segments(rng, n):
    """Three latent classes that differ in most columns."""
    z = rng.integers(0, 3, n)
    chances = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    letters = {f"c{j}": np.array(list("abc"))[[rng.choice(3, p=chances[(k + j) % 3]) for k in z]] for j in range(5)}
    frame = pd.DataFrame({**letters, "x": rng.normal(2.5 * z, 1), "y": rng.normal(-2.5 * (z == 1), 1)})
    return frame.assign(visits=rng.poisson(np.array([1, 4, 10])[z])), z


def test_predictives_leave_each_row_out_of_its_own_component():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=12), rng.poisson(2, 12), rng.integers(0, 3, 12)]).astype(float)
    X[2, 0] = X[5, 2] = np.nan
    likelihood = Columns(
        [GaussianDiagonal(0, 1, 2, 1), Poisson(shape=1, rate=1), Categorical(pseudo_count=0.5, n_categories=3)]
    )
    labels = np.repeat([0, 1, 2], [6, 5, 1])
    bound = bind(likelihood, X)
    rows = cluster_statistics(bound.prior, bound.values, labels, 3)[0]
    found = left_out_predictives(bound.prior, bound.values, rows, labels)
    measure = bound.encoding.log_measure(X)
    for i in range(12):
        for k in range(3):
            others = np.flatnonzero((labels == k) & (np.arange(12) != i))
            before = log_marginal(likelihood, X[others]) if others.size else 0.0
            expected = log_marginal(likelihood, X[[*others, i]]) - before
            assert found[i, k] + measure[i] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("distance", [2.5, 3.5, 5.0])
def test_the_valley_of_two_gaussians_is_that_of_their_density(distance):
    """The log density ratio of equal Gaussians is linear, so that its valley is that of the rows themselves."""
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 20_000), rng.normal(distance, 1, 20_000)])
    log_densities = -0.5 * (x[:, np.newaxis] - np.array([0.0, distance])) ** 2
    cut_off = (x > distance / 2).astype(np.int64)  # as a partition of highest probability has it
    found = Groups(log_densities, cut_off).ratio(0, 1)
    middle = 2.0 * math.exp(-(distance**2) / 8.0) / (1.0 + math.exp(-(distance**2) / 2.0))
    assert found == pytest.approx(middle, abs=0.02)


def test_groups_without_a_difference_are_one_cluster():
    same = np.zeros((100, 2))
    assert Groups(same, np.repeat([0, 1], 50)).ratio(0, 1) == 1.0


def test_pieces_of_one_cluster_are_joined_and_clusters_stay_apart():
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.random((100, 12)) < 0.1, rng.random((100, 12)) < 0.9]).astype(float)
    pieces = np.repeat([0, 1, 2], [60, 40, 100])
    bound = bind(Bernoulli(a=1, b=1), X)
    assert clusters_by_overlap(bound.prior, bound.values, pieces).tolist() == [0, 0, 1]


@pytest.mark.parametrize("make", [independent, correlated, answers])
def test_one_latent_class_is_one_cluster(make):
    model = BHC(random_state=0).fit(make(np.random.default_rng(0), 300))
    assert model.n_clusters_ == 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 600])
@pytest.mark.parametrize("make", [independent, correlated])
def test_one_latent_class_is_one_cluster_in_at_least_95_percent(make, n):
    found = [BHC(random_state=0).fit(make(np.random.default_rng([seed, n]), n)).n_clusters_ for seed in range(100)]
    assert np.mean(np.array(found) == 1) >= 0.95, found


@pytest.mark.parametrize("model", [BHC, RandomizedBHC])
def test_segments_that_differ_in_most_columns_stay_apart(model):
    frame, z = segments(np.random.default_rng(3), 300)
    assert adjusted_rand_score(z, model(random_state=0).fit(frame).labels_) > 0.95


def test_clusters_of_mixed_columns_are_nodes_of_the_tree_and_its_weights_are_exact():
    frame = correlated(np.random.default_rng(4), 200)
    plain = BHC(clusters="components", random_state=0).fit(frame)
    model = BHC(random_state=0).fit(frame)
    assert model.n_clusters_ < model.n_components_ == plain.n_components_
    assert adjusted_rand_score(model.component_labels_, plain.labels_) == 1.0
    merges = np.argsort(model.tree_.parent[:-1], kind="stable").reshape(-1, 2)
    values = bind("auto", model._read_input(frame, reset=False)).values
    again = weighed(model._bound.prior, values, merges, math.log(model.concentration_))
    np.testing.assert_allclose(model.tree_.columns["log_q"], again.log_q, rtol=1e-10)
    assert model.predict_proba(frame).shape == (200, model.n_clusters_ + 1)

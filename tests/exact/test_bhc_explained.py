"""Columns that another column explains better than the clusters do: evidence by twins, choices, which fit is kept."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, load
from bayesgrove.io.frames import table_from_frame
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal, Poisson, bind, log_marginal
from bayesgrove.likelihoods.bind import bind_understood
from bayesgrove.likelihoods.understanding import understand
from bayesgrove.models.bhc.explained import (
    BINS,
    EXPLAINED,
    evidence_of_columns,
    explained_columns,
    fit_unexplained,
    groupings,
    log_evidence_given,
    origin,
)

pytestmark = pytest.mark.exact

MIXED = Columns(
    [GaussianDiagonal(0, 1, 2, 1, grain=0), Poisson(shape=1, rate=1), Categorical(pseudo_count=0.5, n_categories=3)]
)


def mixed_rows(n=120):
    """Rows of three kinds of columns, with missing cells."""
    rng = np.random.default_rng(0)
    X = np.column_stack([3.0 * rng.normal(size=n), rng.poisson(2, n), rng.integers(0, 3, n)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def places(rng, n):
    """Two classes; sites tell their regions and plans their prices, whatever the class, which spoils the clusters."""
    z = rng.integers(2, size=n)
    site, plan = rng.integers(8, size=n), rng.integers(6, size=n)
    region, price = (np.where(rng.random(n) < 0.03, rng.integers(3, size=n), codes % 3) for codes in (site, plan))
    names = {"site": site, "region": region, "plan": plan, "price": price}
    frame = pd.DataFrame({name: np.array(list("abcdefgh"))[codes] for name, codes in names.items()})
    return frame.assign(x=rng.normal(4 * z, 1), visits=rng.poisson(1 + 6 * z), member=rng.random(n) < 0.2 + 0.6 * z), z


@pytest.mark.parametrize("likelihood", [MIXED, Bernoulli(a=0.5, b=0.7)])
def test_evidence_of_columns_is_the_sum_of_their_marginals_in_the_groups(likelihood):
    X = mixed_rows() if likelihood is MIXED else (mixed_rows() > 1.0).astype(float)
    labels = np.random.default_rng(1).integers(0, 4, len(X))
    bound = bind(likelihood, X)
    found = evidence_of_columns(bound, labels)
    for j in range(3):
        one = likelihood.likelihoods[j] if likelihood is MIXED else likelihood
        parts = (X[labels == k, j : j + 1] for k in range(4))
        measure = bound.encoding.column(j).total_log_measure(np.count_nonzero(~np.isnan(X[:, [j]]), axis=0))
        assert found[j] + measure == pytest.approx(sum(log_marginal(one, part) for part in parts), abs=1e-9)


def test_evidence_given_other_columns_is_in_units_of_the_data():
    X = mixed_rows()
    bound = bind(MIXED, X)
    groups = [groupings(bound, 2)[0] == k for k in np.unique(groupings(bound, 2)[0])]
    assert len(groups) == 4
    expected = sum(
        log_marginal(one, X[rows, j : j + 1]) for rows in groups for j, one in enumerate(MIXED.likelihoods[:2])
    )
    assert log_evidence_given(bound, {0: 2, 1: 2}) == pytest.approx(expected, abs=1e-9)


def test_groups_are_labels_or_equal_parts_and_missing_cells_are_one_more():
    X = np.column_stack([np.random.default_rng(0).normal(size=640), np.repeat(np.arange(10.0), 64)])
    X[:64, 1] = np.nan
    bound = bind(Columns(["gaussian", "poisson"]), X)
    for n_bins, groups in zip(BINS, groupings(bound, 0), strict=True):
        assert np.bincount(groups).tolist() == [640 // n_bins] * n_bins
    (groups,) = groupings(bound, 1)
    assert np.unique(groups).size == 10
    assert np.unique(groups[:64]).size == 1


def test_rare_values_are_one_group():
    cells = np.concatenate([np.repeat([0.0, 1.0], 30), np.arange(2.0, 12.0)])
    (groups,) = groupings(bind(Columns(["poisson"]), cells[:, np.newaxis]), 0)
    assert sorted(np.bincount(groups, minlength=1)[np.unique(groups)].tolist()) == [10, 30, 30]


def test_columns_do_not_explain_each_other_in_a_circle():
    assert origin({0: 1, 1: 2}, 0) == 2
    frame, z = places(np.random.default_rng(0), 300)
    frame["district"] = frame["region"].where(np.arange(300) % 50 > 0, "a")
    sources = explained_columns(bind("auto", table_from_frame(frame)), z)
    assert len(set(sources) & {0, 1, 7}) == 2  # of site, region and district
    assert len(set(sources) & {2, 3}) == 1  # of plan and price
    assert all(origin(sources, column) not in sources for column in sources)


def test_columns_that_depend_on_another_are_left_out_and_said(caplog, tmp_path):
    caplog.set_level(logging.INFO, logger="bayesgrove")
    frame, z = places(np.random.default_rng(1), 300)
    model = BHC().fit(frame)
    columns = model.columns_.set_index("name")
    left_out = columns.index[columns["kind"] == "explained by another column"]
    assert sorted(name in left_out for name in ("site", "region")) == [False, True]
    assert sorted(name in left_out for name in ("plan", "price")) == [False, True]
    assert (columns.family[left_out] == "left out").all()
    assert len(left_out) == 2
    assert "left out as explained by another column: 'site' (by 'region')" in caplog.text
    assert adjusted_rand_score(z, model.labels_) > 0.95
    model.save(tmp_path / "model.bg")
    np.testing.assert_array_equal(load(tmp_path / "model.bg").predict(frame.assign(site="a")), model.labels_)


def test_columns_that_are_named_stay():
    frame, _ = places(np.random.default_rng(1), 300)
    named = dict.fromkeys(("site", "region", "plan", "price"), "categorical")
    for settings in ({"likelihood": named}, {"hyper": "fixed"}):
        assert "left out" not in BHC(**settings).fit(frame).columns_["family"].tolist()


def test_a_second_fit_of_lower_evidence_is_not_kept():
    frame, _ = places(np.random.default_rng(1), 300)
    table = table_from_frame(frame)
    model = BHC()
    model._check_settings()
    model._seed = 0
    understood = understand("auto", table)
    first = model._build(bind_understood(understood, table))
    bounds = []

    def worse(bound):
        bounds.append(bound)
        return first._replace(log_evidence=-np.inf)

    assert fit_unexplained(first, understood, table, "auto", worse) is first
    assert [choice.kind for choice in bounds[0].choices].count(EXPLAINED) == 2


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_columns_that_depend_on_the_clusters_stay(noise):
    """Each of six columns tells the class, and so each of the others."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        z = rng.integers(4, size=200)
        codes = np.where(rng.random((200, 6)) < noise, rng.integers(4, size=(200, 6)), (z[:, None] + np.arange(6)) % 4)
        assert not explained_columns(bind("auto", table_from_frame(pd.DataFrame(np.array(list("abcd"))[codes]))), z)


@pytest.mark.parametrize("n_clusters", [1, 8])
def test_independent_columns_explain_nothing(n_clusters):
    """Evenly frequent labels are described best by groups of few rows, and any column by fewer groups than clusters."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"x": rng.normal(size=100), "n": rng.poisson(3, 100), "c": rng.choice(list("abcd"), 100)})
        labels = rng.permutation(np.arange(100) % n_clusters)
        assert not explained_columns(bind("auto", table_from_frame(frame.assign(yes=rng.random(100) < 0.4))), labels)

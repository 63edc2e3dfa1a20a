"""Greedy BHC against golden numbers, a slow twin and many digits; all schemes give the same merges."""

import math

import mpmath
import numpy as np
import pytest

from bayesgrove import BHC
from bayesgrove.agglomeration import choose
from bayesgrove.agglomeration.exact import Atoms, agglomerate
from bayesgrove.agglomeration.learn import evidence_bound
from bayesgrove.likelihoods import bind, log_marginal
from bayesgrove.models.bhc.fit import ExactOptions, fit_exact
from bayesgrove.trees import expected_clusters, same_cluster_matrix
from reference import digits
from reference.bhc import evidence_of, grow, items_of_nodes
from reference.golden import golden_table
from reference.tables import FAMILIES, merges_of, standard_prior
from reference.trees import labels_by_size

pytestmark = pytest.mark.exact
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")
TOLERANCE = {"rtol": 0.0, "atol": 1e-8}


def raw_log_q(bound, values, children, log_q):
    """Log q of every node in the data's own units."""
    measure = bound.encoding.log_measure(values)
    return log_q + [measure[list(items)].sum() for items in items_of_nodes(children)]


def assert_merges(expected, children, log_odds, log_q, log_d):
    n = len(expected) + 1
    assert np.asarray(children).tolist() == [[merge["a"], merge["b"]] for merge in expected]
    np.testing.assert_allclose(log_odds[n:], [merge["log_odds"] for merge in expected], **TOLERANCE)
    np.testing.assert_allclose(log_q[n:], [merge["q"] for merge in expected], **TOLERANCE)
    np.testing.assert_allclose(log_d[n:], [merge["log_d"] for merge in expected], **TOLERANCE)


@pytest.mark.parametrize("as_columns", [False, True], ids=["family", "columns"])
@pytest.mark.parametrize("name", TABLES)
def test_golden_merges(golden, name, as_columns):
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][name], as_columns=as_columns)
    bound = bind(likelihood, values, hyper="fixed")
    got = merges_of(bound.prior, bound.values, concentration)
    log_q = raw_log_q(bound, values, got.children, got.log_q)
    assert_merges(numbers["bhc_all_cols"]["merges"], got.children, got.log_odds, log_q, got.log_d)


@pytest.mark.parametrize("name", TABLES)
def test_golden_fit(golden, name):
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][name])
    expected = numbers["bhc_all_cols"]
    bound = bind(likelihood, values, hyper="fixed")
    fitted = fit_exact(bound, concentration, ExactOptions(), 0, 1, None)
    children = [[merge["a"], merge["b"]] for merge in expected["merges"]]
    log_q = raw_log_q(bound, values, children, fitted.tree.columns["log_q"])
    log_odds, log_d = fitted.tree.columns["log_merge_odds"], fitted.tree.columns["log_d"]
    got = [list(fitted.tree.children(node)) for node in range(len(values), fitted.tree.n_nodes)]
    assert_merges(expected["merges"], got, log_odds, log_q, log_d)
    assert fitted.log_evidence == pytest.approx(expected["log_lower_bound"], abs=1e-8)
    assert log_q[-1] - log_d[-1] == pytest.approx(expected["log_p_tree"], abs=1e-8)
    np.testing.assert_allclose(same_cluster_matrix(fitted.tree), expected["p_together"], **TOLERANCE)
    assert expected_clusters(fitted.tree) == pytest.approx(expected["expected_clusters"], abs=1e-8)


@pytest.mark.parametrize("name", TABLES)
def test_golden_estimator(golden, name):
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][name])
    expected, n = numbers["bhc_all_cols"], len(values)
    model = BHC(likelihood, concentration, hyper="fixed", random_state=0).fit(values)
    assert model.log_evidence_ == pytest.approx(expected["log_lower_bound"], abs=1e-8)
    assert model.labels_.tolist() == labels_by_size(expected["cut05"], n).tolist()
    best = labels_by_size(expected["map_partition"], n)
    assert model.set_params(cut="map").fit(values).labels_.tolist() == best.tolist()
    joint = [log_marginal(likelihood, values[best == k]) for k in range(best.max() + 1)]
    weights = [math.log(concentration) + math.lgamma((best == k).sum()) for k in range(best.max() + 1)]
    constant = math.lgamma(concentration) - math.lgamma(n + concentration)
    assert sum(joint) + sum(weights) + constant == pytest.approx(expected["map_log_joint"], abs=1e-8)
    np.testing.assert_allclose(same_cluster_matrix(model.tree_), expected["p_together"], **TOLERANCE)


SCHEMES = [{"scores": "light", "n_threads": n_threads} for n_threads in (1, 2, 4)]
SCHEMES += [{"scores": "matrix", "n_threads": n_threads} for n_threads in (1, 2)]


def serve_row_by_row(monkeypatch):
    """Make every likelihood use the scorer that any likelihood can use."""
    monkeypatch.setattr(choose, "is_fast", lambda *prior, **options: False)
    monkeypatch.setattr(choose, "count_blocks", lambda prior: None)


def compare_schemes(monkeypatch, name, prior, values, concentration, schemes):
    """Merges of all schemes, and of all of them again row by row, equal the twin's."""
    expected = grow(evidence_of(name, prior, values), len(values), math.log(concentration))
    for scheme in schemes:
        got = merges_of(prior, values, concentration, **scheme)
        assert got.children.tolist() == expected.children.tolist(), scheme
        np.testing.assert_allclose(got.log_odds, expected.log_odds, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(got.log_q, expected.log_q, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(got.log_d, expected.log_d, rtol=1e-12, atol=1e-12)
    with monkeypatch.context() as patch:
        serve_row_by_row(patch)
        assert merges_of(prior, values, concentration).children.tolist() == expected.children.tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_all_schemes_give_the_same_merges(monkeypatch, name):
    schemes = SCHEMES + ([{"scores": "matrix32"}] if name in ("gaussian", "bernoulli") else [])
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        prior, values = FAMILIES[name](rng, int(rng.integers(2, 61)))
        compare_schemes(monkeypatch, name, prior, values, float(rng.choice([0.3, 1.0, 4.0])), schemes)


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_sizes_around_a_tile(monkeypatch, name, n):
    prior, values = FAMILIES[name](np.random.default_rng(n), n)
    compare_schemes(monkeypatch, name, prior, values, 1.0, [*SCHEMES, {"scores": "matrix32"}])


@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_schemes_agree_on_more_rows(monkeypatch, name):
    """Holes are closed several times, owners are scanned again often."""
    prior, values = FAMILIES[name](np.random.default_rng(21), 500)
    expected = merges_of(prior, values).children.tolist()
    for scheme in ({"scores": "matrix"}, {"scores": "matrix32"}, {"n_threads": 4}):
        assert merges_of(prior, values, **scheme).children.tolist() == expected, scheme
    serve_row_by_row(monkeypatch)
    assert merges_of(prior, values).children.tolist() == expected


@pytest.mark.parametrize("concentration", [1e-8, 1e8])
@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "columns"])
def test_extreme_concentrations(monkeypatch, name, concentration):
    prior, values = FAMILIES[name](np.random.default_rng(22), 40)
    compare_schemes(monkeypatch, name, prior, values, concentration, SCHEMES[:1])


@pytest.mark.parametrize("name", ["bernoulli", "categorical", "columns"])
@pytest.mark.parametrize("concentration", [0.5, 3.0])
def test_a_row_without_cells_scores_minus_log_concentration(name, concentration):
    prior, values = FAMILIES[name](np.random.default_rng(23), 2)
    got = merges_of(prior, np.vstack([values[:1], np.full_like(values[:1], np.nan)]), concentration)
    assert got.log_odds[2] == pytest.approx(-math.log(concentration), abs=1e-12)


@pytest.mark.parametrize(("likelihood", "row"), [("gaussian", [0.5, 2.0]), ("bernoulli", [1.0, 0.0])])
def test_one_row_is_a_leaf_with_its_own_evidence(likelihood, row):
    model = BHC(likelihood, concentration=2.0, random_state=0).fit([row])
    assert model.log_evidence_ == pytest.approx(log_marginal(likelihood, [row]), abs=1e-12)
    assert model.labels_.tolist() == [0]
    assert model.tree_.n_nodes == 1


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_each_merge_has_the_highest_score_on_tied_data(name):
    for seed in range(10):
        rng = np.random.default_rng([8, seed])
        prior, values = FAMILIES[name](rng, 30)
        values = values[rng.integers(0, 6, 40)]  # few different rows: most scores are tied
        got = merges_of(prior, values)
        twin = grow(evidence_of(name, prior, values), len(values), 0.0, got.children)
        np.testing.assert_allclose(got.log_odds[len(values) :], twin.highest, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["clustered", "noise"])
def test_number_of_scores(kind):
    n, rng = 2_000, np.random.default_rng(3)
    centres = rng.normal(0, 12, (40, 10)) if kind == "clustered" else np.zeros((40, 10))
    values = centres[rng.integers(0, 40, n)] + rng.normal(size=(n, 10))
    values /= values.std(axis=0)
    assert merges_of(standard_prior(10), values, scores="matrix").n_evaluations == (n - 1) ** 2
    light = merges_of(standard_prior(10), values).n_evaluations
    assert (n - 1) ** 2 <= light <= 1.2 * n**2


@pytest.mark.parametrize("n", [2, 3, 17, 64, 65, 200])
def test_the_matrix_needs_each_score_once(n):
    values = np.random.default_rng(n).normal(size=(n, 2))
    assert merges_of(standard_prior(2), values, scores="matrix").n_evaluations == (n - 1) ** 2


@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_many_equal_rows(likelihood):
    model = BHC(likelihood, random_state=0).fit(np.ones((5_000, 2)))
    assert math.isfinite(model.log_evidence_)
    assert np.isfinite(model.tree_.columns["log_q"]).all()
    assert np.isfinite(model.tree_.columns["log_d"]).all()
    assert model.n_clusters_ == 1


def test_the_weight_of_a_split_is_not_lost_to_rounding():
    """Erratum E4: 1 - pi by subtraction is 0 for 250 and 250 rows, and the second hypothesis never wins."""
    prior, half = standard_prior(1), 250
    rows = np.array([[half, -4.0, half * 0.5], [half, 4.0, half * 0.5]])
    log_one = [
        math.lgamma(half)
        + evidence_of("gaussian", prior, np.array([[m - 0.5**0.5], [m + 0.5**0.5]] * (half // 2)))(
            frozenset(range(half))
        )
        for m in (-4.0, 4.0)
    ]
    log_d = np.full(2, math.lgamma(half))
    got = agglomerate(prior, Atoms(rows, np.full(2, float(half)), np.array(log_one), log_d), 0.0, complete=True)
    log_pi = math.lgamma(2 * half) - got.log_d[2]
    assert 1.0 - math.exp(log_pi) == 0.0
    assert got.log_d[0] + got.log_d[1] - got.log_d[2] < -300
    assert got.log_odds[2] < -100
    assert got.log_q[2] == pytest.approx(sum(log_one), rel=1e-12)


def three_clusters(scale=1.0, offset=0.0):
    rng = np.random.default_rng(11)
    truth = np.repeat([0, 1, 2], 20)
    return truth, offset + scale * (rng.normal(size=(60, 3)) * 0.1 + 3.0 * truth[:, None])


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-150, 0.0), (1e150, 0.0), (1.0, 1e12), (1e-3, -1e9)])
def test_extreme_scales_and_offsets(scale, offset):
    truth, values = three_clusters(scale, offset)
    model = BHC("gaussian", random_state=0).fit(values)
    assert model.labels_.tolist() == truth.tolist()
    assert math.isfinite(model.log_evidence_)
    plain = BHC("gaussian", random_state=0).fit(three_clusters()[1])
    change = -values.size * math.log(scale)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_ + change, rel=1e-6 if offset else 1e-10)


def test_two_balanced_halves_of_five_hundred_rows():
    values = np.random.default_rng(5).normal(size=(500, 2)) + 40.0 * (np.arange(500) % 2)[:, None]
    model = BHC("gaussian", random_state=0).fit(values)
    assert model.labels_.tolist() == (np.arange(500) % 2).tolist()
    assert model.tree_.log_merge_odds[-1] < -100
    assert np.isfinite(model.tree_.columns["log_q"]).all()


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "columns"])
def test_log_odds_and_evidence_in_fifty_digits(name):
    for seed in range(50):
        rng = np.random.default_rng([9, seed])
        prior, values = FAMILIES[name](rng, int(rng.integers(2, 9)))
        concentration = float(rng.choice([0.3, 1.0, 4.0]))
        got = merges_of(prior, values, concentration)
        with mpmath.workdps(50):
            log_odds, bound = digits.follow(name, prior, values, concentration, got.children)
        size = max(1.0, np.abs(got.log_q).max())  # log odds are differences of such numbers
        np.testing.assert_allclose(
            got.log_odds[len(values) :], np.array(log_odds, float), rtol=1e-12, atol=1e-12 * size
        )
        got_bound = evidence_bound(got.log_q[-1], len(values), math.log(concentration))
        assert got_bound == pytest.approx(float(bound), rel=1e-12, abs=1e-12)

"""Families of the package that have no fast way of their own, in every engine against plain twins and enumeration.

Trees: merge odds of what an engine found. Chains: the log joint of every draw, and visits of all partitions of five
rows against their exact probabilities (false alarm 1e-4 each).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import (
    Bernoulli,
    Columns,
    Likelihood,
    LogGaussian,
    NegativeBinomial,
    Ordinal,
    ZeroInflated,
    bind,
    from_document,
    to_document,
)
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.stats.testing import exact_partition_law, g_test, partition_counts
from reference import bhc, crosscat
from reference import likelihoods as twins
from reference.new_family import check_odds

pytestmark = pytest.mark.exact
CHAINS = {"n_chains": 1, "n_tune": 2, "n_draws": 6, "random_state": 4, "n_jobs": 1}
N_ROWS = 8


class Case(NamedTuple):
    """A family with all its hyperparameters, and what makes cells of two groups."""

    likelihood: Likelihood
    twin: Any
    numbers: tuple
    draw: Any


CASES = {
    "negative-binomial": Case(
        NegativeBinomial(dispersion=1.5, a=1.4, b=2.0),
        twins.negative_binomial,
        (1.5, 1.4, 2.0),
        lambda rng, group: rng.negative_binomial(1.5, np.where(group == 0, 0.6, 0.1)),
    ),
    "log-gaussian": Case(
        LogGaussian(mean=0.5, strength=0.4, shape=2.0, rate=0.6),
        twins.log_gaussian,
        (0.5, 0.4, 2.0, 0.6),
        lambda rng, group: rng.lognormal(1.5 * group, 0.6),
    ),
    "zero-inflated": Case(
        ZeroInflated(mean=0.5, strength=0.4, shape=2.0, rate=0.6),
        twins.zero_inflated,
        (0.5, 0.4, 2.0, 0.6),
        lambda rng, group: rng.lognormal(1.0, 0.6, group.size) * (rng.random(group.size) < 0.3 + 0.5 * group),
    ),
    "ordinal": Case(
        Ordinal(levels=(10, 20, 40, 50), pseudo_count=0.6, flexibility=0.3),
        lambda cells, *numbers: twins.ordinal([(10, 20, 40, 50).index(x) for x in cells], 4, *numbers),
        (0.6, 0.3),
        lambda rng, group: np.array([10, 20, 40, 50])[rng.binomial(3, 0.15 + 0.65 * group)],
    ),
}


@pytest.fixture(params=CASES)
def name(request):
    """Each family in turn."""
    return request.param


@pytest.fixture(autouse=True)
def known_twins(monkeypatch):
    """The twin of CrossCat looks models up by name."""
    for name, case in CASES.items():
        monkeypatch.setitem(crosscat.MODELS, name, case.twin)


def table(name, n_rows=N_ROWS, n_columns=2):
    """Columns of the family in two groups of rows, yes/no cells beside them, and missing cells."""
    rng = generator(7)
    group = np.arange(n_rows) % 2
    own = [CASES[name].draw(rng, group) for _ in range(n_columns)]
    values = np.column_stack([*own, rng.random(n_rows) < 0.2 + 0.6 * group]).astype(float)
    values[1, 0] = values[3, -1] = np.nan
    return values


def mixed(name, n_columns=2):
    return Columns([CASES[name].likelihood] * n_columns + [Bernoulli(a=0.5, b=0.5)])


def model_of(name, values):
    families = [(name, *CASES[name].numbers)] * (values.shape[1] - 1) + [("bern", 0.5, 0.5)]
    return crosscat.model_of(values, families, 1.0, 1.0)


def evidence_of(name, values, columns=None):
    """Log marginal of a set of rows as one cluster, in some columns."""
    model, chosen = model_of(name, values), range(values.shape[1]) if columns is None else columns
    return lambda items: math.fsum(crosscat.log_marginal(model, j, tuple(sorted(items))) for j in chosen)


def test_trees(name):
    values = table(name)
    settings = {"concentration": 1.0, "hyper": "fixed"}
    for model in (
        bg.BHC(mixed(name), search="best", random_state=0, **settings),
        bg.BHC(mixed(name), search="greedy", **settings),
        bg.RandomizedBHC(mixed(name), leaf_size=4, sample_size=4, random_state=1, **settings),
        bg.IncrementalBHC(mixed(name), n_init=4, **settings),
    ):
        check_odds(model.fit(values).tree_, evidence_of(name, values), N_ROWS)


def test_what_is_learned_raises_the_evidence(name):
    values = table(name, 24)
    own = type(CASES[name].likelihood)
    learned = bg.BHC(Columns([own.learned(), own.learned(), Bernoulli()]), random_state=0).fit(values)
    fixed = bg.BHC(Columns([own(), own(), Bernoulli()]), random_state=0).fit(values)
    assert learned.log_evidence_ > fixed.log_evidence_


def test_views_of_trees(name):
    values = table(name)
    for row_search in ("greedy", "best"):
        model = bg.BHCC(mixed(name), hyper="fixed", row_search=row_search, random_state=0, n_jobs=1).fit(values)
        for view in model.views_:
            check_odds(view.tree_, evidence_of(name, values, view.columns.tolist()), N_ROWS)
    filled = model.impute(level=0.8, draws=3)
    assert (filled.low <= filled.high).all()
    assert np.isfinite(filled.values).all()
    assert model.simulate(4, random_state=0).shape == (4, 3)
    assert np.isfinite(model.score_samples(values)).all()


def test_mixtures_visit_all_partitions(name):
    values = table(name, 5)
    evidence, alpha = evidence_of(name, values), 0.0
    settings = {**CHAINS, "n_tune": 50, "n_draws": 1_000, "thin": 10}
    model = bg.NRMMixture(mixed(name), "dp", 1.0, hyper="fixed", **settings).fit(values)

    def log_joint(labels):
        own = [frozenset(block) for block in crosscat.blocks(np.asarray(labels).tolist())]
        return bhc.log_joint(evidence, own, alpha) + bhc.log_crp_constant(5, alpha)

    drawn = model.posterior_.labels[0]
    found = model.posterior_.scalars["log_joint"][0]
    assert [log_joint(labels) for labels in drawn[:40]] == pytest.approx(found[:40].tolist(), abs=1e-8)
    law = exact_partition_law(log_joint, 5)
    assert g_test(partition_counts(drawn), law.probabilities).p_value > 1e-4


def test_chains_of_views_visit_all_states(name):
    values = table(name, 4, n_columns=1)
    model = model_of(name, values)
    settings = {**CHAINS, "n_tune": 50, "n_draws": 1_000, "thin": 10}
    posterior = bg.CrossCat(mixed(name, 1), 1.0, 1.0, hyper="fixed", **settings).fit(values).posterior_
    law, first = crosscat.law_of(model), 0
    place, counts = {state: k for k, state in enumerate(law.states)}, np.zeros(len(law.states))
    for views, found in zip(posterior.labels[0].tolist(), posterior.scalars["log_joint"][0], strict=True):
        n_views = max(views) + 1
        state = (tuple(views), tuple(tuple(labels) for labels in posterior.rows[first : first + n_views].tolist()))
        first += n_views
        counts[place[state]] += 1
        assert found == pytest.approx(crosscat.log_joint(model, state), abs=1e-8)
    assert g_test(counts, law.probabilities).p_value > 1e-4


def test_chains_of_views_learn_hyperparameters(name):
    own = type(CASES[name].likelihood)
    settings = {**CHAINS, "n_draws": 30}
    model = bg.CrossCat(Columns([own.learned(), own.learned(), Bernoulli()]), **settings).fit(table(name))
    assert np.isfinite(model.posterior_.scalars["log_joint"]).all()
    numbers = model.posterior_.extra["column_numbers"][0]
    assert (np.ptp(numbers[:, :2], axis=0) > 0.0).any(axis=1).all()
    assert np.isfinite(model.mutual_information([(0, 1)], n_samples=20)).all()


def test_nested_mixtures(name):
    values = table(name)
    model = bg.BHMC(depth=2, likelihood=mixed(name), **CHAINS).fit(values)
    assert np.isfinite(model.posterior_.scalars["log_joint"]).all()
    assert np.isfinite(model.score_samples(values)).all()


def test_names_and_files(name, tmp_path):
    values = table(name)[:, :2]
    case = CASES[name]
    assert NAMED[name] is type(case.likelihood)
    bound = bind(name, values, hyper="optimize")
    assert {part.split(".")[1] for part in bound.free} == set(case.likelihood.learnable)
    assert from_document(to_document(bound)).likelihood == bound.likelihood
    model = bg.BHC(Columns({"x0": name, "x1": name}), random_state=0).fit(values)
    model.save(tmp_path / "model.bg")
    loaded = bg.load(tmp_path / "model.bg")
    assert loaded.likelihood_ == model.likelihood_
    np.testing.assert_array_equal(loaded.score_samples(values), model.score_samples(values))

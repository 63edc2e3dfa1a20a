"""Scores of compiled states of nested hierarchies against the twin's: log joint, complete likelihood, energy.

States are those a chain visits, so that what moves keep is looked at too (acceptance 4).
"""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.component_models import collapsed
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import NO_PENALTY, make_target, sampled_means
from reference import likelihoods
from reference.nested import Model, log_complete_likelihood, log_joint
from reference.nested_arrays import NUMBERS, state_of
from reference.nested_generative import PRIORS
from reference.nested_margins import energy_of
from reference.state_checks import check_nested

pytestmark = pytest.mark.exact
HYPERPRIORS = {"alpha": (2.0, 1.5), "gamma": (3.0, 2.0), "gamma0": (2.0, 1.1), "s2": (3.0, 2.0), "h2": (4.0, 2.5)}
VALUES = {"alpha": 0.9, "gamma": 1.3, "gamma0": 0.8, "s2": 0.7, "h2": 1.6, "nu2": 1.4}
N_STATES = 30


def pair_of(data, *, depth=2, penalty="", n_components=0, free=(), family=""):
    """The library's sampler and the twin's model."""
    hyperpriors = np.full((len(NUMBERS), 2), np.nan)
    for name in free:
        hyperpriors[NUMBERS.index(name)] = HYPERPRIORS[name]
    strength, margin = (0.3 if penalty else 0.0), 0.8
    target = make_target(
        data,
        collapsed(PRIORS[family], data) if family else sampled_means(data),
        depth=depth,
        values=[VALUES[name] for name in NUMBERS],
        hyperpriors=hyperpriors,
        n_components=n_components,
        penalty=PENALTIES[penalty] if penalty else NO_PENALTY,
        strength=strength,
        margin=margin,
        margin_data=data if penalty else None,
    )
    log_marginal = (lambda rows: likelihoods.log_marginal(family, PRIORS[family], rows)) if family else None
    model = Model(
        data, depth, strength=strength, margin=margin, penalty=penalty or "max", n_components=n_components or None,
        hyperpriors={name: HYPERPRIORS[name] for name in free}, log_marginal=log_marginal,
    )  # fmt: skip
    return NestedSampler(target), model


def check_scores(sampler, model, seed):
    """After every move of a chain."""
    rng, penalised = generator(seed), bool(sampler.target.penalty)
    state = sampler.start(rng)
    moves = [Step("paths"), *([Step("discriminants")] if penalised else []), Step("weights"), Step("means")]
    for turn in range(N_STATES):
        sampler.move(rng, state, moves[turn % len(moves)])
        check_nested(state, sampler.target)
        twin, found = state_of(sampler.draw(state)), sampler.scalars(state)
        energy = energy_of(model, twin)
        wanted = log_joint(model, twin, energy, with_eta=penalised)
        assert found["log_joint"] == pytest.approx(wanted, rel=1e-12, abs=1e-8)
        if model.log_marginal is None:
            assert found["cdl"] == pytest.approx(log_complete_likelihood(model, twin), abs=1e-9)
        if penalised:
            assert found["energy"] == pytest.approx(energy, abs=1e-9)
            assert found["rcdl"] == pytest.approx(found["cdl"] - energy, abs=1e-9)


DATA = np.random.default_rng(3).normal(size=(7, 2))


@pytest.mark.parametrize("penalty", ["", *PENALTIES])
def test_scores_of_sampled_means(penalty):
    check_scores(*pair_of(DATA, penalty=penalty, depth=3), 1)


@pytest.mark.parametrize("n_components", [0, 3], ids=["infinite", "finite"])
def test_scores_with_learned_numbers(n_components):
    check_scores(*pair_of(DATA, n_components=n_components, free=tuple(HYPERPRIORS)), 2)


@pytest.mark.parametrize("n_components", [0, 3], ids=["infinite", "finite"])
def test_scores_of_collapsed_components(n_components):
    cells = (DATA > 0.0).astype(float)
    check_scores(*pair_of(cells, family="bernoulli", n_components=n_components, free=("alpha", "gamma")), 3)

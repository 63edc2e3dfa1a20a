"""Error rates of the verdict, by simulation: false alarms, planted failures, predicted lengths. Seeds are fixed."""

import numpy as np
import pytest

from bayesgrove.inference.posterior import Posterior

pytestmark = pytest.mark.statistical
N_FACTORS = 4


def block_labels(rng, shape, stay=0.0, n_items=30):
    """Three clusters, five items that now and then are a fourth one (a chain of memory `stay`), noise everywhere."""
    n_chains, n_draws = shape
    labels = np.tile(np.arange(n_items) % 3, (n_chains, n_draws, 1))
    is_apart = rng.random(shape) < 0.4
    keeps = rng.random(shape) < stay
    for t in range(1, n_draws):
        is_apart[:, t] = np.where(keeps[:, t], is_apart[:, t - 1], is_apart[:, t])
    labels[:, :, :5] = np.where(is_apart[:, :, None], 3, labels[:, :, :5])
    moved = rng.random(labels.shape) < 0.1
    labels[moved] = rng.integers(0, 4, moved.sum())
    return labels


def autoregression(rng, shape, stay):
    noise = rng.normal(size=shape)
    for t in range(1, shape[1]):
        noise[:, t] = stay * noise[:, t - 1] + np.sqrt(1 - stay**2) * noise[:, t]
    return noise


def good_run(rng, shape, stay=0.0):
    """Draws of one distribution, with the scalars that a mixture has."""
    names = ("log_joint", "concentration", *(f"log_factor_{k}" for k in range(N_FACTORS)))
    return block_labels(rng, shape, stay), {name: autoregression(rng, shape, stay) for name in names}


def two_modes(rng):
    labels, scalars = good_run(rng, (4, 250))
    labels[3, :, 10:14] = 1
    return labels, scalars


def stuck_chain(rng):
    labels, scalars = good_run(rng, (4, 250))
    labels[3] = labels[3, 0]
    for values in scalars.values():
        values[3] = values[3, 0]
    return labels, scalars


def stuck_labels(rng):
    labels, scalars = good_run(rng, (4, 250))
    labels[3] = labels[3, 0]
    return labels, scalars


def drift(rng):
    labels, scalars = good_run(rng, (4, 500))
    scalars["log_joint"] += np.linspace(-0.75, 0.75, 500)
    return labels, scalars


PLANTED = (two_modes, stuck_chain, stuck_labels, drift)


def share_trusted(make, n_runs, seed):
    verdicts = (Posterior(*make(np.random.default_rng([seed, run]))).diagnostics().verdict for run in range(n_runs))
    return sum(verdict.converged for verdict in verdicts) / n_runs


def test_independent_draws_are_trusted_and_planted_failures_are_not():
    """At a false-alarm rate of .05, three or more of 15 have probability .036."""
    assert share_trusted(lambda rng: good_run(rng, (4, 250)), 15, 1) >= 0.85
    for plant in PLANTED:
        assert share_trusted(plant, 5, 2) == 0.0, plant.__name__


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "stay"), [((4, 250), 0.0), ((2, 500), 0.0), ((1, 1000), 0.0), ((4, 1000), 0.6)])
def test_false_alarms_are_at_most_five_percent(shape, stay):
    assert share_trusted(lambda rng: good_run(rng, shape, stay), 100, 3) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTED)
def test_planted_failures_are_caught(plant):
    assert share_trusted(plant, 60, 4) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("stay", [0.6, 0.9])
def test_advised_lengths_suffice(stay):
    """Chains as long as advised are trusted nine times in ten, and no more than five times too long."""
    enough = []
    for run in range(20):
        rng = np.random.default_rng([5, run])
        verdict = Posterior(*good_run(rng, (4, 200), stay)).diagnostics().verdict
        n_draws = 200 + (verdict.n_more_draws or 0)
        found = Posterior(*good_run(rng, (4, n_draws), stay)).diagnostics()
        enough.append(found.converged)
        scarcest = np.nanmin(found.table["ess_bulk"][~np.char.startswith(found.table["name"], "together")])
        assert scarcest < 2000
    assert np.mean(enough) >= 0.9

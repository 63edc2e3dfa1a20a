"""The conditionals of u, alpha and sigma (section 2.1) are the joint density seen as a function of one of them."""

import math

import numpy as np
import pytest
from scipy import stats

from reference import nrm, nrm_hyper

pytestmark = pytest.mark.exact
STATE = (0, 0, 1, 2, 2, 2)
SIZES = (2, 1, 3)
HYPER = nrm_hyper.RandomGeneralisedGamma(1.2, 0.7, 1.5, 2.5)
GRID = (0.02, 0.3, 0.55, 0.97)


def log_joint(alpha, sigma, v):
    """Log of p(Pi, u, alpha, sigma), no data."""
    prior = stats.gamma.logpdf(alpha, HYPER.a, scale=1 / HYPER.b) + stats.beta.logpdf(sigma, HYPER.c, HYPER.d)
    return prior + nrm.log_joint(STATE, lambda cluster: 0.0, nrm.GeneralisedGamma(alpha, sigma), v)


def spread(gaps):
    return max(gaps) - min(gaps)


@pytest.mark.parametrize("v", [-3.0, 0.4, 6.0])
def test_alpha_of_the_generalised_gamma(v):
    for sigma in GRID:
        shape, rate = nrm_hyper.alpha_given_rest(HYPER, 3, sigma, v)
        gaps = [log_joint(a, sigma, v) - stats.gamma.logpdf(a, shape, scale=1 / rate) for a in (0.05, 0.8, 3.0, 11.0)]
        assert spread(gaps) < 1e-9


@pytest.mark.parametrize("v", [-3.0, 0.4, 6.0])
def test_sigma_of_the_generalised_gamma(v):
    for alpha in (0.1, 2.0):
        gaps = [log_joint(alpha, s, v) - nrm_hyper.log_sigma_density(HYPER, SIZES, alpha, v, s) for s in GRID]
        assert spread(gaps) < 1e-9


def test_alpha_of_the_dirichlet_process_with_its_auxiliary():
    """The joint of alpha and w is the prior, the partition's law, and Beta(alpha, n) at w; one factor is alpha's."""
    hyper, n = nrm_hyper.RandomDirichlet(1.2, 0.7), len(STATE)
    for auxiliary in (0.01, 0.4, 0.93):
        shape, rate = nrm_hyper.dirichlet_alpha_given_rest(hyper, 3, auxiliary)
        gaps = []
        for alpha in (0.05, 0.8, 3.0, 11.0):
            joint = stats.gamma.logpdf(alpha, hyper.a, scale=1 / hyper.b) + stats.beta.logpdf(auxiliary, alpha, n)
            joint += nrm.log_joint(STATE, lambda cluster: 0.0, nrm.Dirichlet(alpha))
            gaps.append(joint - stats.gamma.logpdf(alpha, shape, scale=1 / rate))
        assert spread(gaps) < 1e-9


@pytest.mark.parametrize("sigma", [1e-3, 0.5, 0.999])
@pytest.mark.parametrize("n_clusters", [1, 4])
def test_density_of_log_u_is_strictly_concave(sigma, n_clusters):
    process = nrm.GeneralisedGamma(0.9, sigma)
    height = np.array([nrm.log_u_density(v, 4, n_clusters, process) for v in np.arange(-8, min(40, 6 / sigma), 0.5)])
    assert (np.diff(height, 2) < 0).all()


@pytest.mark.parametrize("sigma", [1e-3, 0.5, 0.999])
def test_log_u_of_hundreds_is_a_number_or_impossible(sigma):
    """With a small sigma log u has scale 1/sigma; with a large one the joint underflows to impossible, never nan."""
    process = nrm.GeneralisedGamma(1.0, sigma)
    for v in (-800.0, 800.0):
        for value in (nrm.log_joint(STATE, lambda c: 0.0, process, v), nrm.log_u_density(v, 6, 3, process)):
            assert math.isfinite(value) or (sigma, v, value) == (0.999, 800.0, -math.inf)

"""Continuous labels: each hidden state emits independent normal numbers under a normal-gamma prior.

The different values of a forest are its vocabulary: a Gaussian is made into one emission row per value, after which
all passes over trees treat values and symbols alike. Moments have shape (component, state, column, 2): mean and
variance. Densities are those of (mean, 1 / variance).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.base import column_moments
from bayesgrove.stats.special import LOG_2PI

MEAN, VARIANCE = 0, 1


class NormalGamma(NamedTuple):
    """Hyperparameters of the mean and the variance of each column."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    rate: np.ndarray


class Gaussians(NamedTuple):
    """Prior of every state's means and variances, and the different values seen."""

    prior: NormalGamma
    values: np.ndarray
    """float64 (n_rows, n_columns); nan is a missing cell."""


def default_gaussians(values: np.ndarray) -> Gaussians:
    """A weak prior centred on the values: mean strength 0.1, precision Gamma(2, a quarter of the variance)."""
    mean, variance = column_moments(values)
    strength, shape = np.full(mean.size, 0.1), np.full(mean.size, 2.0)
    return Gaussians(NormalGamma(mean, strength, shape, variance / 4), values)


def posterior_numbers(gaussians: Gaussians, counts: np.ndarray) -> NormalGamma:
    """Normal-gamma numbers, each (component, state, column), given counts (component, row, state)."""
    mean, strength, shape, rate = gaussians.prior
    n, centre, spread = weighted_moments(np.ascontiguousarray(counts), gaussians.values)
    shrink = n * strength / (strength + n)
    return NormalGamma(
        (strength * mean + n * centre) / (strength + n),
        strength + n,
        shape + 0.5 * n,
        rate + 0.5 * spread + 0.5 * shrink * (centre - mean) ** 2,
    )


def draw_moments(rng: np.random.Generator, gaussians: Gaussians, counts: np.ndarray) -> np.ndarray:
    """Means and variances drawn from their posterior given counts; zeros draw from the prior."""
    mean, strength, shape, rate = posterior_numbers(gaussians, counts)
    variance = rate / rng.gamma(shape)
    return np.stack([mean + np.sqrt(variance / strength) * rng.standard_normal(mean.shape), variance], axis=-1)


def most_probable_moments(gaussians: Gaussians, counts: np.ndarray) -> np.ndarray:
    """Means and variances of highest posterior density."""
    mean, _, shape, rate = posterior_numbers(gaussians, counts)
    return np.stack([mean, rate / (shape - 0.5)], axis=-1)


def log_density_of_moments(gaussians: Gaussians, moments: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(component,): log posterior density of moments given counts; zeros give the prior's density."""
    mean, strength, shape, rate = posterior_numbers(gaussians, counts)
    precision = 1.0 / moments[..., VARIANCE]
    deviation = moments[..., MEAN] - mean
    normal = 0.5 * (np.log(strength * precision) - LOG_2PI - strength * precision * deviation**2)
    gamma = shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(precision) - rate * precision
    return (normal + gamma).sum(axis=(1, 2))


def density_rows(gaussians: Gaussians, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scaled densities of every value (component, row, state) and the logs of the scales (component, row)."""
    variance = moments[..., VARIANCE]
    return _scaled_rows(gaussians.values, moments[..., MEAN], 1.0 / variance, -0.5 * (LOG_2PI + np.log(variance)))


def expected_rows(gaussians: Gaussians, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `density_rows`, of exp(E log density) under the posterior given counts."""
    mean, strength, shape, rate = posterior_numbers(gaussians, counts)
    constant = 0.5 * (digamma(shape) - np.log(rate) - LOG_2PI - 1.0 / strength)
    return _scaled_rows(gaussians.values, mean, shape / rate, constant)


def divergence_of_moments(gaussians: Gaussians, counts: np.ndarray) -> np.ndarray:
    """(component,): Kullback-Leibler divergence of the posterior given counts from the prior."""
    mean, strength, shape, rate = posterior_numbers(gaussians, counts)
    old = gaussians.prior
    shift = old.strength * shape / rate * (mean - old.mean) ** 2
    normal = 0.5 * (np.log(strength / old.strength) + old.strength / strength - 1.0 + shift)
    gamma = (shape - old.shape) * digamma(shape) - gammaln(shape) + gammaln(old.shape)
    gamma += old.shape * np.log(rate / old.rate) + shape * (old.rate - rate) / rate
    return (normal + gamma).sum(axis=(1, 2))


def _scaled_rows(
    values: np.ndarray, mean: np.ndarray, precision: np.ndarray, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of exp(sum over seen cells of constant - precision (value - mean)^2 / 2), divided by their largest entry."""
    log_rows = np.zeros((mean.shape[0], values.shape[0], mean.shape[1]))
    for column in range(values.shape[1]):
        cells = values[None, :, None, column]
        deviation = cells - mean[:, None, :, column]
        term = constant[:, None, :, column] - 0.5 * precision[:, None, :, column] * deviation**2
        log_rows += np.where(np.isnan(cells), 0.0, term)
    log_scale = log_rows.max(axis=2)
    return np.exp(log_rows - log_scale[:, :, None]), log_scale


@kernel
def weighted_moments(counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, mean and spread (sum of weighted squared deviations) of seen cells: (component, state, column) each."""
    n_components, n_rows, n_states = counts.shape
    n_columns = values.shape[1]
    total = np.zeros((n_components, n_states, n_columns))
    mean = np.zeros((n_components, n_states, n_columns))
    spread = np.zeros((n_components, n_states, n_columns))
    for k in range(n_components):
        for row in range(n_rows):
            for state in range(n_states):
                weight = counts[k, row, state]
                if weight > 0.0:
                    for column in range(n_columns):
                        x = values[row, column]
                        if x == x:  # a missing cell differs from itself
                            total[k, state, column] += weight
                            delta = x - mean[k, state, column]
                            mean[k, state, column] += weight / total[k, state, column] * delta
                            spread[k, state, column] += weight * delta * (x - mean[k, state, column])
    return total, mean, spread

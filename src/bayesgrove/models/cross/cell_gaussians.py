"""Mixtures of Student-t and normal distributions: the predictives of cells in columns of real numbers."""

import math

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import GAUSSIAN_KNOWN, column_log_predictive
from bayesgrove.likelihoods.gaussian_diagonal import posterior_rate
from bayesgrove.likelihoods.gaussian_known import known_posterior
from bayesgrove.stats.special import log_sum

MOST_STEPS = 200
"""Steps of the search for a quantile; halving alone needs 60."""
MESH_STEP = 0.1
"""Of the trapezoidal rule for entropies, in units of asinh((x - mean) / scale)."""


@kernel
def numbers_of(params, j, numbers, term):
    """Numbers of the prior in a term: its own where terms have them, else those of column j."""
    return numbers[term] if numbers.shape[0] > 0 else params[j]


@kernel
def student_terms(family, row, p):
    """Mean, squared scale and degrees of freedom of a Gaussian column's term; infinite for a known variance."""
    if family == GAUSSIAN_KNOWN:
        mean, variance = known_posterior(row, 0, p[0], p[1], p[2])
        return mean, p[0] + variance, np.inf
    strength, shape = p[1] + row[0], p[2] + 0.5 * row[0]
    mean = (p[1] * p[0] + row[0] * row[1]) / strength
    rate = posterior_rate(row[0], row[1], row[2], p[0], p[1], p[3])
    return mean, rate * (strength + 1.0) / (shape * strength), 2.0 * shape


@kernel
def gaussian_terms(prior, column, start, log_weight, stats, numbers):
    """Mean, scale and degrees of freedom of every term, (3, n_terms)."""
    out = np.empty((3, log_weight.size))
    for cell in range(column.size):
        j = column[cell]
        for at in range(start[cell], start[cell + 1]):
            p = numbers_of(prior.params, j, numbers, at)
            mean, scale, freedom = student_terms(prior.family[j], stats[at], p)
            out[0, at], out[1, at], out[2, at] = mean, math.sqrt(scale), freedom
    return out


def student_cdf(freedom: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Distribution function of Student's t, normal for infinite degrees of freedom."""
    return np.where(np.isinf(freedom), ndtr(x), stdtr(np.where(np.isinf(freedom), 1.0, freedom), x))


def student_quantile(freedom: np.ndarray, level: float) -> np.ndarray:
    """Its inverse."""
    return np.where(np.isinf(freedom), ndtri(level), stdtrit(np.where(np.isinf(freedom), 1.0, freedom), level))


def gaussian_quantiles(start: np.ndarray, log_weight: np.ndarray, terms: np.ndarray, level: float) -> np.ndarray:
    """Quantile of each mixture of Student-t terms: between those of its terms, halved down by the secant or the middle.

    Each step tries the secant of the bracket's ends, every third one the middle, so that it always shrinks.
    """
    if level in (0.0, 1.0):
        return np.full(start.size - 1, math.copysign(np.inf, level - 0.5))
    mean, scale, freedom = terms
    owner, first, weight = np.repeat(np.arange(start.size - 1), np.diff(start)), start[:-1], np.exp(log_weight)
    alone = mean + scale * student_quantile(freedom, level)
    low, high = np.minimum.reduceat(alone, first), np.maximum.reduceat(alone, first)
    tolerance = 1e-12 * np.minimum.reduceat(scale, first)

    def excess(x: np.ndarray) -> np.ndarray:
        return np.add.reduceat(weight * student_cdf(freedom, (x[owner] - mean) / scale), first) - level

    below, above = np.minimum(excess(low), 0.0), np.maximum(excess(high), 0.0)
    for step in range(MOST_STEPS):
        if ((high - low) <= tolerance + 4e-16 * np.abs(high)).all():
            break
        with np.errstate(invalid="ignore", divide="ignore"):
            secant = low + (high - low) * below / (below - above)
        middle = 0.5 * (low + high)
        x = np.where(np.isfinite(secant) & (step % 3 < 2), np.clip(secant, low, high), middle)
        here = excess(x)
        is_below = here < 0.0
        low, below = np.where(is_below, x, low), np.where(is_below, here, below)
        high, above = np.where(is_below, high, x), np.where(is_below, above, here)
    return 0.5 * (low + high)


@kernel
def gaussian_entropies(prior, column, start, log_weight, stats, numbers, terms):
    """-sum_k w_k E_k[log p(x)] by the trapezoidal rule over x = mean_k + scale_k sinh(u)."""
    out = np.zeros(column.size)
    for cell in range(column.size):
        j, low, n = column[cell], start[cell], start[cell + 1] - start[cell]
        family, logs = prior.family[j], np.empty(n)
        mass = 0.0
        for k in range(n):
            freedom = terms[2, low + k]
            half = int(min(40.0, 4.0 + 36.0 / freedom) / MESH_STEP)
            for point in range(-half, half + 1):
                u = point * MESH_STEP
                x = terms[0, low + k] + terms[1, low + k] * math.sinh(u)
                for t in range(n):
                    p = numbers_of(prior.params, j, numbers, low + t)
                    logs[t] = log_weight[low + t] + column_log_predictive(family, stats[low + t], 0, 3, x, p)
                share = math.exp(logs[k]) * terms[1, low + k] * math.cosh(u) * MESH_STEP
                mass += share
                if share > 0.0:
                    out[cell] -= share * log_sum(logs)
        out[cell] /= mass
    return out

"""Mixtures of Student-t and normal distributions: the predictives of cells in columns of real numbers."""

import math

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import column_log_predictive
from bayesgrove.likelihoods.families import by_family
from bayesgrove.stats.special import LOG_2PI, log_sum

MOST_STEPS = 200
"""Steps of the search for a quantile; halving alone needs 60."""
MESH_STEP = 0.1
"""Of the trapezoidal rule for entropies, in units of asinh((x - mean) / scale)."""
LIGHTEST_TERM = math.log(1e-10)
"""Terms of less weight are not integrated over."""


@kernel
def numbers_of(params, j, numbers, term):
    """Hyperparameters in a term: its own where terms have them, else those of column j."""
    return numbers[term] if numbers.shape[0] > 0 else params[j]


@by_family("student", unknown="(math.nan, math.nan, math.nan)")
def student_terms(family, row, p):
    """Mean, squared scale and degrees of freedom of a Gaussian column's term; infinite for a known variance."""


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


def student_density(freedom: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Its density."""
    finite = np.where(np.isinf(freedom), 1.0, freedom)
    logs = gammaln(0.5 * finite + 0.5) - gammaln(0.5 * finite) - 0.5 * np.log(np.pi * finite)
    heavy = logs - 0.5 * (finite + 1.0) * np.log1p(x * x / finite)
    return np.exp(np.where(np.isinf(freedom), -0.5 * (x * x + LOG_2PI), heavy))


def gaussian_quantiles(start: np.ndarray, log_weight: np.ndarray, terms: np.ndarray, level: float) -> np.ndarray:
    """Quantile of each mixture of Student-t terms, which lies between those of its terms.

    Newton's steps while they stay inside the bracket and shrink it, otherwise its middle; cells that are done drop out.
    """
    if level in (0.0, 1.0):
        return np.full(start.size - 1, math.copysign(np.inf, level - 0.5))
    mean, scale, freedom = terms
    owner, weight = np.repeat(np.arange(start.size - 1), np.diff(start)), np.exp(log_weight)
    alone = mean + scale * student_quantile(freedom, level)
    low, high = np.minimum.reduceat(alone, start[:-1]), np.maximum.reduceat(alone, start[:-1])
    tolerance = 1e-12 * np.minimum.reduceat(scale, start[:-1])
    x = np.add.reduceat(weight * alone, start[:-1]).clip(low, high)
    is_open = high - low > tolerance
    for _ in range(MOST_STEPS):
        own = np.flatnonzero(is_open[owner])
        if own.size == 0:
            break
        who = owner[own]
        gap = (x[who] - mean[own]) / scale[own]
        above = np.bincount(who, weight[own] * student_cdf(freedom[own], gap), start.size - 1) - level
        slope = np.bincount(who, weight[own] / scale[own] * student_density(freedom[own], gap), start.size - 1)
        low, high = np.where(is_open & (above < 0.0), x, low), np.where(is_open & (above >= 0.0), x, high)
        newton = x - above / np.where(slope > 0.0, slope, 1.0)
        is_inside = (slope > 0.0) & (newton > low) & (newton < high)
        moved = np.where(is_open, np.where(is_inside, newton, 0.5 * (low + high)), x)
        is_open &= (np.abs(moved - x) > tolerance + 4e-16 * np.abs(x)) & (high > low)
        x = moved
    return x


@kernel
def gaussian_entropies(prior, column, start, log_weight, stats, numbers, terms):
    """-sum_k w_k E_k[log p(x)] by the trapezoidal rule over x = mean_k + scale_k sinh(u)."""
    out, most = np.zeros(column.size), 1
    for cell in range(column.size):
        most = max(most, start[cell + 1] - start[cell])
    peaks, logs = np.empty(most), np.empty(most)
    for cell in range(column.size):
        j, low, n, mass = column[cell], start[cell], start[cell + 1] - start[cell], 0.0
        for t in range(n):
            at = low + t
            p = numbers_of(prior.params, j, numbers, at)
            mode = column_log_predictive(prior.family[j], stats[at], 0, 3, terms[0, at], p)
            peaks[t] = log_weight[at] + mode
        for k in range(n):
            if log_weight[low + k] < LIGHTEST_TERM:
                continue
            mean, scale = terms[0, low + k], terms[1, low + k]
            half = int(min(40.0, 4.0 + 36.0 / terms[2, low + k]) / MESH_STEP)
            for point in range(-half, half + 1):
                u = point * MESH_STEP
                x = mean + scale * math.sinh(u)
                for t in range(n):
                    logs[t] = peaks[t] + log_fall(x, terms[0, low + t], terms[1, low + t], terms[2, low + t])
                share = math.exp(logs[k]) * scale * math.cosh(u) * MESH_STEP
                mass += share
                if share > 0.0:
                    out[cell] -= share * log_sum(logs[:n])
        out[cell] /= mass
    return out


@kernel
def log_fall(x, mean, scale, freedom):
    """How far the log density at x is below that at the mean."""
    square = ((x - mean) / scale) ** 2
    if freedom == np.inf:
        return -0.5 * square
    return -0.5 * (freedom + 1.0) * math.log1p(square / freedom)

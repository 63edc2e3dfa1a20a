"""What components are: densities of a datum under each, and what they keep of their data.

Generic functions on the type of the distribution: `SampledMeans` keeps drawn means of spherical Gaussians, `Collapsed`
keeps statistics of any conjugate likelihood and uses its predictive densities.
"""

import math

import numpy as np

from bayesgrove.core.generic import generic
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods import contract
from bayesgrove.models.nested.state import REMAINDER
from bayesgrove.models.nested.target import BASE_VARIANCE, COMPONENT_VARIANCE, Collapsed, SampledMeans
from bayesgrove.stats.special import LOG_2PI


@generic
def row_width(law, data):
    """Length of what is kept of a component."""


@generic
def fill_scores(law, data, datum, values, rows, in_use, top, out):
    """Log density of a datum under each slot below `top` to `out`; under a new component in slot 0; -inf if free."""


@generic
def join_row(law, data, datum, rows, slot):
    """A datum joins a component."""


@generic
def leave_row(law, data, datum, rows, slot):
    """A datum leaves a component."""


@generic
def open_row(law, rng, data, datum, values, rows, slot):
    """What is kept of a new component, before its first datum joins it."""


@generic
def fill_rows(law, data, component, top, rows):
    """Compute again what follows from the data alone."""


@generic
def draw_rows(law, rng, data, values, component, size, in_use, top, rows):
    """Draw the parameters of all components in use given their data, where they are kept."""


@generic
def log_density_rows(law, data, values, component, in_use, top, rows):
    """Log density of all data given the components (parameters kept, or integrated out)."""


@generic
def log_prior_rows(law, values, in_use, top, rows):
    """Log prior density of the parameters kept."""


@borrower
def log_gaussian(squared_distance, width, variance):
    """Log density of a spherical Gaussian at a squared distance from its mean."""
    return -0.5 * (squared_distance / variance + width * (LOG_2PI + math.log(variance)))


@borrower
def squared_distance(data, datum, rows, slot):
    """Between a datum and a mean."""
    total = 0.0
    for j in range(data.shape[1]):
        difference = data[datum, j] - rows[slot, j]
        total += difference * difference
    return total


@row_width.register(SampledMeans)
def sampled_row_width(law, data):
    """The mean."""
    return data.shape[1]


@fill_scores.register(SampledMeans)
def sampled_fill_scores(law, data, datum, values, rows, in_use, top, out):
    """N(x; theta_k, s2 I) and N(x; 0, (s2 + h2) I)."""
    width, variance = data.shape[1], values[COMPONENT_VARIANCE]
    out[REMAINDER] = log_gaussian(law.squared_norm[datum], width, variance + values[BASE_VARIANCE])
    constant, scale = log_gaussian(0.0, width, variance), -0.5 / variance
    for k in range(1, top):
        out[k] = constant + scale * squared_distance(data, datum, rows, k) if in_use[k] else -np.inf


@join_row.register(SampledMeans)
def sampled_join_row(law, data, datum, rows, slot):
    """Means do not change with their data."""


@leave_row.register(SampledMeans)
def sampled_leave_row(law, data, datum, rows, slot):
    """Means do not change with their data."""


@open_row.register(SampledMeans)
def sampled_open_row(law, rng, data, datum, values, rows, slot):
    """theta ~ N(x h2 / (h2 + s2), h2 s2 / (h2 + s2) I)."""
    variance, base = values[COMPONENT_VARIANCE], values[BASE_VARIANCE]
    shrink = base / (base + variance)
    deviation = math.sqrt(variance * shrink)
    for j in range(data.shape[1]):
        rows[slot, j] = shrink * data[datum, j] + deviation * rng.standard_normal()


@fill_rows.register(SampledMeans)
def sampled_fill_rows(law, data, component, top, rows):
    """Means are not functions of the data."""


@draw_rows.register(SampledMeans)
def sampled_draw_rows(law, rng, data, values, component, size, in_use, top, rows):
    """theta_k ~ N((sum x / s2) / (n_k / s2 + 1 / h2), I / (n_k / s2 + 1 / h2))."""
    width, variance, base = data.shape[1], values[COMPONENT_VARIANCE], values[BASE_VARIANCE]
    for k in range(1, top):
        for j in range(width):
            rows[k, j] = 0.0
    for datum in range(component.size):
        k = component[datum]
        for j in range(width):
            rows[k, j] += data[datum, j]
    for k in range(1, top):
        if in_use[k]:
            precision = size[k] / variance + 1.0 / base
            for j in range(width):
                rows[k, j] = rows[k, j] / variance / precision + rng.standard_normal() / math.sqrt(precision)


@log_density_rows.register(SampledMeans)
def sampled_log_density_rows(law, data, values, component, in_use, top, rows):
    """Sum of N(x_n; theta_{c_n}, s2 I)."""
    width, variance = data.shape[1], values[COMPONENT_VARIANCE]
    total = component.size * log_gaussian(0.0, width, variance)
    for datum in range(component.size):
        total -= 0.5 * squared_distance(data, datum, rows, component[datum]) / variance
    return total


@log_prior_rows.register(SampledMeans)
def sampled_log_prior_rows(law, values, in_use, top, rows):
    """Sum of N(theta_k; 0, h2 I)."""
    total = 0.0
    for k in range(1, top):
        if in_use[k]:
            norm = 0.0
            for j in range(rows.shape[1]):
                norm += rows[k, j] * rows[k, j]
            total += log_gaussian(norm, rows.shape[1], values[BASE_VARIANCE])
    return total


@row_width.register(Collapsed)
def collapsed_row_width(law, data):
    """Statistics of the likelihood."""
    return contract.n_stats(law.prior)


@fill_scores.register(Collapsed)
def collapsed_fill_scores(law, data, datum, values, rows, in_use, top, out):
    """Predictive densities."""
    out[REMAINDER] = law.alone[datum]
    for k in range(1, top):
        out[k] = contract.log_predictive(law.prior, rows[k], data[datum]) if in_use[k] else -np.inf


@join_row.register(Collapsed)
def collapsed_join_row(law, data, datum, rows, slot):
    """Into the statistics."""
    contract.add(law.prior, rows[slot], data[datum])


@leave_row.register(Collapsed)
def collapsed_leave_row(law, data, datum, rows, slot):
    """Out of the statistics."""
    contract.remove(law.prior, rows[slot], data[datum])


@open_row.register(Collapsed)
def collapsed_open_row(law, rng, data, datum, values, rows, slot):
    """Zeros are the empty cluster."""
    for s in range(rows.shape[1]):
        rows[slot, s] = 0.0


@fill_rows.register(Collapsed)
def collapsed_fill_rows(law, data, component, top, rows):
    """The statistics, so that rounding errors do not pile up."""
    for k in range(1, top):
        for s in range(rows.shape[1]):
            rows[k, s] = 0.0
    for datum in range(component.size):
        contract.add(law.prior, rows[component[datum]], data[datum])


@draw_rows.register(Collapsed)
def collapsed_draw_rows(law, rng, data, values, component, size, in_use, top, rows):
    """Nothing is kept that could be drawn."""


@log_density_rows.register(Collapsed)
def collapsed_log_density_rows(law, data, values, component, in_use, top, rows):
    """Sum of the components' log marginals."""
    total = 0.0
    for k in range(1, top):
        if in_use[k]:
            total += contract.log_marginal(law.prior, rows[k])
    return total


@log_prior_rows.register(Collapsed)
def collapsed_log_prior_rows(law, values, in_use, top, rows):
    """Parameters are integrated out."""
    return 0.0


@kernel
def densities_alone(prior, data):
    """Log density of each datum as a component of its own."""
    alone, empty = np.empty(data.shape[0]), np.zeros(contract.n_stats(prior))
    for datum in range(data.shape[0]):
        alone[datum] = contract.log_predictive(prior, empty, data[datum])
    return alone


def collapsed(prior, data):
    """The distribution of components of a conjugate likelihood."""
    return Collapsed(prior, densities_alone(prior, np.ascontiguousarray(data, float)))

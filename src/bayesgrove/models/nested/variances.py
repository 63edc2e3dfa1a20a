"""Draws of the variances under inverse Gamma priors."""

import math

from bayesgrove.core.jit import borrower
from bayesgrove.models.nested.component_models import squared_distance
from bayesgrove.models.nested.target import BASE_VARIANCE, COMPONENT_VARIANCE

LEAST, MOST = 1e-150, 1e150


@borrower
def draw_inverse_gamma(rng, shape, scale):
    """An inverse Gamma variate, kept away from 0 and infinity."""
    return min(max(scale / rng.standard_gamma(shape), LEAST), MOST)


@borrower
def draw_variances(rng, data, values, hyperpriors, component, in_use, top, rows):
    """s2 ~ IG(a + ND/2, b + sum |x - theta|^2 / 2), h2 ~ IG(a + KD/2, b + sum |theta|^2 / 2), where they are free."""
    if not math.isnan(hyperpriors[COMPONENT_VARIANCE, 0]):
        total = 0.0
        for datum in range(component.size):
            total += squared_distance(data, datum, rows, component[datum])
        shape = hyperpriors[COMPONENT_VARIANCE, 0] + 0.5 * data.size
        scale = hyperpriors[COMPONENT_VARIANCE, 1] + 0.5 * total
        values[COMPONENT_VARIANCE] = draw_inverse_gamma(rng, shape, scale)
    if not math.isnan(hyperpriors[BASE_VARIANCE, 0]):
        shape, scale = hyperpriors[BASE_VARIANCE, 0], hyperpriors[BASE_VARIANCE, 1]
        for k in range(1, top):
            if in_use[k]:
                shape += 0.5 * data.shape[1]
                for j in range(data.shape[1]):
                    scale += 0.5 * rows[k, j] * rows[k, j]
        values[BASE_VARIANCE] = draw_inverse_gamma(rng, shape, scale)

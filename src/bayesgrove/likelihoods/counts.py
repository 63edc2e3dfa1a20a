"""What Bernoulli, binomial, categorical and multinomial columns share: counts under a Dirichlet prior.

With weights alpha_k and counts c_k, log marginal = sum_k [lgamma(alpha_k + c_k) - lgamma(alpha_k)]
- [lgamma(sum alpha + sum c) - lgamma(sum alpha)], that is `log_rising` of each weight minus that of their
sum. Counts add, so removing is exact.

The weights of a row stand at `alpha[at + step * k]`: step 1 reads one weight per category, step 0 the same
weight for all of them.
"""

import math

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.family import SPREAD
from bayesgrove.stats.special import digamma, log_rising


@borrower
def merge_sums(out, a, b, start, stop):
    """Add the statistics start .. stop - 1 of two clusters; `out` may be `a` or `b`."""
    for i in range(start, stop):
        out[i] = a[i] + b[i]


@kernel
def digamma_rise(x, count):
    """Derivative of log_rising(x, count) by log x."""
    if count == 0.0:
        return 0.0
    return x * (digamma(x + count) - digamma(x))


@kernel
def beta_log_marginal(failures, successes, a, b):
    """Log marginal of a sequence of failures and successes under Beta(a, b), `a` the weight of success."""
    return log_rising(a, successes) + log_rising(b, failures) - log_rising(a + b, failures + successes)


@kernel
def beta_log_gradient(failures, successes, a, b):
    """Derivatives of `beta_log_marginal` by log a and log b."""
    by_sum = digamma_rise(a + b, failures + successes) / (a + b)
    return digamma_rise(a, successes) - a * by_sum, digamma_rise(b, failures) - b * by_sum


@kernel
def log_choose(n, k):
    """Log of the binomial coefficient."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def dirichlet_log_marginal(row, start, stop, alpha, at, step):
    """Log marginal of the counts row[start:stop]."""
    total, weights, counts = 0.0, 0.0, 0.0
    for i in range(start, stop):
        weight = alpha[at + step * (i - start)]
        weights += weight
        counts += row[i]
        total += log_rising(weight, row[i])
    return total - log_rising(weights, counts)


@kernel
def dirichlet_log_predictive(row, start, stop, code, alpha, at, step):
    """Log probability that the next category is `code`."""
    total = 0.0
    for i in range(start, stop):
        total += row[i] + alpha[at + step * (i - start)]
    return math.log((row[start + code] + alpha[at + step * code]) / total)


@kernel
def dirichlet_log_gradient(row, start, stop, alpha, at, step):
    """Derivative of `dirichlet_log_marginal` by the log of one factor on all weights."""
    total, weights, counts = 0.0, 0.0, 0.0
    for i in range(start, stop):
        weight = alpha[at + step * (i - start)]
        weights += weight
        counts += row[i]
        total += digamma_rise(weight, row[i])
    return total - digamma_rise(weights, counts)


@kernel
def draw_dirichlet(rng, row, start, stop, alpha, at, step, out):
    """Write posterior probabilities to out[start:stop].

    Gamma(w) is drawn as Gamma(w + 1) U**(1 / w) on the log scale: for small weights all plain gammas may
    be zero.
    """
    top = -math.inf
    for i in range(start, stop):
        weight = row[i] + alpha[at + step * (i - start)]
        out[i] = math.log(rng.gamma(weight + 1.0, 1.0)) - rng.exponential(1.0) / weight
        top = max(top, out[i])
    total = 0.0
    for i in range(start, stop):
        out[i] = math.exp(out[i] - top)
        total += out[i]
    for i in range(start, stop):
        out[i] /= total


@kernel
def draw_code(rng, params, start, stop):
    """Draw a category from the probabilities params[start:stop]."""
    left = rng.random()
    for i in range(start, stop - 1):
        left -= params[i]
        if left < 0.0:
            return float(i - start)
    return float(stop - 1 - start)


# What columns of codes and columns of successes share as families: see `family`.


@borrower
def add_one(row, at, x, fixed):
    """Count category `x` in the counts that start at `at`, not a NaN; nothing is fixed."""
    if not math.isnan(x):
        row[at + int(x)] += 1.0


@borrower
def remove_one(row, at, x, fixed):
    """Take one out."""
    if not math.isnan(x):
        row[at + int(x)] -= 1.0


@kernel
def beta_moments(trials, a, b):
    """Mean and variance of a beta-binomial number of successes."""
    chance = a / (a + b)
    return trials * chance, trials * chance * (1.0 - chance) * (a + b + trials) / (a + b + 1.0)


@kernel
def beta_coordinate(a, b, which):
    """Logit of the mean of Beta(a, b), or log of its strength."""
    return math.log(a) - math.log(b) if which == 0 else math.log(a + b)


@kernel
def with_beta_coordinate(a, b, which, value):
    """`a` and `b` with one of them changed."""
    logit = value if which == 0 else beta_coordinate(a, b, 0)
    strength = math.exp(value) if which == 1 else a + b
    return strength / (1.0 + math.exp(-logit)), strength / (1.0 + math.exp(logit))


def beta_normals(cells, mean, variance):
    """Hyperpriors of the logit, whose mean is uniform, and of the log strength."""
    return [(0.0, SPREAD), (math.log(2.0), SPREAD)]

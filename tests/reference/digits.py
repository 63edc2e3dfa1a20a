"""Log marginals and log odds in 50 digits, straight from the formulas; call inside `mpmath.workdps(50)`."""

from mpmath import binomial as choose
from mpmath import exp, factorial, log, loggamma, mpf, pi

from reference.bhc import items_of_nodes
from reference.likelihoods import N_NUMBERS, observed


def log_beta(a, b):
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def bernoulli(cells, a, b):
    return log_beta(a + sum(cells), b + len(cells) - sum(cells)) - log_beta(a, b)


def binomial(cells, n_trials, a, b):
    ways = sum(log(choose(n_trials, x)) for x in cells)
    return log_beta(a + sum(cells), b + len(cells) * n_trials - sum(cells)) - log_beta(a, b) + ways


def categorical(cells, n_categories, alpha):
    counts = [cells.count(k) for k in range(n_categories)]
    rises = sum(loggamma(alpha + count) - loggamma(alpha) for count in counts)
    return rises + loggamma(n_categories * alpha) - loggamma(n_categories * alpha + len(cells))


def poisson(cells, a, b):
    total = sum(cells)
    ways = sum(log(factorial(x)) for x in cells)
    return a * log(b) - loggamma(a) + loggamma(a + total) - (a + total) * log(b + len(cells)) - ways


def gaussian(cells, m, kappa, a, b, grain=0):
    n = len(cells)
    if n == 0:
        return mpf(0)
    mean = sum(cells) / n
    spread = sum((x - mean) ** 2 for x in cells) + n * grain
    a_n, kappa_n = a + mpf(n) / 2, kappa + n
    b_n = b + spread / 2 + kappa * n * (mean - m) ** 2 / (2 * kappa_n)
    constant = loggamma(a_n) - loggamma(a) + log(kappa / kappa_n) / 2 - mpf(n) / 2 * log(2 * pi)
    return constant + a * log(b) - a_n * log(b_n)


def gaussian_known(cells, variance, prior_mean, prior_variance):
    n = len(cells)
    gaps = [x - prior_mean for x in cells]
    share = prior_variance / (variance + n * prior_variance)
    distance = (sum(gap**2 for gap in gaps) - share * sum(gaps) ** 2) / variance
    return -(n * log(2 * pi * variance) + log(1 + n * prior_variance / variance) + distance) / 2


COLUMN_FAMILIES = (gaussian_known, gaussian, bernoulli, binomial, categorical, poisson)
CODES = {"gaussian": 1, "bernoulli": 2, "poisson": 5}


def column_numbers(name, prior, j):
    """Family and numbers of column j."""
    if name != "columns":
        return CODES[name], [mpf(float(numbers[j])) for numbers in prior]
    code = int(prior.family[j])
    numbers = [mpf(x) for x in prior.params[j][: N_NUMBERS[code]].tolist()]
    return code, [int(prior.start[j + 1] - prior.start[j]), *numbers] if code == 4 else numbers


def log_marginal(name, prior, values):
    """Log marginal of all rows as one cluster."""
    total = mpf(0)
    for j in range(values.shape[1]):
        code, numbers = column_numbers(name, prior, j)
        total += COLUMN_FAMILIES[code]([mpf(x) for x in observed(values, j)], *numbers)
    return total


def follow(name, prior, values, concentration, children):
    """Log odds of the merges given and the bound of their tree."""
    items, alpha, n = items_of_nodes(children), mpf(concentration), len(values)
    log_one = [log(alpha) + loggamma(len(own)) + log_marginal(name, prior, values[sorted(own)]) for own in items]
    log_q, log_odds = log_one[:n], []
    for t, (a, b) in enumerate(children):
        apart = log_q[a] + log_q[b]
        log_odds.append(log_one[n + t] - apart)
        log_q.append(log(exp(log_one[n + t]) + exp(apart)))
    return log_odds, log_q[-1] + loggamma(alpha) - loggamma(n + alpha)

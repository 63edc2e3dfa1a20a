"""Slow, clear twins of the likelihoods: log marginals from raw data, straight from the formulas."""

import math

import numpy as np


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def bernoulli(cells, a, b):
    ones = sum(cells)
    return log_beta(a + ones, b + len(cells) - ones) - log_beta(a, b)


def binomial(cells, n_trials, a, b):
    total = sum(cells)
    coefficients = math.fsum(math.log(math.comb(int(n_trials), int(x))) for x in cells)
    return log_beta(a + total, b + len(cells) * n_trials - total) - log_beta(a, b) + coefficients


def categorical(cells, n_categories, alpha):
    result = math.lgamma(n_categories * alpha) - math.lgamma(n_categories * alpha + len(cells))
    for category in range(n_categories):
        count = sum(1 for x in cells if x == category)
        result += math.lgamma(alpha + count) - math.lgamma(alpha)
    return result


def poisson(cells, a, b):
    total = sum(cells)
    factorials = math.fsum(math.log(math.factorial(int(x))) for x in cells)
    return (
        a * math.log(b) - math.lgamma(a) + math.lgamma(a + total) - (a + total) * math.log(b + len(cells)) - factorials
    )


def negative_binomial(cells, r, a, b):
    """Beta functions of what was seen and of the prior; x failures come before success r, in any order."""
    ways = math.fsum(math.lgamma(x + r) - math.lgamma(r) - math.lgamma(x + 1) for x in cells)
    return log_beta(a + r * len(cells), b + sum(cells)) - log_beta(a, b) + ways


def gaussian(cells, m, kappa, a, b, grain=0.0):
    n = len(cells)
    if n == 0:
        return 0.0
    mean = math.fsum(cells) / n
    spread = math.fsum((x - mean) ** 2 for x in cells) + n * grain  # grain: variance of a cell's rounding
    a_n, kappa_n = a + n / 2, kappa + n
    b_n = b + spread / 2 + kappa * n * (mean - m) ** 2 / (2 * kappa_n)
    return (
        math.lgamma(a_n)
        - math.lgamma(a)
        + a * math.log(b)
        - a_n * math.log(b_n)
        + (math.log(kappa) - math.log(kappa_n)) / 2
        - n / 2 * math.log(2 * math.pi)
    )


def log_gaussian(cells, m, kappa, a, b, grain=0.0):
    """Logs are Gaussian; the density of a cell is that of its log over the cell. grain: variance of its rounding."""
    n = len(cells)
    if n == 0:
        return 0.0
    logs = [math.log(x) for x in cells]
    rounding = math.fsum(min(grain / x**2, 1 / 12) for x in cells)  # of the logs
    return gaussian(logs, m, kappa, a, b, rounding / n) - math.fsum(logs) + rounding / 2


def zero_inflated(cells, m, kappa, a, b, grain=0.0):
    positive = [x for x in cells if x > 0]
    return bernoulli([float(x > 0) for x in cells], 0.5, 0.5) + log_gaussian(positive, m, kappa, a, b, grain)


def ordered_probabilities(n_levels):
    """Probabilities of the levels at every point of the grid of locations and scales, one row each."""
    scales = [0.35 * (max(n_levels, 2) / 0.35) ** (k / 5) for k in range(6)]
    rows = []
    for location in np.arange(-1.0, n_levels + 0.25, 0.5):
        for scale in scales:
            weights = [math.exp(-((k - location) ** 2) / (2 * scale**2)) for k in range(n_levels)]
            rows.append([weight / math.fsum(weights) for weight in weights])
    return rows


def ordinal(cells, n_levels, pseudo_count, flexibility):
    """A mixture of the points of the grid and of all probabilities."""
    if not cells:
        return 0.0
    points = [math.fsum(math.log(row[int(x)]) for x in cells) for row in ordered_probabilities(n_levels)]
    ordered = float(np.logaddexp.reduce(points)) - math.log(len(points))
    free = categorical(cells, n_levels, pseudo_count) + math.log(flexibility)
    return float(np.logaddexp(ordered, free)) - math.log1p(flexibility)


def gaussian_known(cells, variance, prior_mean, prior_variance):
    """The cells are jointly normal with covariance variance I + prior_variance 11'."""
    n = len(cells)
    if n == 0:
        return 0.0
    covariance = variance * np.eye(n) + prior_variance * np.ones((n, n))
    gap = np.array(cells) - prior_mean
    distance = gap @ np.linalg.solve(covariance, gap)
    return float(-0.5 * (n * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1] + distance))


def log_multivariate_gamma(x, d):
    return d * (d - 1) / 4 * math.log(math.pi) + math.fsum(math.lgamma(x - j / 2) for j in range(d))


def gaussian_full(rows, mean, kappa, nu, scale, log_determinant=None, grain=(), columns=()):
    n, d = len(rows), len(mean)
    assert log_determinant is None or np.isclose(log_determinant, np.linalg.slogdet(scale)[1])
    if n == 0:
        return 0.0
    data = np.array(rows)[:, columns] if len(columns) else np.array(rows)
    centre = data.mean(axis=0)
    scatter = sum((np.outer(x - centre, x - centre) for x in data), np.zeros((d, d)))
    if len(grain):
        scatter = scatter + n * np.diag(grain)
    kappa_n, nu_n = kappa + n, nu + n
    scale_n = scale + scatter + kappa * n / kappa_n * np.outer(centre - mean, centre - mean)
    return float(
        -n * d / 2 * math.log(math.pi)
        + log_multivariate_gamma(nu_n / 2, d)
        - log_multivariate_gamma(nu / 2, d)
        + nu / 2 * np.linalg.slogdet(scale)[1]
        - nu_n / 2 * np.linalg.slogdet(scale_n)[1]
        + d / 2 * math.log(kappa / kappa_n)
    )


def multinomial(rows, alpha):
    result = math.lgamma(sum(alpha))
    total = 0
    for k, weight in enumerate(alpha):
        count = sum(row[k] for row in rows)
        total += count
        result += math.lgamma(weight + count) - math.lgamma(weight)
    result -= math.lgamma(sum(alpha) + total)
    for row in rows:
        ways = math.factorial(int(sum(row)))
        for x in row:
            ways //= math.factorial(int(x))
        result += math.log(ways)
    return result


COLUMN_FAMILIES = (
    *(gaussian_known, gaussian, bernoulli, binomial, categorical, poisson),
    *(negative_binomial, log_gaussian, zero_inflated, ordinal),
)
N_NUMBERS = (3, 4, 2, 3, 1, 2, 3, 4, 4, 2)
GRAINED, CODED = (1, 7, 8), (4, 9)
"""Codes of families that know rounded cells, and of those with a count per category."""


def observed(values, j):
    return [x for x in values[:, j].tolist() if not math.isnan(x)]


def of_columns(values, family, params, start, grain=()):
    """Sum over columns of the family each one names by its code."""
    total = 0.0
    for j, code in enumerate(family):
        numbers = params[j][: N_NUMBERS[code]].tolist()
        if code in CODED:
            numbers.insert(0, int(start[j + 1] - start[j]))
        if code in GRAINED and len(grain):
            numbers.append(float(grain[j]))
        total += COLUMN_FAMILIES[code](observed(values, j), *numbers)
    return total


def log_marginal(name, prior, values):
    """Log marginal of all rows as one cluster, for the prior of a likelihood's name."""
    values = np.asarray(values, float)
    if name in ("gaussian-full", "gaussian-full-rounded", "multinomial"):
        rows = [row for row in values.tolist() if not math.isnan(row[0])]
        return multinomial(rows, prior[0]) if name == "multinomial" else gaussian_full(rows, *prior)
    if name.startswith("columns"):
        return of_columns(values, *prior)
    if name == "categorical":
        sizes = np.diff(prior.start).tolist()
        return sum(categorical(observed(values, j), sizes[j], prior.pseudo_count[j]) for j in range(len(sizes)))
    family = {
        "gaussian-known-variance": gaussian_known,
        "gaussian": gaussian,
        "gaussian-rounded": gaussian,
        "bernoulli": bernoulli,
        "binomial": binomial,
        "poisson": poisson,
    }[name]
    return sum(family(observed(values, j), *(float(numbers[j]) for numbers in prior)) for j in range(values.shape[1]))

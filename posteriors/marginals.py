"""Log probabilities of one column's cells in one cluster, parameters integrated out; each in two ways.

`log_marginal` is the closed form. `log_chain` multiplies predictive densities, one cell after the other, whose
formulas (Student t, beta-binomial, negative binomial, ...) have nothing in common with it: they check each other.
A column is a mapping with its "family" and the numbers the constructor of that likelihood takes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Cells = Sequence[float]
Column = Mapping[str, Any]


def observed(cells: Sequence[float | None]) -> list[float]:
    """Cells that are not missing."""
    return [x for x in cells if x is not None]


def log_marginal(column: Column, cells: Sequence[float | None]) -> float:
    """Log of the density of the observed cells as one cluster."""
    return CLOSED[column["family"]](observed(cells), column)


def log_chain(column: Column, cells: Sequence[float | None]) -> float:
    """The same as a sum of log predictive densities."""
    known = observed(cells)
    predictive = PREDICTIVE[column["family"]]
    return math.fsum(predictive(known[:i], x, column) for i, x in enumerate(known))


# Closed forms


def log_beta(a: float, b: float) -> float:
    """Log of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def bernoulli(cells: Cells, column: Column) -> float:
    """B(a + ones, b + zeros) / B(a, b)."""
    a, b, ones = column["a"], column["b"], sum(cells)
    return log_beta(a + ones, b + len(cells) - ones) - log_beta(a, b)


def categorical(cells: Cells, column: Column) -> float:
    """Dirichlet-multinomial of a sequence, all pseudo-counts alike."""
    size, pseudo = column["n_categories"], column["pseudo_count"]
    counts = [sum(1 for x in cells if x == category) for category in range(size)]
    rise = math.fsum(math.lgamma(pseudo + count) - math.lgamma(pseudo) for count in counts)
    return rise + math.lgamma(size * pseudo) - math.lgamma(size * pseudo + len(cells))


def poisson(cells: Cells, column: Column) -> float:
    """Gamma-Poisson with the factorials."""
    shape, rate, total = column["shape"], column["rate"], sum(cells)
    base = shape * math.log(rate) - math.lgamma(shape) - math.fsum(math.lgamma(x + 1.0) for x in cells)
    return base + math.lgamma(shape + total) - (shape + total) * math.log(rate + len(cells))


def gaussian(cells: Cells, column: Column) -> float:
    """Normal with normal-gamma prior: mean, strength (kappa), shape and rate of the precision."""
    n, mean, strength, shape, rate = len(cells), *(column[name] for name in ("mean", "strength", "shape", "rate"))
    if n == 0:
        return 0.0
    centre = math.fsum(cells) / n
    spread = math.fsum((x - centre) ** 2 for x in cells)
    rate_after = rate + 0.5 * spread + 0.5 * strength * n / (strength + n) * (centre - mean) ** 2
    shape_after = shape + 0.5 * n
    gammas = math.lgamma(shape_after) - math.lgamma(shape) + 0.5 * math.log(strength / (strength + n))
    return gammas + shape * math.log(rate) - shape_after * math.log(rate_after) - 0.5 * n * math.log(2.0 * math.pi)


def gaussian_known(cells: Cells, column: Column) -> float:
    """Normal with known variance: covariance variance I + prior_variance 11', inverted by hand."""
    n, variance, prior = len(cells), column["variance"], column["prior_variance"]
    gaps = [x - column["prior_mean"] for x in cells]
    inflated = variance + n * prior
    distance = (math.fsum(g * g for g in gaps) - prior / inflated * math.fsum(gaps) ** 2) / variance
    log_determinant = (n - 1) * math.log(variance) + math.log(inflated) if n else 0.0
    return -0.5 * (n * math.log(2.0 * math.pi) + log_determinant + distance)


# Predictive densities of one more cell


def next_bernoulli(before: Cells, x: float, column: Column) -> float:
    """Share of ones, with pseudo-counts."""
    share = (column["a"] + sum(before)) / (column["a"] + column["b"] + len(before))
    return math.log(share if x == 1 else 1.0 - share)


def next_categorical(before: Cells, x: float, column: Column) -> float:
    """Share of the category, with pseudo-counts."""
    pseudo = column["pseudo_count"]
    return math.log((pseudo + list(before).count(x)) / (pseudo * column["n_categories"] + len(before)))


def next_poisson(before: Cells, x: float, column: Column) -> float:
    """Negative binomial."""
    shape, rate = column["shape"] + sum(before), column["rate"] + len(before)
    ways = math.lgamma(shape + x) - math.lgamma(shape) - math.lgamma(x + 1.0)
    return ways + shape * math.log(rate / (rate + 1.0)) - x * math.log(rate + 1.0)


def next_gaussian(before: Cells, x: float, column: Column) -> float:
    """Student t, the numbers of the prior updated cell by cell."""
    mean, strength, shape, rate = (column[name] for name in ("mean", "strength", "shape", "rate"))
    for y in before:
        rate += 0.5 * strength / (strength + 1.0) * (y - mean) ** 2
        mean, strength, shape = (strength * mean + y) / (strength + 1.0), strength + 1.0, shape + 0.5
    degrees, scale = 2.0 * shape, math.sqrt(rate * (strength + 1.0) / (shape * strength))
    log_norm = math.lgamma(0.5 * (degrees + 1.0)) - math.lgamma(0.5 * degrees) - 0.5 * math.log(degrees * math.pi)
    return log_norm - math.log(scale) - 0.5 * (degrees + 1.0) * math.log1p(((x - mean) / scale) ** 2 / degrees)


def next_gaussian_known(before: Cells, x: float, column: Column) -> float:
    """Normal around the posterior mean."""
    mean, spread, variance = column["prior_mean"], column["prior_variance"], column["variance"]
    for y in before:
        gain = spread / (spread + variance)
        mean, spread = mean + gain * (y - mean), spread * (1.0 - gain)
    total = spread + variance
    return -0.5 * (math.log(2.0 * math.pi * total) + (x - mean) ** 2 / total)


CLOSED: dict[str, Callable[[Cells, Column], float]] = {
    "Bernoulli": bernoulli,
    "Categorical": categorical,
    "GaussianDiagonal": gaussian,
    "GaussianKnownVariance": gaussian_known,
    "Poisson": poisson,
}
PREDICTIVE: dict[str, Callable[[Cells, float, Column], float]] = {
    "Bernoulli": next_bernoulli,
    "Categorical": next_categorical,
    "GaussianDiagonal": next_gaussian,
    "GaussianKnownVariance": next_gaussian_known,
    "Poisson": next_poisson,
}


def table_marginal(rows: Sequence[Sequence[float | None]], columns: Sequence[Column], way=log_marginal):
    """A function of a tuple of row numbers: their log marginal over all columns, remembered."""
    found: dict[tuple[int, ...], float] = {}

    def of_block(block: tuple[int, ...]) -> float:
        if block not in found:
            parts = (way(column, [rows[i][j] for i in block]) for j, column in enumerate(columns))
            found[block] = math.fsum(parts)
        return found[block]

    return of_block

"""Components whose rows belong to them in shares: the densities that `unions` looks for valleys in.

A partition puts each row into one component, which cuts off the tails of components that overlap: they seem narrower
than they are, and the density between them seems to have valleys. Shares of rows in components,
share_ik ~ n_k N(x_i; mean_k, covariance_k), and means and covariances from these shares and the prior, are computed in
turn until they agree (expectation maximisation). Components then have their tails.
"""

from typing import Any

import numpy as np

from bayesgrove.agglomeration.unions import Components, log_gaussians
from bayesgrove.core.generic import generic
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.moments import COUNT, MEAN, SPREAD, WIDTH

MOST_ROUNDS = 30
SETTLED = 1e-3
"""Largest change of a share after which rounds end."""
FEWEST_ROWS = 0.5
"""A component with less than this is dropped."""

GAUSSIAN_PRIORS = (GaussianDiagonalPrior, GaussianFullPrior)
"""Priors whose components have densities with peaks and valleys."""


@generic
def shared_statistics(prior, values, shares):
    """Statistics of components from shares of rows, (n_components, n_stats). Plain Python only."""


@generic
def closest_gaussians(prior, rows):
    """Means (k, d) and covariances (k, d, d) of the components' predictives, about. Plain Python only."""


@shared_statistics.register(GaussianDiagonalPrior)
def diagonal_statistics(prior, values, shares):
    """Weighted counts, means and spreads of the observed cells of each column."""
    seen = ~np.isnan(values)
    cells, k = np.where(seen, values, 0.0), shares.shape[1]
    count = shares.T @ seen
    mean = shares.T @ cells / np.maximum(count, 1e-300)
    spread = np.stack([shares[:, c] @ (seen * (cells - mean[c]) ** 2) for c in range(k)])
    rows = np.empty((k, WIDTH * values.shape[1]))
    rows[:, COUNT::WIDTH], rows[:, MEAN::WIDTH], rows[:, SPREAD::WIDTH] = count, mean, spread + count * prior.grain
    return rows


@shared_statistics.register(GaussianFullPrior)
def full_statistics(prior, values, shares):
    """Weighted counts, means and scatters of the columns in use."""
    values = values[:, prior.columns] if prior.columns.size else values
    k, d = shares.shape[1], values.shape[1]
    rows = np.empty((k, 1 + d + d * d))
    for c in range(k):
        count = shares[:, c].sum()
        mean = shares[:, c] @ values / max(count, 1e-300)
        gap = values - mean
        scatter = (shares[:, c, np.newaxis] * gap).T @ gap
        if prior.grain.size:
            scatter[np.diag_indices(d)] += count * prior.grain
        rows[c, 0], rows[c, 1 : 1 + d], rows[c, 1 + d :] = count, mean, scatter.ravel()
    return rows


@closest_gaussians.register(GaussianDiagonalPrior)
def diagonal_gaussians(prior, rows):
    """Posterior means, and posterior rates over shapes."""
    n, mean, spread = rows[:, COUNT::WIDTH], rows[:, MEAN::WIDTH], rows[:, SPREAD::WIDTH]
    strength = prior.strength + n
    rate = prior.rate + 0.5 * spread + 0.5 * prior.strength * n / strength * (mean - prior.mean) ** 2
    variance = rate / (prior.shape + 0.5 * n)
    centre = (prior.strength * prior.mean + n * mean) / strength
    return np.ascontiguousarray(centre), variance[:, :, np.newaxis] * np.eye(prior.mean.size)


@closest_gaussians.register(GaussianFullPrior)
def full_gaussians(prior, rows):
    """Posterior means, and posterior scales over degrees of freedom."""
    d, n = prior.mean.size, rows[:, 0]
    mean, scatter = rows[:, 1 : 1 + d], rows[:, 1 + d :].reshape(-1, d, d)
    gap, strength = mean - prior.mean, prior.strength + n
    pull = (prior.strength * n / strength)[:, np.newaxis, np.newaxis]
    scale = prior.scale + scatter + pull * gap[:, :, np.newaxis] * gap[:, np.newaxis, :]
    freedom = np.maximum(prior.dof + n - d, 1.0)
    return prior.mean + (n / strength)[:, np.newaxis] * gap, scale / freedom[:, np.newaxis, np.newaxis]


def fitted_components(prior: Any, values: np.ndarray, shares: np.ndarray) -> Components:
    """Gaussians of components that have these shares of the rows."""
    return Components(shares.sum(axis=0), *closest_gaussians(prior, shared_statistics(prior, values, shares)))


def shares_of_rows(components: Components, values: np.ndarray) -> np.ndarray:
    """Probability that each row belongs to each component, (n_rows, n_components)."""
    log_weight = log_gaussians(components, values) + np.log(components.sizes)
    return np.exp(log_weight - np.logaddexp.reduce(log_weight, axis=1, keepdims=True))


def soft_components(prior: Any, values: np.ndarray, labels: np.ndarray) -> tuple[Components, np.ndarray]:
    """Components with shares of the encoded rows, beginning with those of a partition, and the component of each row.

    Components to which no row mainly belongs are dropped, so that there may be fewer than in the partition.
    """
    shares = np.zeros((labels.size, int(labels.max()) + 1))
    shares[np.arange(labels.size), labels] = 1.0
    for _ in range(MOST_ROUNDS):
        shares = without_components(shares, shares.sum(axis=0) > FEWEST_ROWS)
        before, shares = shares, shares_of_rows(fitted_components(prior, values, shares), values)
        if np.abs(shares - before).max() < SETTLED:
            break
    home = shares.argmax(axis=1)
    kept = np.bincount(home, minlength=shares.shape[1]) > 0
    components = fitted_components(prior, values, without_components(shares, kept))
    return components, np.cumsum(kept)[home] - 1


def without_components(shares: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Shares in some of the components; those of each row sum to 1 again."""
    shares = shares[:, kept]
    return shares / shares.sum(axis=1, keepdims=True)

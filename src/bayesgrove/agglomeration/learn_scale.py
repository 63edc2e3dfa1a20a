"""The scale matrix of full covariances, learned from the clusters of a partition by expectation maximisation.

A tree's search learns three factors on a diagonal scale. Clusters of real data share correlations, so that the mean of
their covariances is the better centre of the prior: with many degrees of freedom it makes them nearly equal, with few
it leaves each its own. Given clusters of sizes n_k, means x_k and scatters C_k, with m the prior's mean, one step is

Psi_k = Psi + C_k + (kappa n_k / kappa_k) (x_k - m)(x_k - m)',  E_k = (nu + n_k) Psi_k^-1,  kappa_k = kappa + n_k,
kappa = K d / sum_k (r_k' E_k r_k + d / kappa_k),  r_k = (kappa m + n_k x_k) / kappa_k - m,
Psi = nu (mean_k E_k)^-1, and nu by a search of one dimension.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from bayesgrove.agglomeration.reassign import partition_log_joint
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior, full_prior, with_scale

N_STEPS = 20
STRENGTHS = (1e-4, 10.0)
LOG_FREEDOM = (-1.5, 5.0)
"""Limits of the log of nu - (d - 1)."""
LEAST_EIGENVALUE = 1e-5
"""Of the scale, relative to the largest."""


class Clusters(NamedTuple):
    """Sizes, means relative to the prior's, and scatters."""

    sizes: np.ndarray
    gaps: np.ndarray
    scatters: np.ndarray

    def scales(self, strength: float, scale: np.ndarray) -> np.ndarray:
        """Posterior scales, (k, d, d)."""
        pull = (strength * self.sizes / (strength + self.sizes))[:, np.newaxis, np.newaxis]
        return scale + self.scatters + pull * self.gaps[:, :, np.newaxis] * self.gaps[:, np.newaxis]

    def log_marginal(self, strength: float, dof: float, scale: np.ndarray) -> float:
        """Of all clusters, without what depends on nothing that is learned."""
        n, d = self.sizes, self.gaps.shape[1]
        after = np.linalg.slogdet(self.scales(strength, scale))[1]
        gammas = gammaln(0.5 * (dof + n[:, np.newaxis] - np.arange(d))) - gammaln(0.5 * (dof - np.arange(d)))
        before = dof * np.linalg.slogdet(scale)[1]
        return float(gammas.sum() + 0.5 * np.sum(before - (dof + n) * after - d * np.log1p(n / strength)))


def with_dependence(prior: Any, values: np.ndarray, labels: np.ndarray) -> Any:
    """A prior of full covariances for components of independent columns, where it explains them better; else as it is.

    Columns that depend on each other inside clusters are covered by ever more components with independent columns, and
    under these there are valleys between the pieces. Rows have to be complete, and to vary inside components in all
    directions.
    """
    d = values.shape[1]
    if not isinstance(prior, GaussianDiagonalPrior) or d < 2 or np.isnan(values).any():
        return prior
    inside = values - np.stack([values[labels == k].mean(axis=0) for k in range(int(labels.max()) + 1)])[labels]
    spread = np.linalg.eigvalsh(inside.T @ inside)
    if spread[0] <= LEAST_EIGENVALUE**2 * spread[-1]:
        return prior
    full = full_prior(prior.mean, float(prior.strength.mean()), d + 2.0, np.diag(prior.rate), prior.grain)
    full = learned_scale(full, values, labels)
    return full if log_joint(full, values, labels) > log_joint(prior, values, labels) else prior


def log_joint(prior: Any, values: np.ndarray, labels: np.ndarray) -> float:
    """Of a partition and its rows, without what does not depend on the prior."""
    rows, sizes = cluster_statistics(prior, values, labels, int(labels.max()) + 1)
    return float(partition_log_joint(prior, rows, sizes, 0.0))


def learned_scale(prior: GaussianFullPrior, values: np.ndarray, labels: np.ndarray) -> GaussianFullPrior:
    """The prior with strength, degrees of freedom and scale matrix learned from a partition of complete rows."""
    rows, sizes = cluster_statistics(prior, values, labels, int(labels.max()) + 1)
    d = prior.mean.size
    clusters = Clusters(sizes, rows[:, 1 : 1 + d] - prior.mean, rows[:, 1 + d :].reshape(-1, d, d))
    strength, dof, scale = prior.strength, prior.dof, prior.scale
    variances = values.var(axis=0)
    variances = np.where(variances > 0.0, variances, np.diag(scale))  # a constant column keeps its scale
    with single_threaded_blas():
        for _ in range(N_STEPS):
            strength, centre = one_step(clusters, strength, dof, scale, variances)
            dof = best_freedom(clusters, strength, centre)
            scale = dof * centre
    return with_scale(prior, np.ascontiguousarray(scale))._replace(strength=strength, dof=dof)


def one_step(
    clusters: Clusters, strength: float, dof: float, scale: np.ndarray, variances: np.ndarray
) -> tuple[float, np.ndarray]:
    """Strength, and the inverse of the clusters' mean precision."""
    sizes, gaps, _ = clusters
    k, d = gaps.shape
    precisions = (dof + sizes)[:, np.newaxis, np.newaxis] * np.linalg.inv(clusters.scales(strength, scale))
    moved = (sizes / (strength + sizes))[:, np.newaxis] * gaps
    spread = np.einsum("ki,kij,kj->", moved, precisions, moved) + np.sum(d / (strength + sizes))
    mean = precisions.mean(axis=0)
    if k < d + 2:  # few clusters: one more, of uncorrelated columns, keeps the mean regular
        mean = (k * mean + np.diag(1.0 / variances)) / (k + 1)
    values, vectors = np.linalg.eigh(np.linalg.inv(mean))
    centre = (vectors * np.maximum(values, LEAST_EIGENVALUE * values.max())) @ vectors.T
    return float(np.clip(k * d / spread, *STRENGTHS)), 0.5 * (centre + centre.T)


def best_freedom(clusters: Clusters, strength: float, centre: np.ndarray) -> float:
    """Degrees of freedom of highest marginal for a scale proportional to them; very many are slightly disfavoured."""
    d = centre.shape[0]

    def loss(log_room: float) -> float:
        room = math.exp(log_room)
        return room / (100.0 * d) - clusters.log_marginal(strength, d - 1 + room, (d - 1 + room) * centre)

    return float(d - 1 + math.exp(minimize_scalar(loss, bounds=LOG_FREEDOM, method="bounded").x))

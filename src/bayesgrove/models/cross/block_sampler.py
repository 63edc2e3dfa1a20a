"""Gibbs sampler of the model of `block_state`.

A sweep draws strength and dof given the clusters of the rows, means and covariances integrated out; then means and
covariances of the clusters that have rows; scale and centre given them; the parameters of empty clusters from their
prior; weights; then the cluster of every row with its missing cells integrated out, and these cells given the cluster.

Rounded cells each add the variance of their rounding to the diagonal of their cluster's scatter, as in `GaussianFull`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import multigammaln

from bayesgrove.models.cross.block_cells import draw_missing, row_scores
from bayesgrove.models.cross.block_state import (
    EXTRA_DOF,
    N_COMPONENTS,
    STRENGTHS,
    BlockTable,
    Components,
    Hyper,
    first_hyper,
)


class Cluster(NamedTuple):
    """Number of rows, their mean and their scatter, rounding included."""

    size: int
    mean: np.ndarray
    scatter: np.ndarray


def sample_blocks(
    rng: np.random.Generator, table: BlockTable, starts: Sequence[np.ndarray], n_tune: int, n_draws: int
) -> list[Components]:
    """Draws of the clusters' parameters, `n_draws` from each chain.

    Parameters
    ----------
    rng : Generator
    table : BlockTable
    starts : sequence of int arrays of shape (n_rows,)
        Clusters in which each chain begins; those beyond the first `N_COMPONENTS` share the last one.
    n_tune, n_draws : int
        Sweeps that are not kept, and that are.
    """
    kept = []
    for start in starts:
        labels, hyper = np.minimum(start, N_COMPONENTS - 1), first_hyper(table.numeric.shape[1])
        filled = np.where(np.isnan(table.numeric), 0.0, table.numeric)
        for sweep in range(n_tune + n_draws):
            hyper, components, labels, filled = swept(rng, table, hyper, labels, filled)
            if sweep >= n_tune:
                kept.append(components)
    return kept


def swept(
    rng: np.random.Generator, table: BlockTable, hyper: Hyper, labels: np.ndarray, filled: np.ndarray
) -> tuple[Hyper, Components, np.ndarray, np.ndarray]:
    """One sweep: hyperparameters, components, clusters of the rows, rows with their missing cells drawn."""
    hyper, components = drawn_parameters(rng, table, hyper, labels, filled)
    scores = row_scores(components, table)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    cumulated = np.cumsum(weights, axis=1)
    labels = (cumulated < rng.random((len(weights), 1)) * cumulated[:, -1:]).sum(axis=1)
    filled = draw_missing(rng, components, table.numeric, labels)
    return hyper, components, labels, filled


def drawn_parameters(
    rng: np.random.Generator, table: BlockTable, hyper: Hyper, labels: np.ndarray, filled: np.ndarray
) -> tuple[Hyper, Components]:
    """All that is not of single rows, given their clusters and whole rows."""
    sizes = np.bincount(labels, minlength=N_COMPONENTS)
    used = np.flatnonzero(sizes)
    clusters = [cluster_of(filled[labels == k], table.grain) for k in used]
    hyper = drawn_spreads(rng, hyper, clusters)
    d = filled.shape[1]
    mean, covariance = np.empty((N_COMPONENTS, d)), np.empty((N_COMPONENTS, d, d))
    for k, cluster in zip(used, clusters, strict=True):
        mean[k], covariance[k] = drawn_component(rng, hyper, cluster)
    hyper = drawn_centre(rng, drawn_scale(rng, hyper, covariance[used]), mean[used], covariance[used])
    for k in np.flatnonzero(sizes == 0):
        mean[k], covariance[k] = drawn_component(rng, hyper, None)
    log_weight, concentration = drawn_weights(rng, sizes, hyper.concentration)
    chances = tuple(
        drawn_chances(rng, table.codes[:, j], labels, n_codes) for j, n_codes in enumerate(table.n_codes.tolist())
    )
    return hyper._replace(concentration=concentration), Components(log_weight, mean, covariance, chances)


def cluster_of(rows: np.ndarray, grain: np.ndarray) -> Cluster:
    """Statistics of some rows."""
    mean = rows.mean(axis=0)
    apart = rows - mean
    return Cluster(len(rows), mean, apart.T @ apart + len(rows) * np.diag(grain))


def prior_scatter(hyper: Hyper, dof: float) -> np.ndarray:
    """Scale matrix of the inverse Wishart distribution."""
    return (dof - hyper.centre.size - 1.0) * hyper.scale


def log_marginal(cluster: Cluster, hyper: Hyper, strength: float, dof: float) -> float:
    """Log density of a cluster's rows, up to a constant that depends on their number only."""
    d, n = hyper.centre.size, cluster.size
    before, apart = prior_scatter(hyper, dof), cluster.mean - hyper.centre
    after = before + cluster.scatter + strength * n / (strength + n) * np.outer(apart, apart)
    return float(
        multigammaln(0.5 * (dof + n), d)
        - multigammaln(0.5 * dof, d)
        + 0.5 * dof * np.linalg.slogdet(before)[1]
        - 0.5 * (dof + n) * np.linalg.slogdet(after)[1]
        + 0.5 * d * np.log(strength / (strength + n))
    )


def drawn_spreads(rng: np.random.Generator, hyper: Hyper, clusters: Sequence[Cluster]) -> Hyper:
    """Strength, then dof, from their grids; means and covariances of clusters are integrated out."""
    logs = [sum(log_marginal(one, hyper, strength, hyper.dof) for one in clusters) for strength in STRENGTHS]
    hyper = hyper._replace(strength=drawn_from(rng, STRENGTHS, np.array(logs)))
    grid = hyper.centre.size + EXTRA_DOF
    logs = [sum(log_marginal(one, hyper, hyper.strength, dof) for one in clusters) for dof in grid]
    return hyper._replace(dof=drawn_from(rng, grid, np.array(logs)))


def drawn_from(rng: np.random.Generator, values: np.ndarray, logs: np.ndarray) -> float:
    """One of the values, by the logs of their weights."""
    cumulated = np.cumsum(np.exp(logs - logs.max()))
    return float(values[np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right")])


def drawn_component(rng: np.random.Generator, hyper: Hyper, cluster: Cluster | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a cluster given its rows, or of one without rows."""
    scatter, centre, strength, dof = prior_scatter(hyper, hyper.dof), hyper.centre, hyper.strength, hyper.dof
    if cluster is not None:
        n, apart = cluster.size, cluster.mean - hyper.centre
        scatter = scatter + cluster.scatter + strength * n / (strength + n) * np.outer(apart, apart)
        centre = (strength * hyper.centre + n * cluster.mean) / (strength + n)
        strength, dof = strength + n, dof + n
    root = inverse_wishart_root(rng, dof, scatter)
    return centre + root @ rng.standard_normal(centre.size) / np.sqrt(strength), root @ root.T


def bartlett(rng: np.random.Generator, dof: float, d: int) -> np.ndarray:
    """Lower factor of a Wishart matrix whose scale is the identity."""
    out = np.tril(rng.standard_normal((d, d)), -1)
    out[np.diag_indices(d)] = np.sqrt(rng.chisquare(dof - np.arange(d)))
    return out


def inverse_wishart_root(rng: np.random.Generator, dof: float, scatter: np.ndarray) -> np.ndarray:
    """A matrix R so that R R' has the inverse Wishart distribution."""
    return np.linalg.solve(bartlett(rng, dof, len(scatter)), np.linalg.cholesky(scatter).T).T


def drawn_scale(rng: np.random.Generator, hyper: Hyper, covariance: np.ndarray) -> Hyper:
    """The scale given covariances of clusters."""
    d = hyper.centre.size
    factor = hyper.dof - d - 1.0
    precision = 2.0 * (d + 1.0) * np.eye(d) + factor * np.linalg.inv(covariance).sum(axis=0)
    root = np.linalg.solve(np.linalg.cholesky(precision).T, bartlett(rng, d + 1.0 + len(covariance) * hyper.dof, d))
    return hyper._replace(scale=root @ root.T)


def drawn_centre(rng: np.random.Generator, hyper: Hyper, mean: np.ndarray, covariance: np.ndarray) -> Hyper:
    """The centre given means and covariances of clusters."""
    weights = hyper.strength * np.linalg.inv(covariance)
    root = np.linalg.cholesky(np.eye(mean.shape[1]) + weights.sum(axis=0))
    pull = np.linalg.solve(root, np.einsum("kij,kj->i", weights, mean))
    return hyper._replace(centre=np.linalg.solve(root.T, pull + rng.standard_normal(pull.size)))


def drawn_weights(rng: np.random.Generator, sizes: np.ndarray, concentration: float) -> tuple[np.ndarray, float]:
    """Logs of the clusters' weights, and the concentration given the sticks."""
    behind = sizes[::-1].cumsum()[::-1] - sizes
    # Logs of gamma variates: a stick of nearly its whole length leaves a rest that no float near 1 tells from none.
    own, rest = rng.gamma(1.0 + sizes[:-1]), rng.gamma(concentration + behind[:-1])
    log_rest = np.log(np.maximum(rest, np.finfo(float).tiny)) - np.log(own + rest)
    log_own = np.log(own) - np.log(own + rest)
    log_weight = np.append(log_own, 0.0) + np.append(0.0, np.cumsum(log_rest))
    return log_weight, float(rng.gamma(sizes.size) / (1.0 - log_rest.sum()))


def drawn_chances(rng: np.random.Generator, codes: np.ndarray, labels: np.ndarray, n_codes: int) -> np.ndarray:
    """Log probabilities of the categories of a column in every cluster."""
    counts, seen = np.zeros((N_COMPONENTS, n_codes)), codes >= 0
    np.add.at(counts, (labels[seen], codes[seen]), 1.0)
    weights = np.maximum(rng.gamma(counts + 1.0 / n_codes), np.finfo(float).tiny)
    return np.log(weights / weights.sum(axis=1, keepdims=True))

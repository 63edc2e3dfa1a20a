"""Clusters of the draws of a mixture, for `NRMMixture`: unions of components, how surely they are apart, their tree."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.agglomeration.draw_unions import clusters_of_draws, has_valleys
from bayesgrove.inference.description import spread
from bayesgrove.inference.diagnostics import Diagnostics, diagnose
from bayesgrove.inference.label_choice import chance_of_other_labels
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.similarity import pairs_between
from bayesgrove.inference.verdict import with_labels
from bayesgrove.likelihoods import Bound
from bayesgrove.models.nrm.hyper import free_places, scaled
from bayesgrove.stats.links import Links
from bayesgrove.stats.partitions import relabel_draws

MOST_DRAWS = 1_000
"""Draws of all chains, evenly spread, whose components are united."""


def cluster_posterior(
    bound: Bound, posterior: Posterior, log_factors: np.ndarray, links: Links | None = None
) -> Posterior | None:
    """Draws of clusters: the components of some draws, united; None where no rule tells which belong together.

    Parameters
    ----------
    bound : Bound
        The table, and the prior before factors.
    posterior : Posterior
        Draws of components.
    log_factors : ndarray of shape (n_chains * n_draws, n_learned)
        Of the hyperparameters.
    links : Links, optional
        Constraints, which all draws meet.
    """
    if not has_valleys(bound.prior, posterior.n_items):
        return None
    chosen = spread(posterior.n_draws, max(1, MOST_DRAWS // posterior.n_chains))
    places = (np.arange(posterior.n_chains)[:, np.newaxis] * posterior.n_draws + chosen).ravel()
    draws = posterior.labels.reshape(-1, posterior.n_items)[places]
    found = united(bound, draws, log_factors[places], links)
    return posterior_of(found.reshape(posterior.n_chains, chosen.size, -1), posterior.attributes)


def united(bound: Bound, draws: np.ndarray, log_factors: np.ndarray, links: Links | None = None) -> np.ndarray:
    """Clusters of some draws of components, (n_draws, n_rows); rows that are to be apart are not united."""
    places = free_places(bound.prior, bound.free)
    found = clusters_of_draws(lambda s: scaled(bound.prior, places, log_factors[s]), bound.values, draws)
    if links is None:
        return found
    return np.stack([links.parted(*labels) for labels in zip(draws.astype(np.int64), found, strict=True)])


def posterior_of(labels: np.ndarray, attributes: Any) -> Posterior:
    """Draws of clusters with the number of clusters of each."""
    return Posterior(labels, {"n_clusters": labels.max(axis=2) + 1.0}, {}, attributes)


def diagnose_both(components: Posterior, clusters: Posterior | None, estimate: str) -> Diagnostics:
    """Diagnostics of components and, where there are any, of their unions; where all is well, of the labels too."""
    if clusters is None:
        found = components.diagnostics()
    else:
        labels, united = (
            relabel_draws(draws.labels.reshape(-1, draws.n_items)).reshape(draws.labels.shape)
            for draws in (components, clusters)
        )
        found = diagnose(labels, components.scalars, united)
    if not found.converged or estimate == "map":
        return found
    chance = chance_of_other_labels((components if clusters is None else clusters).labels, estimate)
    return replace(found, verdict=with_labels(found.verdict, chance))


def probability_apart(posterior: Posterior, labels: np.ndarray) -> np.ndarray:
    """Share of draws in which a row of one cluster and a row of another are in different clusters.

    (n_clusters, n_clusters), the mean over all pairs of rows; on the diagonal, of two rows of one cluster.
    """
    draws = posterior.labels.reshape(-1, posterior.n_items)
    sizes = np.bincount(labels).astype(float)
    together = pairs_between(draws, labels) / len(draws)
    np.fill_diagonal(together, together.diagonal() - sizes)  # no row is a pair with itself
    n_pairs = np.outer(sizes, sizes) - np.diag(sizes)
    return 1.0 - np.where(n_pairs > 0.0, together / np.maximum(n_pairs, 1.0), 1.0)

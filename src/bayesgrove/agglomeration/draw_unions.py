"""Clusters of draws of a mixture: the components of each draw, united by the rule of `unions` or of `overlaps`.

Rows of a draw are assigned to its components at random, by their posterior probabilities, so that components keep their
tails, and densities come from their members as they are. A partition of highest probability needs `soft_components`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.agglomeration.learn_scale import with_dependence
from bayesgrove.agglomeration.overlaps import clusters_by_overlap
from bayesgrove.agglomeration.soft_components import GAUSSIAN_PRIORS, closest_gaussians
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.agglomeration.unions import Components, unite
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.likelihoods.parts import columns_in_use
from bayesgrove.stats.partitions import relabel_draws

MOST_COMPONENTS, MOST_COLUMNS = 300, 100
"""Draws with more components are left as they are; pairs of them are compared, by matrices of the columns."""
FEWEST_ROWS = 50
"""With fewer rows no valley can be told from sampling noise."""


def has_valleys(prior: Any, n_rows: int) -> bool:
    """Whether components under this prior have a density whose valleys can be told from noise."""
    return isinstance(prior, GAUSSIAN_PRIORS) and prior.mean.size <= MOST_COLUMNS and n_rows >= FEWEST_ROWS


def clusters_of_draws(prior_of: Callable[[int], Any], values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Clusters of the rows in each draw of components (n_draws, n_rows), int32, numbered by first appearance.

    `prior_of` gives the prior with the hyperparameters of a draw, by its number; `values` are encoded rows, NaN
    missing.
    """
    draws = relabel_draws(draws)
    found: dict[bytes, np.ndarray] = {}
    out = np.empty(draws.shape, np.int32)
    used = ~np.isnan(values).all(axis=0)
    with single_threaded_blas():
        first = with_dependence(*columns_in_use(prior_of(0), values, used), draws[0].astype(np.int64))
        for s, labels in enumerate(draws):
            key = labels.tobytes()
            if key not in found:
                prior, cells = columns_in_use(prior_of(s), values, used)
                prior = prior if type(prior) is type(first) else first
                found[key] = clusters_of_draw(prior, cells, labels.astype(np.int64))
            out[s] = found[key]
    return relabel_draws(out)


def clusters_of_draw(prior: Any, values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Cluster of each row: components of one draw, united."""
    k = int(labels.max()) + 1
    if k == 1 or k > MOST_COMPONENTS:
        return labels
    if not isinstance(prior, GAUSSIAN_PRIORS):
        return clusters_by_overlap(prior, values, labels)[labels]
    rows, sizes = cluster_statistics(prior, values, labels, k)
    means, covariances = closest_gaussians(prior, rows)
    complete = np.where(np.isnan(values), means[labels], values)
    return unite(Components(sizes.astype(float), means, covariances), complete, labels).cluster[labels]

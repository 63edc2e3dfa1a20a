"""A hierarchy of the rows in a view of the point estimate."""

import math

import numpy as np

from bayesgrove.agglomeration.estimates import estimate_tree
from bayesgrove.inference.similarity import cohesion
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.stats.processes import dirichlet_log_kappa
from bayesgrove.trees import Tree


def view_tree(
    prior: ColumnsPrior,
    values: np.ndarray,
    columns: np.ndarray,
    labels: np.ndarray,
    draws: np.ndarray,
    row_concentration: float,
) -> Tree:
    """Clusters of a view merged by their evidence in its columns, rows below them; see `estimate_tree`.

    `draws` (draw, row) are the partitions that say how often the rows of a cluster are together.
    """
    start = np.concatenate([[0], np.cumsum(np.diff(prior.start)[columns])])
    own = ColumnsPrior(prior.family[columns], np.ascontiguousarray(prior.params[columns]), start)
    log_kappa = dirichlet_log_kappa(math.log(row_concentration), labels.size + 1)
    cells = np.ascontiguousarray(values[:, columns])
    return estimate_tree(own, cells, labels, log_kappa, cohesion(draws, labels))

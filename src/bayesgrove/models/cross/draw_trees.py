"""A hierarchy of the rows in a view of the point estimate."""

import numpy as np

from bayesgrove.inference.similarity import cohesion
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.nrm.hierarchy import estimate_tree
from bayesgrove.models.nrm.process import DIRICHLET, log_kappa_table
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
    log_kappa = log_kappa_table(DIRICHLET, np.array([0.0, row_concentration, 0.0]), labels.size)
    cells = np.ascontiguousarray(values[:, columns])
    return estimate_tree(own, cells, labels, log_kappa, cohesion(draws, labels))

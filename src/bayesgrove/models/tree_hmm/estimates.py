"""Components of a given partition: their distributions, and point estimates of their tables."""

import numpy as np

from bayesgrove.models.tree_hmm import gaussian
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.engine import expected_counts
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, expected_tables
from bayesgrove.models.tree_hmm.tables import Counts, Tables, with_mean

N_ITER = 10


def counts_of_labels(
    links: Links, prior: TreePrior, labels: np.ndarray, tables: Tables, n_iter: int = N_ITER
) -> Counts:
    """Expected counts of the components that hold given trees, by variational steps from their tables."""
    trees = distinct_trees(links)
    n_clusters, n_distinct = int(labels.max()) + 1, trees.multiplicity.size
    both = np.bincount(labels * n_distinct + trees.number, minlength=n_clusters * n_distinct)
    weights = both.reshape(n_clusters, n_distinct).astype(float)
    counts = expected_counts(trees.links, tables, prior.mode, weights)
    for _ in range(n_iter):
        counts = expected_counts(trees.links, expected_tables(prior, counts), prior.mode, weights)
    return counts


def mean_parameters(prior: TreePrior, counts: Counts) -> Parameters:
    """Posterior means of all rows given expected counts; of Gaussians the most probable moments."""
    if prior.gaussians is None:
        tables = with_mean(counts, prior.strengths, prior.mode)
        return Parameters(tables, np.zeros((len(counts.switching), prior.shape.n_states, 0, 2)))
    rows = counts._replace(emission=np.zeros((len(counts.switching), 1, prior.shape.n_states)))
    moments = gaussian.most_probable_moments(prior.gaussians, counts.emission)
    emission, log_scale = gaussian.density_rows(prior.gaussians, moments)
    tables = with_mean(rows, prior.strengths, prior.mode)
    return Parameters(tables._replace(emission=emission, log_scale=log_scale), moments)


def pair_probabilities(responsibilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mean probability that two trees of a cluster are of one component, by cluster; 1 for a cluster of one tree."""
    n_clusters, n_components = int(labels.max()) + 1, responsibilities.shape[1]
    totals, squares = np.zeros((n_clusters, n_components)), np.zeros(n_clusters)
    np.add.at(totals, labels, responsibilities)
    np.add.at(squares, labels, (responsibilities**2).sum(axis=1))
    sizes = np.bincount(labels)
    pairs = np.maximum(sizes * (sizes - 1.0), 1.0)
    return np.where(sizes > 1, np.clip(((totals**2).sum(axis=1) - squares) / pairs, 0.0, 1.0), 1.0)

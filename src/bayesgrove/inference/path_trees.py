"""The tree of paths that a result shows, with what the draws say of its nodes."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.description import spread
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.inference.similarity import cohesion
from bayesgrove.stats.paths import PathNodes, path_nodes
from bayesgrove.trees import Tree
from bayesgrove.trees.levels import display_tree

MOST_COHESION_STEPS = 2e7
FEWEST_DRAWS, MOST_DRAWS = 50, 2_000


def hierarchy_tree(posterior: PathPosterior, levels: np.ndarray, leaf_labels: tuple[str, ...] | None = None) -> Tree:
    """The tree of some paths without only children, rows below its leaves.

    Height is the number of levels below. Columns: `level`, 0 for the root, one more than the depth for rows that are
    not alone in a node; `credibility`, the share of draws in which exactly these rows are a node (1 for such rows);
    `log_merge_odds`, the log odds that two of a node's rows, taken at random, share a leaf in a draw.
    """
    nodes = path_nodes(levels)
    shown, origin = display_tree(nodes, leaf_labels)
    is_node = origin != NULL
    place = np.where(is_node, origin, 0)
    credible = posterior.node_credibility(levels)
    together = leaf_cohesion(posterior, nodes)
    with np.errstate(divide="ignore"):
        odds = np.log(together) - np.log1p(-together)
    columns = {
        "level": np.where(is_node, nodes.level[place], levels.shape[1] + 1.0),
        "credibility": np.where(is_node, credible[place], 1.0),
        "log_merge_odds": np.where(shown.item == NULL, odds[place], np.inf),
    }
    return Tree(shown.parent, shown.item, shown.height, columns, leaf_labels)


def leaf_cohesion(posterior: PathPosterior, nodes: PathNodes) -> np.ndarray:
    """Share of draws in which two rows of a node are in one leaf, averaged over its pairs; 1 for a single row.

    Up to 2,000 draws, evenly spread, are looked at, and fewer (at least 50) above 10,000 rows.
    """
    draws = posterior.labels.reshape(-1, posterior.n_items)
    most = int(np.clip(MOST_COHESION_STEPS / posterior.n_items, FEWEST_DRAWS, MOST_DRAWS))
    draws = draws[spread(len(draws), most)]
    found = np.empty(nodes.parent.size)
    found[0] = cohesion(draws, np.zeros(posterior.n_items, np.int64))[0]
    for level in range(nodes.node.shape[1]):
        own = nodes.node[:, level]
        first = int(own.min())
        found[first : int(own.max()) + 1] = cohesion(draws, own - first)
    return found

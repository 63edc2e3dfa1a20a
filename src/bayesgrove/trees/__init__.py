"""The tree table, its traversals, cuts, conversions and layout; many trees in flat arrays."""

from bayesgrove.trees.forest import Forest
from bayesgrove.trees.layout import Layout, lay_out
from bayesgrove.trees.newick import ParsedNewick, parse_newick
from bayesgrove.trees.subtrees import UniqueSubtrees
from bayesgrove.trees.table import Tree
from bayesgrove.trees.weights import (
    cluster_count_law,
    expected_clusters,
    neighbours_together,
    node_log_weights,
    same_cluster_matrix,
    same_cluster_probability,
    together_below,
)

__all__ = [
    "Forest",
    "Layout",
    "ParsedNewick",
    "Tree",
    "UniqueSubtrees",
    "cluster_count_law",
    "expected_clusters",
    "lay_out",
    "neighbours_together",
    "node_log_weights",
    "parse_newick",
    "same_cluster_matrix",
    "same_cluster_probability",
    "together_below",
]

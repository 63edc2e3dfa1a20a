"""The tree table, its traversals, cuts, conversions and layout."""

from bayesgrove.trees.layout import Layout, lay_out
from bayesgrove.trees.newick import ParsedNewick, parse_newick
from bayesgrove.trees.table import Tree
from bayesgrove.trees.weights import (
    expected_clusters,
    node_log_weights,
    same_cluster_matrix,
    same_cluster_probability,
)

__all__ = [
    "Layout",
    "ParsedNewick",
    "Tree",
    "expected_clusters",
    "lay_out",
    "node_log_weights",
    "parse_newick",
    "same_cluster_matrix",
    "same_cluster_probability",
]

"""Pictures of trees and results; matplotlib is imported when something is drawn."""

from bayesgrove.plot.chains import ranks, score_traces, trace
from bayesgrove.plot.cluster_tables import class_table, emissions
from bayesgrove.plot.counts import cluster_counts, prior_counts
from bayesgrove.plot.dendrograms import dendrogram
from bayesgrove.plot.embeddings import embedding
from bayesgrove.plot.icicles import icicle
from bayesgrove.plot.labelled_trees import labelled_tree, typical_trees
from bayesgrove.plot.levels import level_tree
from bayesgrove.plot.members import tree_with_members
from bayesgrove.plot.profiles import profile
from bayesgrove.plot.settings_maps import level_scores, sensitivity
from bayesgrove.plot.similarities import similarity
from bayesgrove.plot.tables import data_heatmap
from bayesgrove.plot.view_maps import view_map
from bayesgrove.plot.views import views

__all__ = [
    "class_table",
    "cluster_counts",
    "data_heatmap",
    "dendrogram",
    "embedding",
    "emissions",
    "icicle",
    "labelled_tree",
    "level_scores",
    "level_tree",
    "prior_counts",
    "profile",
    "ranks",
    "score_traces",
    "sensitivity",
    "similarity",
    "trace",
    "tree_with_members",
    "typical_trees",
    "view_map",
    "views",
]

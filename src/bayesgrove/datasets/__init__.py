"""Generators of data with known truth, and loaders of research data you have on disk."""

from bayesgrove.datasets.asymmetric_trees import make_asymmetric_trees
from bayesgrove.datasets.blobs import make_benchmark_blobs, make_blobs_tree
from bayesgrove.datasets.cross import make_cross_table
from bayesgrove.datasets.home import Dataset, data_home
from bayesgrove.datasets.loaders import (
    load_animals,
    load_arcene,
    load_fashion_sample,
    load_isolet,
    load_musk1,
    load_nips,
    load_sonar,
    load_toy10k,
    load_toy1300,
    load_zoo,
)
from bayesgrove.datasets.nested import NestedTable, sample_bhmc
from bayesgrove.datasets.shapes import Shapes, make_shapes
from bayesgrove.datasets.tree_loaders import load_inex05, load_synthetic_trees

__all__ = [
    "Dataset",
    "NestedTable",
    "Shapes",
    "data_home",
    "load_animals",
    "load_arcene",
    "load_fashion_sample",
    "load_inex05",
    "load_isolet",
    "load_musk1",
    "load_nips",
    "load_sonar",
    "load_synthetic_trees",
    "load_toy10k",
    "load_toy1300",
    "load_zoo",
    "make_asymmetric_trees",
    "make_benchmark_blobs",
    "make_blobs_tree",
    "make_cross_table",
    "make_shapes",
    "sample_bhmc",
]

"""Bayesian nonparametric hierarchical clustering with honest uncertainty.

Names are loaded when first used, so that `import bayesgrove` and the command line stay quick.
"""

import importlib
from importlib import metadata
from typing import Any

__version__ = metadata.version("bayesgrove")

_HOMES = {
    "BHC": "bayesgrove.estimators.bhc",
    "BHCC": "bayesgrove.estimators.bhcc",
    "BHMC": "bayesgrove.estimators.bhmc",
    "CrossCat": "bayesgrove.estimators.crosscat",
    "IncrementalBHC": "bayesgrove.estimators.incremental_bhc",
    "InfiniteTreeHMMMixture": "bayesgrove.estimators.infinite_tree_hmm_mixture",
    "NRMMixture": "bayesgrove.estimators.nrm_mixture",
    "Posterior": "bayesgrove.inference.posterior",
    "RBHMC": "bayesgrove.estimators.rbhmc",
    "RandomizedBHC": "bayesgrove.estimators.randomized_bhc",
    "RandomizedBHCC": "bayesgrove.estimators.randomized_bhcc",
    "Tree": "bayesgrove.trees.table",
    "TreeData": "bayesgrove.io.tree_data",
    "TreeHMM": "bayesgrove.estimators.tree_hmm",
    "TreeHMMMixture": "bayesgrove.estimators.tree_hmm_mixture",
    "load": "bayesgrove.estimators.saving",
    "read_trees": "bayesgrove.io.tree_data",
}
_MODULES = ("datasets", "likelihoods", "metrics", "plot")

__all__ = [  # noqa: RUF022  (plainly sorted: RBHMC is a class, not a constant)
    "BHC",
    "BHCC",
    "BHMC",
    "CrossCat",
    "IncrementalBHC",
    "InfiniteTreeHMMMixture",
    "NRMMixture",
    "Posterior",
    "RBHMC",
    "RandomizedBHC",
    "RandomizedBHCC",
    "Tree",
    "TreeData",
    "TreeHMM",
    "TreeHMMMixture",
    "datasets",
    "likelihoods",
    "load",
    "metrics",
    "plot",
    "read_trees",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"bayesgrove.{name}")
    raise AttributeError(f"module 'bayesgrove' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

"""Bayesian nonparametric hierarchical clustering with honest uncertainty.

Names are loaded when first used, so that `import bayesgrove` and the command line stay quick.
"""

import importlib
from importlib import metadata
from typing import Any

from bayesgrove.estimators.registry import MODELS

__version__ = metadata.version("bayesgrove")

_HOMES = {
    **{model.name: model.module for model in MODELS.values()},
    "Posterior": "bayesgrove.inference.posterior",
    "Tree": "bayesgrove.trees.table",
    "TreeData": "bayesgrove.io.tree_data",
    "cluster": "bayesgrove.estimators.cluster_table",
    "load": "bayesgrove.estimators.saving",
    "prior_clusters": "bayesgrove.estimators.prior_clusters",
    "read_trees": "bayesgrove.io.tree_data",
    "sweep": "bayesgrove.sweeps.run",
}
_MODULES = ("datasets", "impute", "likelihoods", "metrics", "outliers", "plot", "sc", "topics")

__all__ = sorted((*_HOMES, *_MODULES))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"bayesgrove.{name}")
    raise AttributeError(f"module 'bayesgrove' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

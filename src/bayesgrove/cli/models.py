"""Models by the names they have on the command line; a class is imported only when it is asked for."""

import importlib
from typing import Any

from bayesgrove.core.errors import InvalidSettingError

MODELS = {
    "bhc": "bayesgrove.estimators.bhc:BHC",
    "bhcc": "bayesgrove.estimators.bhcc:BHCC",
    "bhmc": "bayesgrove.estimators.bhmc:BHMC",
    "crosscat": "bayesgrove.estimators.crosscat:CrossCat",
    "incremental-bhc": "bayesgrove.estimators.incremental_bhc:IncrementalBHC",
    "infinite-tree-hmm-mixture": "bayesgrove.estimators.infinite_tree_hmm_mixture:InfiniteTreeHMMMixture",
    "nrm-mixture": "bayesgrove.estimators.nrm_mixture:NRMMixture",
    "randomized-bhc": "bayesgrove.estimators.randomized_bhc:RandomizedBHC",
    "randomized-bhcc": "bayesgrove.estimators.randomized_bhcc:RandomizedBHCC",
    "rbhmc": "bayesgrove.estimators.rbhmc:RBHMC",
    "tree-hmm": "bayesgrove.estimators.tree_hmm:TreeHMM",
    "tree-hmm-mixture": "bayesgrove.estimators.tree_hmm_mixture:TreeHMMMixture",
}
"""Kebab-case name -> "module:Class"."""

TREE_MODELS = ("infinite-tree-hmm-mixture", "tree-hmm", "tree-hmm-mixture")
"""Their data are trees, not the rows of a table."""

LOADER = "bayesgrove.estimators.saving:load"


def model_class(name: str) -> Any:
    """The estimator class of a kebab-case name."""
    if name not in MODELS:
        raise InvalidSettingError(f"MODEL is one of {', '.join(MODELS)}, got {name!r}.", model=name)
    return _find(MODELS[name])


def takes_trees(name: str) -> bool:
    """Whether a model's data are trees."""
    return name in TREE_MODELS


def load_model(path: Any) -> Any:
    """A fitted estimator from its model file."""
    return _find(LOADER)(path)


def _find(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)

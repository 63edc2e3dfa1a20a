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
    "nrm-mixture": "bayesgrove.estimators.nrm_mixture:NRMMixture",
    "randomized-bhc": "bayesgrove.estimators.randomized_bhc:RandomizedBHC",
    "randomized-bhcc": "bayesgrove.estimators.randomized_bhcc:RandomizedBHCC",
    "rbhmc": "bayesgrove.estimators.rbhmc:RBHMC",
}
"""Kebab-case name -> "module:Class"."""

LOADER = "bayesgrove.estimators.saving:load"


def model_class(name: str) -> Any:
    """The estimator class of a kebab-case name."""
    if name not in MODELS:
        raise InvalidSettingError(f"MODEL is one of {', '.join(MODELS)}, got {name!r}.", model=name)
    return _find(MODELS[name])


def load_model(path: Any) -> Any:
    """A fitted estimator from its model file."""
    return _find(LOADER)(path)


def _find(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)

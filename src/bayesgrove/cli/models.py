"""Models by the names they have on the command line; a class is imported only when it is asked for."""

from typing import Any

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.lazy import lazy_import
from bayesgrove.estimators import registry

MODELS = {model.command: f"{model.module}:{model.name}" for model in registry.MODELS.values()}
"""Kebab-case name -> "module:Class"."""

TREE_MODELS = tuple(model.command for model in registry.MODELS.values() if model.takes_trees)
"""Their data are trees, not the rows of a table."""

LOADER = "bayesgrove.estimators.saving:load"


def model_class(name: str) -> Any:
    """The estimator class of a kebab-case name."""
    if name not in MODELS:
        raise InvalidSettingError(f"MODEL is one of {', '.join(MODELS)}, got {name!r}.", model=name)
    return lazy_import(MODELS[name])


def takes_trees(name: str) -> bool:
    """Whether a model's data are trees."""
    return name in TREE_MODELS


def load_model(path: Any) -> Any:
    """A fitted estimator from its model file."""
    return lazy_import(LOADER)(path)

"""The models by name, in one place: the package's public names, the command line and model files derive from it.

It imports nothing heavy, so that help and `import bayesgrove` stay quick; a class is imported when it is asked for.
"""

import importlib
from typing import Any, NamedTuple


class Model(NamedTuple):
    """One estimator and its names."""

    name: str
    """Of the class, in `bayesgrove`, and in model files."""
    command: str
    """On the command line; the module of the class is called the same, with underscores."""
    takes_trees: bool = False
    """Whether its data are trees, not the rows of a table."""

    @property
    def module(self) -> str:
        """Where the class stands."""
        return f"bayesgrove.estimators.{self.command.replace('-', '_')}"

    def load(self) -> Any:
        """The class."""
        return getattr(importlib.import_module(self.module), self.name)


MODELS = {
    model.name: model
    for model in (
        Model("BHC", "bhc"),
        Model("BHCC", "bhcc"),
        Model("BHMC", "bhmc"),
        Model("CrossCat", "crosscat"),
        Model("IncrementalBHC", "incremental-bhc"),
        Model("InfiniteTreeHMMMixture", "infinite-tree-hmm-mixture", takes_trees=True),
        Model("NRMMixture", "nrm-mixture"),
        Model("RandomizedBHC", "randomized-bhc"),
        Model("RandomizedBHCC", "randomized-bhcc"),
        Model("RBHMC", "rbhmc"),
        Model("TreeHMM", "tree-hmm", takes_trees=True),
        Model("TreeHMMMixture", "tree-hmm-mixture", takes_trees=True),
    )
}
"""By the names of the classes, in the order of the command line's."""

"""A tiny estimator with the seams the command line uses: clusters by the sign of the first column."""

import dataclasses
import json

import numpy as np

from bayesgrove.core.errors import MemoryLimitError, NumericalError
from bayesgrove.core.table import Table
from bayesgrove.io.model_file import read_model, write_model


@dataclasses.dataclass(frozen=True)
class Likelihood:
    """Two numbers."""

    mean: object
    strength: float


@dataclasses.dataclass(frozen=True)
class FakeTree:
    """Each cluster a chain of merges, then the root."""

    parent: np.ndarray
    item: np.ndarray
    size: np.ndarray
    chance: np.ndarray
    leaf_labels: tuple | None = None
    columns: dict = dataclasses.field(default_factory=dict)

    @property
    def nodes(self):
        return {"probability": self.chance}

    def label(self, item):
        return self.leaf_labels[item] if self.leaf_labels else str(item)

    def to_newick(self):
        return "(" + ",".join(self.label(i) for i in self.item[self.item >= 0]) + ");"

    def to_linkage(self):
        return np.array([[0, 1, 0.5, 2]], dtype=float)

    def to_json(self):
        return json.dumps({"parent": self.parent.tolist()})

    def to_text(self, max_lines=40):
        leaves = [f"├─ {self.label(i)} [bold] {'long ' * 40}" for i in self.item[self.item >= 0]]
        return "\n".join([f"{len(leaves)} items, merge probability .05", *leaves[: max_lines - 1]])

    def plot(self, ax=None, kind="dendrogram", labels=None):
        ax.plot([0, 1], [0, 1])
        return ax


def grow(labels):
    """The tree that joins each cluster's rows one by one, then the clusters."""
    n = len(labels)
    parent, size, chance, next_id, roots = [-1] * n, [1] * n, [1.0] * n, n, []
    for members in [np.flatnonzero(labels == k).tolist() for k in np.unique(labels)] + [roots]:
        top = members[0]
        for other in members[1:]:
            parent[top] = parent[other] = next_id
            parent.append(-1)
            size.append(size[top] + size[other])
            chance.append(0.9 if members is not roots else 0.04)
            top, next_id = next_id, next_id + 1
        if members is not roots:
            roots.append(top)
    item = np.where(np.arange(next_id) < n, np.arange(next_id), -1)
    return FakeTree(np.array(parent), item, np.array(size), np.array(chance))


@dataclasses.dataclass(frozen=True)
class FakeResult:
    """What a report would show."""

    tree: FakeTree
    n_components: int = 0
    details: object = dataclasses.field(default_factory=dict)
    draws_of_clusters: object = None

    def with_names(self, names):
        return FakeResult(dataclasses.replace(self.tree, leaf_labels=names))


class Fake:
    """Fake estimator."""

    def __init__(self, likelihood="auto", concentration=1.0, random_state=None, n_jobs=None, verbose=0, fail=None):
        self.likelihood, self.concentration, self.fail = likelihood, concentration, fail
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def get_params(self, deep=True):
        names = ("likelihood", "concentration", "random_state", "n_jobs", "verbose", "fail")
        return {name: getattr(self, name) for name in names}

    @property
    def component_labels_(self):
        return self.labels_

    @property
    def n_components_(self):
        return self.n_clusters_

    def fit(self, X):
        assert isinstance(X, Table)
        if self.fail is not None:
            raise ERRORS[self.fail]
        self._progress(1, 2)
        self._set(self._codes(X.values))
        return self

    def _codes(self, values):
        return (values[:, 0] > 0).astype(np.int64)

    def _set(self, labels, names=None):
        labels = np.unique(labels, return_inverse=True)[1]
        self.labels_, self.n_clusters_ = labels, int(labels.max()) + 1
        self.tree_ = dataclasses.replace(grow(labels), leaf_labels=names)
        self.log_evidence_, self.concentration_ = -12.5, self.concentration
        self.likelihood_ = Likelihood(np.array([0.0, 1.0]), 0.1)
        self.result_ = FakeResult(self.tree_)

    def predict(self, X):
        return self._codes(X.values)

    def predict_proba(self, X):
        one = self._codes(X.values) * 0.5 + 0.25
        return np.stack([0.875 - one, one, np.full(len(one), 0.125)], axis=1)

    def report(self, path, title=None):
        path.write_text(f"<html>{self.result_.tree.leaf_labels}</html>")
        return path

    def save(self, path):
        write_model(path, "fake", {"names": self.tree_.leaf_labels}, {"labels": self.labels_})


ERRORS = {
    "memory": MemoryLimitError("needs 9 GB, memory_limit is 1 GB. Use RandomizedBHC."),
    "number": NumericalError("a score is not finite"),
    "bug": ZeroDivisionError("division by\nzero"),
    "interrupt": KeyboardInterrupt(),
}


def load(path):
    """A fake from its file."""
    found = read_model(path)
    model = Fake()
    names = found.document["names"]
    model._set(found.arrays["labels"], None if names is None else tuple(names))
    return model

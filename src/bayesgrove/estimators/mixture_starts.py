"""Where a mixture's chains begin, by the name or the labels a user gives, and how many moves a sweep makes."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.agglomeration.splits import Settings
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.settings import check_whole
from bayesgrove.likelihoods import Bound
from bayesgrove.models.bhc.fit_randomized import fit_randomized_best
from bayesgrove.models.nrm.process import Process
from bayesgrove.models.nrm.schedules import WITH_TREES
from bayesgrove.models.nrm.starts import GivenLabels, IncrementalStart, OneCluster, SampleStart, Singletons
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees.cuts import find_front, labels_of_front

LEAST_CONCENTRATION = 0.01
"""Of the trees chains begin with: that of a Pitman-Yor process may be negative."""
INITS = ("guide", "bhc", "one", "singletons", "ibhc", "randomized-bhc")


@dataclass(frozen=True)
class RandomizedStart:
    """Randomized Bayesian hierarchical clustering of all rows, cut where merges turn improbable."""

    bound: Bound
    process: Process

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        bound = self.bound._replace(free=())
        seed = int(rng.integers(2**31))
        fitted = fit_randomized_best(bound, max(self.process.alpha, LEAST_CONCENTRATION), Settings(), seed, 1, None)
        return labels_of_front(fitted.tree, find_front(fitted.tree, "half", None, None, None))


def first_labels(init: Any, bound: Bound, process: Process) -> Callable[[np.random.Generator], np.ndarray] | None:
    """A function of a generator that gives labels of all rows; None for the guide tree, which is yet to be grown."""
    n = bound.values.shape[0]
    if isinstance(init, str):
        if init == "guide":
            return None
        if init == "bhc":
            return SampleStart(bound.prior, bound.values, process)
        if init == "one":
            return OneCluster(n)
        if init == "singletons":
            return Singletons(n)
        if init == "ibhc":
            return IncrementalStart(bound.prior, bound.values, process)
        if init == "randomized-bhc":
            return RandomizedStart(bound, process)
        raise InvalidSettingError(f"init must be one of {', '.join(INITS)} or an array of labels, got {init!r}.")
    labels = np.asarray(init)
    if labels.shape != (n,):
        raise InvalidSettingError(f"init must have one label for each of the {n} rows, got shape {labels.shape}.")
    return GivenLabels(labels)


def name_of_start(init: Any) -> str:
    """A text that tells starts apart."""
    return init if isinstance(init, str) else f"labels {hashlib.sha256(relabel(init).tobytes()).hexdigest()[:16]}"


def checked_moves(sampler: str, **numbers: int | None) -> dict[str, int]:
    """Numbers of moves that are given; only samplers with trees have them."""
    given = {name: value for name, value in numbers.items() if value is not None}
    for name, value in given.items():
        check_whole(name, value, 1)
        if sampler not in WITH_TREES:
            raise InvalidSettingError(
                f"{name} is a setting of the samplers {' and '.join(WITH_TREES)}, got sampler={sampler!r}. "
                "Leave it out.",
                setting=name,
            )
    return given

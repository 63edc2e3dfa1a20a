"""What chains of CrossCat begin with, by what a user gives: first views, and which numbers are learned."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidSettingError
from bayesgrove.likelihoods import Columns, GaussianDiagonal, Likelihood
from bayesgrove.likelihoods.base import is_given
from bayesgrove.likelihoods.columns import N_PARAMS, ColumnsPrior
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.mcmc_coordinates import n_coordinates
from bayesgrove.models.cross.mcmc_dependence import dependent_views
from bayesgrove.models.cross.mcmc_starts import STARTS, Given, Start
from bayesgrove.models.cross.mcmc_target import Target
from bayesgrove.models.cross.search import SearchSettings, search
from bayesgrove.models.cross.view_table import view_table
from bayesgrove.trees.cuts import find_front, labels_of_front

INITS = ("dependence", "random", "bhcc", "prior", "one_view")


@dataclass(frozen=True)
class SearchStart:
    """Views of the greedy search (`BHCC`) from several starts, and the rows of each cut at even odds."""

    prior: ColumnsPrior
    values: np.ndarray

    def __call__(
        self, rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Labels of the columns, and of the rows in each view."""
        table = view_table(self.prior._replace(params=params), self.values)
        log_rows, log_columns = (math.log(float(alpha)) for alpha in concentrations)
        settings = SearchSettings(method="multistart", seed=int(rng.integers(2**31)))
        found = search(Problem(table, log_rows, log_columns), settings)
        labels = np.empty(table.n_columns, np.int64)
        for k, view in enumerate(found.views):
            labels[view] = k
        return labels, np.array([labels_of_front(tree, find_front(tree, "half", None)) for tree in found.row_trees])


def first_views(init: Any, prior: ColumnsPrior, values: np.ndarray) -> Start:
    """The start that a name or labels of the columns stand for."""
    if isinstance(init, str):
        if init == "bhcc":
            return SearchStart(prior, values)
        if init == "dependence":
            return dependent_views
        if init in INITS:
            return STARTS[init]
        raise InvalidSettingError(
            f"init must be one of {', '.join(INITS)} or a label for each column, got {init!r}.", setting="init"
        )
    labels, n_columns = np.asarray(init), values.shape[1]
    if labels.shape != (n_columns,) or labels.dtype.kind not in "iu":
        raise InvalidSettingError(
            f"init must have a whole number for each of the {n_columns} columns, got shape {labels.shape} of "
            f"{labels.dtype}.",
            setting="init",
        )
    return Given(labels)


def name_of_init(init: Any) -> str:
    """What tells one start from another in the fingerprint of a run."""
    if isinstance(init, str):
        return init
    return f"labels {hashlib.sha256(np.asarray(init, np.int64).tobytes()).hexdigest()[:16]}"


def learned_coordinates(likelihood: Columns, prior: ColumnsPrior, names: tuple[str, ...], hyper: str) -> np.ndarray:
    """Which coordinates of each column's prior are learned, (n_columns, 4); see `mcmc_coordinates`.

    Numbers of a Gaussian are learned one by one, its mean with them unless it is given; those of other families
    together.
    """
    learned = np.zeros((len(names), N_PARAMS), np.bool_)
    for j, one in enumerate(likelihood.likelihoods):
        free = {"auto": one.free, "optimize": one.not_given}.get(hyper, tuple)()
        if not free:
            continue
        if isinstance(one, GaussianDiagonal):
            learned[j] = [not is_given(one.mean), *(name in free for name in one.learnable)]
        elif set(free) == set(one.learnable) and n_coordinates(int(prior.family[j])) > 0:
            learned[j, : n_coordinates(int(prior.family[j]))] = True
        else:
            raise InvalidLikelihoodError(cannot_learn(one, free, names[j]), column=j)
    return learned


def cannot_learn(likelihood: Likelihood, free: tuple[str, ...], name: str) -> str:
    """Why the numbers of a column cannot be learned."""
    return (
        f"CrossCat learns all of {', '.join(likelihood.learnable)} of a column or none, and none of "
        f"GaussianKnownVariance; column {name!r} is to learn {', '.join(free)} of {likelihood!r}. "
        "Give all numbers, or mark all 'auto'."
    )

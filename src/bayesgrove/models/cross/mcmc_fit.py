"""CrossCat from settings to answers: what is learned, first views, the sampler, what prediction needs of draws."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.likelihoods import Bound, Columns, Likelihood, relearned
from bayesgrove.likelihoods.base import is_given
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.coordinates import column_grain
from bayesgrove.likelihoods.families import FAMILIES, N_PARAMS
from bayesgrove.models.cross.draw_answers import DrawAnswers
from bayesgrove.models.cross.draw_tables import choose_draws, make_draws
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.mcmc_coordinates import default_hyperpriors
from bayesgrove.models.cross.mcmc_joining import joined_views
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.models.cross.mcmc_starts import STARTS, Given, Start
from bayesgrove.models.cross.mcmc_target import Target, make_target
from bayesgrove.models.cross.search import SearchSettings, search
from bayesgrove.models.cross.view_table import view_table
from bayesgrove.trees.cuts import find_front, labels_of_front

INITS = ("dependence", "random", "bhcc", "prior", "one_view")
FIRST_CONCENTRATION = 1.0
COOLING = 0.8
"""Each coupled chain has the power of the one before it times this."""
ROUNDING_SEED = 0x60A1
"""Of what rounding took away: the same for all chains and seeds."""


@dataclass(frozen=True)
class SearchStart:
    """Views of the search of `BHCC` from several starts, and the rows of each cut at even odds."""

    prior: ColumnsPrior
    values: np.ndarray

    def __call__(
        self, rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Labels of the columns, and of the rows in each view."""
        prior = self.prior._replace(params=params)
        table = view_table(prior, self.values)
        log_rows, log_columns = (math.log(float(alpha)) for alpha in concentrations)
        settings = SearchSettings(method="multistart", seed=int(rng.integers(2**31)))
        found = search(Problem(table, log_rows, log_columns, row_search="best", prior=prior), settings)
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
            return joined_views
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

    Families say whether their numbers are learned one by one, as those of a Gaussian (its mean with them unless it is
    given), or together.
    """
    learned = np.zeros((len(names), N_PARAMS), np.bool_)
    for j, one in enumerate(likelihood.likelihoods):
        free = {"auto": one.free, "optimize": one.not_given}.get(hyper, tuple)()
        if not free:
            continue
        own = FAMILIES[prior.family[j]].coordinates
        if own.one_by_one:
            for k, name in enumerate(own.names):
                learned[j, k] = name in free if name in one.learnable else not is_given(getattr(one, name))
        elif set(free) == set(one.learnable) and own.names:
            learned[j, : len(own.names)] = True
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


def make_sampler(
    bound: Bound, concentrations: tuple[Any, Any], learned: np.ndarray, init: Any, n_temperatures: int, name: str
) -> CrossCatSampler:
    """The sampler of a bound table of `Columns`.

    `concentrations` of rows and columns are numbers or "auto"; `learned` (n_columns, 4) is that of
    `learned_coordinates`; `init` is a name or labels of the columns; `name` stands in the fingerprint of runs.
    """
    target = make_target(bound.prior, unrounded(bound.prior, bound.values, learned))
    free = np.array([isinstance(alpha, str) for alpha in concentrations])
    rows, columns = (FIRST_CONCENTRATION if isinstance(alpha, str) else float(alpha) for alpha in concentrations)
    return CrossCatSampler(
        target,
        bound.prior.params,
        (rows, columns),
        default_hyperpriors(target)._replace(free=free, learned=learned),
        first_views(init, bound.prior, bound.values),
        tuple(COOLING**k for k in range(n_temperatures)),
        bound.log_measure,
        {"model": name, "init": name_of_init(init)},
    )


def unrounded(prior: ColumnsPrior, values: np.ndarray, learned: np.ndarray) -> np.ndarray:
    """The cells, those of continuous columns with equal values spread evenly within the step they are rounded to.

    Where hyperparameters are learned, cells that are equal because they are rounded would be taken for a cluster
    without any variance: its density has no bound. Columns without equal values, or with fixed hyperparameters, stay,
    and so do zeros and other cells that would not stay positive where they must.
    """
    found = values.copy()
    for j, family in enumerate(prior.family):
        cells = values[:, j]
        seen = cells[~np.isnan(cells)]
        record = FAMILIES[family]
        if record.grained is not None and learned[j].any() and np.unique(seen).size < seen.size:
            step = column_grain(cells)
            moves = cells > step / 2 if record.on_logs or record.has_zeros else ~np.isnan(cells)
            found[moves, j] += (step * (generator(ROUNDING_SEED, j).random(cells.size) - 0.5))[moves]
    return found


def learned_bound(bound: Bound, posterior: CrossPosterior) -> Bound:
    """The bound table, the likelihood at the medians of the numbers that were learned."""
    numbers = posterior.extra.get("column_numbers")
    if numbers is None:
        return bound
    return relearned(bound, bound.prior._replace(params=np.median(numbers, axis=(0, 1))))


def answers_of_draws(
    bound: Bound, posterior: CrossPosterior, views: list[tuple[np.ndarray, np.ndarray]]
) -> DrawAnswers:
    """What prediction needs of some draws; `views` are the columns and the labels of the rows of the estimate."""
    n_draws, numbers = posterior.n_chains * posterior.n_draws, posterior.extra.get("column_numbers")
    most_clusters = float(posterior.rows.max()) + 1.0
    n_rows, n_columns = bound.values.shape
    size = 8.0 * most_clusters * float(bound.prior.start[-1]) + 4.0 * n_rows * float(posterior.n_views.mean())
    chosen = choose_draws(n_draws, n_rows, n_columns, size)
    first = posterior.first_views
    draws = make_draws(
        bound.prior,
        bound.values,
        posterior.view_labels.reshape(n_draws, -1)[chosen],
        [posterior.rows[first[t] : first[t + 1]] for t in chosen],
        None if numbers is None else numbers.reshape(n_draws, n_columns, -1)[chosen],
        posterior.extra["concentrations"].reshape(n_draws, 2)[chosen],
    )
    return DrawAnswers(bound.prior, bound.values, draws, posterior.similarity(), views, learned=numbers is not None)

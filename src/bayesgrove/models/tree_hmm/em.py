"""EM for hidden tree Markov models and their finite mixtures, to maximum likelihood or the mode of the posterior.

One model is a mixture of one. Notes on `estep="paper"`: it replaces posteriors by conditional distributions and is no
EM, its objective may fall; it stands here to repeat the paper's experiments.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.tree_hmm.engine import expected_counts, likelihoods_and_counts, log_likelihoods
from bayesgrove.models.tree_hmm.gaussian import log_density_of_moments
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, most_probable, random_parameters
from bayesgrove.models.tree_hmm.tables import Counts, Strengths, free_cells, free_transitions

Progress = Callable[[int, int], None]
"""Called with what is done and how much there is at most."""

NO_SHARE = 1e-15
"""Responsibilities below are taken for 0: counts would not change by more than rounding."""
ESTEPS, POINTS = ("exact", "paper"), ("mode", "mean")


class EMSettings(NamedTuple):
    """How long EM runs and what it looks for."""

    n_init: int = 1
    """Starts from random tables; the best objective wins."""
    max_iter: int = 100
    tol: float = 1e-6
    """Stop when the objective changes by less than this part of it."""
    estep: str = "exact"
    """"exact", or "paper" on plain links."""
    point: str = "mode"
    """"mode" of each row's distribution given expected counts, or its "mean" (the mode under strengths larger by 1)."""
    weight_strength: float = 1.0
    """Dirichlet prior of the mixture's weights (delta)."""


EM_DEFAULTS = EMSettings()


class DistinctTrees(NamedTuple):
    """Each different tree once."""

    links: Links
    multiplicity: np.ndarray
    """float64 (n_distinct,): how many trees are equal to it, or the sum of their weights."""
    number: np.ndarray
    """(n_trees,): which of the different trees each one is."""


class Assignment(NamedTuple):
    """Where trees belong under a mixture."""

    responsibilities: np.ndarray
    """(K, n_trees); the weights themselves for trees that no component allows."""
    log_densities: np.ndarray
    """(n_trees,): log of the mixture's density, -inf where impossible."""


class EMFit(NamedTuple):
    """A fitted mixture."""

    weights: np.ndarray
    """(K,)"""
    parameters: Parameters
    responsibilities: np.ndarray
    """(K, n_trees)"""
    log_densities: np.ndarray
    """(n_trees,)"""
    trace: np.ndarray
    """Objective at the start and after each step of the best run."""
    converged: bool
    objectives: np.ndarray
    """(n_init,): last objective of every run."""

    @property
    def labels(self) -> np.ndarray:
        """(n_trees,): most responsible component, int64."""
        return self.responsibilities.argmax(axis=0)


class _Mixture(NamedTuple):
    weights: np.ndarray
    parameters: Parameters


def fit_em(
    rng: np.random.Generator,
    links: Links,
    prior: TreePrior,
    n_components: int = 1,
    settings: EMSettings = EM_DEFAULTS,
    start: tuple[np.ndarray, Parameters] | None = None,
    progress: Progress | None = None,
    counts: np.ndarray | None = None,
) -> EMFit:
    """The best of several runs of EM; `start` gives weights and components in place of random ones.

    `counts` says how many trees each one stands for.

    Notes
    -----
    The objective is the log-likelihood plus (strength - 1) times the sum of the logs of all free cells, plus
    (weight_strength - 1) times that of the weights; exact steps never lower it.
    """
    check_settings(prior, n_components, settings)
    n_runs = settings.n_init if start is None else 1
    trees, runs = distinct_trees(links, counts), []
    for run in range(n_runs):
        first = _random_start(rng, prior, n_components) if start is None else _Mixture(*start)
        inner = None if progress is None else _part_of(progress, run, n_runs, settings.max_iter)
        runs.append(_run(trees, *as_mode(prior, settings), first, inner))
    best = max(runs, key=lambda fit: fit.trace[-1])
    warn_impossible(int(np.isneginf(best.log_densities).sum()))
    return best._replace(objectives=np.array([fit.trace[-1] for fit in runs]))


def check_settings(prior: TreePrior, n_components: int, settings: EMSettings) -> None:
    """Raise `InvalidSettingError` for numbers out of range and priors without a mode."""
    for name in ("n_init", "max_iter"):
        if getattr(settings, name) < 1:
            raise InvalidSettingError(f"{name} is at least 1, got {getattr(settings, name)}.")
    if n_components < 1:
        raise InvalidSettingError(f"n_clusters is at least 1, got {n_components}.")
    if settings.tol < 0:
        raise InvalidSettingError(f"tol is not negative, got {settings.tol}. 0 runs all of max_iter.")
    if settings.estep not in ESTEPS:
        raise InvalidSettingError(f"estep is one of {', '.join(ESTEPS)}, got {settings.estep!r}.")
    if settings.point not in POINTS:
        raise InvalidSettingError(f"point is one of {', '.join(POINTS)}, got {settings.point!r}.")
    lowest = min(*prior.strengths, settings.weight_strength)
    if settings.point == "mode" and lowest < 1:
        raise InvalidSettingError(
            f"a Dirichlet prior below 1 has no mode inside, got prior_strength {lowest}. "
            'Take 1 or more, or point="mean".'
        )


def as_mode(prior: TreePrior, settings: EMSettings) -> tuple[TreePrior, EMSettings]:
    """Prior and settings whose mode the point is: a Dirichlet's mean is the mode of one with strengths larger by 1."""
    if settings.point == "mode":
        return prior, settings
    larger = prior._replace(strengths=Strengths(*(strength + 1.0 for strength in prior.strengths)))
    return larger, settings._replace(point="mode", weight_strength=settings.weight_strength + 1.0)


def distinct_trees(links: Links, counts: np.ndarray | None = None) -> DistinctTrees:
    """Equal trees as one; plain links have no equal roots and stay as they are."""
    roots, number = np.unique(links.roots, return_inverse=True)
    multiplicity = np.bincount(number.reshape(-1), weights=counts).astype(np.float64)
    return DistinctTrees(links._replace(roots=roots), multiplicity, number.reshape(-1))


def assign(log_likelihood: np.ndarray, weights: np.ndarray) -> Assignment:
    """Responsibilities and densities of a mixture from log-likelihoods (K, n_trees)."""
    with np.errstate(divide="ignore"):  # a weight may have become 0
        joint = log_likelihood + np.log(weights)[:, None]
    total = logsumexp(joint, axis=0)
    impossible = np.isneginf(total)
    found = np.exp(joint - np.where(impossible, 0.0, total))
    found[:, impossible] = weights[:, None]
    return Assignment(found / found.sum(axis=0), total)


def tree_weights(shares: np.ndarray, trees: DistinctTrees) -> np.ndarray:
    """(K, n_distinct): responsibilities times multiplicities; 0 where they are lost in rounding, which saves passes."""
    return np.where(shares < NO_SHARE, 0.0, shares) * trees.multiplicity


def warn_impossible(n_trees: int) -> None:
    """One warning with the number of trees that no component allows, if there are any."""
    if n_trees:
        warnings.warn(
            f"{n_trees} trees are impossible under every component; their responsibilities are the mixture's weights. "
            "A prior_strength above 1 keeps all probabilities above 0.",
            UserWarning,
            stacklevel=3,
        )


def penalty(prior: TreePrior, parameters: Parameters) -> np.ndarray:
    """(K,): (strength - 1) times the sum of the logs of free cells; for Gaussians the log density of their moments."""
    tables, strengths = parameters.tables, prior.strengths
    cells = np.where(free_cells(prior.shape), tables.initial, 1.0)
    rows = np.where(free_transitions(prior.shape), tables.transition, 1.0)
    found = xlogy(strengths.initial - 1.0, cells).sum((1, 2)) + xlogy(strengths.transition - 1.0, rows).sum((1, 2, 3))
    found += xlogy(strengths.switching - 1.0, tables.switching).sum(1)
    if prior.gaussians is None:
        return found + xlogy(strengths.emission - 1.0, tables.emission).sum((1, 2))
    nothing = np.zeros((parameters.n_components, 1, prior.shape.n_states))
    return found + log_density_of_moments(
        prior.gaussians._replace(values=prior.gaussians.values[:1]), parameters.moments, nothing
    )


def _random_start(rng: np.random.Generator, prior: TreePrior, n_components: int) -> _Mixture:
    return _Mixture(rng.dirichlet(np.ones(n_components)), random_parameters(rng, prior, n_components))


def _run(
    trees: DistinctTrees, prior: TreePrior, settings: EMSettings, mixture: _Mixture, progress: Progress | None
) -> EMFit:
    """Steps from one start until the objective rests."""
    trace: list[float] = []
    for step in range(settings.max_iter + 1):
        assigned, counts = _expect(trees, prior, mixture, settings, step < settings.max_iter)
        trace.append(_objective(trees, prior, mixture, settings, assigned))
        converged = len(trace) > 1 and abs(trace[-1] - trace[-2]) < settings.tol * abs(trace[-1])
        if progress is not None:
            progress(settings.max_iter if converged else step, settings.max_iter)
        if converged or counts is None:
            break
        mixture = _maximise(trees, prior, mixture, settings, assigned, counts)
    return EMFit(
        mixture.weights,
        mixture.parameters,
        assigned.responsibilities[:, trees.number],
        assigned.log_densities[trees.number],
        np.array(trace),
        bool(converged),
        np.array(trace[-1:]),
    )


def _expect(
    trees: DistinctTrees, prior: TreePrior, mixture: _Mixture, settings: EMSettings, counted: bool
) -> tuple[Assignment, Counts | None]:
    """Responsibilities of different trees, and expected counts where they are wanted."""
    tables, paper = mixture.parameters.tables, settings.estep == "paper"
    if counted and len(mixture.weights) == 1:  # all weights are known before: one upward pass gives both
        log_likelihood, counts = likelihoods_and_counts(
            trees.links, tables, prior.mode, trees.multiplicity[None], paper=paper
        )
        return assign(log_likelihood, mixture.weights), counts
    assigned = assign(log_likelihoods(trees.links, tables, prior.mode), mixture.weights)
    if not counted:
        return assigned, None
    weights = tree_weights(assigned.responsibilities, trees)
    return assigned, expected_counts(trees.links, tables, prior.mode, weights, paper=paper)


def _objective(
    trees: DistinctTrees, prior: TreePrior, mixture: _Mixture, settings: EMSettings, assigned: Assignment
) -> float:
    log_likelihood = float(assigned.log_densities @ trees.multiplicity)
    of_weights = float(xlogy(settings.weight_strength - 1.0, mixture.weights).sum())
    return log_likelihood + float(penalty(prior, mixture.parameters).sum()) + of_weights


def _maximise(
    trees: DistinctTrees,
    prior: TreePrior,
    mixture: _Mixture,
    settings: EMSettings,
    assigned: Assignment,
    counts: Counts,
) -> _Mixture:
    """New weights and components from expected counts."""
    sizes = assigned.responsibilities @ trees.multiplicity + settings.weight_strength - 1.0
    return _Mixture(sizes / sizes.sum(), most_probable(prior, counts, mixture.parameters))


def _part_of(progress: Progress, run: int, n_runs: int, max_iter: int) -> Progress:
    """Progress of one run as part of all."""
    return lambda done, _: progress(run * max_iter + done, n_runs * max_iter)

"""Truncated variational Bayes for the Dirichlet process mixture of hidden tree Markov models, and the start it gives.

q(component) is Dirichlet(strength + expected counts) in every row, q(stick t) Beta(1 + N_t, concentration + sum of N_s
beyond t). Cells are replaced by exp(E log) in the passes over trees, which give the log of the total weight.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, logsumexp

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.tree_hmm.component_fit import CONTINUATION, START_TABLES, fit_clusters, strength_stages
from bayesgrove.models.tree_hmm.em import DistinctTrees, Progress, distinct_trees, tree_weights
from bayesgrove.models.tree_hmm.engine import expected_counts, log_likelihoods
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.parameters import (
    TreePrior,
    divergence,
    expected_tables,
    random_parameters,
    select_counts,
)
from bayesgrove.models.tree_hmm.tables import Counts, Tables, zero_counts

START_SPREAD = 0.1
"""First responsibilities are Dirichlet draws of this concentration: each tree begins mostly in one component."""
SMALLEST = 0.5
"""Components of fewer trees are deleted at the end of a start."""
NOTHING = 1e-10
"""Components of fewer trees have the prior's distribution."""


class VBSettings(NamedTuple):
    """How a variational start runs."""

    n_components: int = 30
    """Truncation."""
    n_iter: int = 40
    n_init: int = 3
    """Starts; the best ELBO wins."""
    continuation: tuple[float, ...] = CONTINUATION
    """Strengths that are gone through downwards until those of the prior: a start that is sparse at once gets stuck."""
    n_continued: int = 15
    """Iterations at each further strength."""


VB_DEFAULTS = VBSettings()


class VBFit(NamedTuple):
    """A variational posterior of the mixture; components by falling size."""

    prior: TreePrior
    concentration: float
    counts: Counts
    """Expected counts: rows of component k are Dirichlet(strength + counts[k])."""
    sizes: np.ndarray
    """(K,): expected numbers of trees."""
    responsibilities: np.ndarray
    """(K, n_trees)"""
    trace: np.ndarray
    """ELBO after each E-step at the last strengths, before small components were deleted; it never falls."""
    elbo: float
    """Lower bound on the log evidence in the end."""

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.sizes)

    @property
    def labels(self) -> np.ndarray:
        """(n_trees,): most responsible component, int64."""
        return self.responsibilities.argmax(axis=0)

    @property
    def tables(self) -> Tables:
        """exp(E log) of every cell: unnormalised tables for passes over trees."""
        return expected_tables(self.prior, self.counts)

    @property
    def log_weights(self) -> np.ndarray:
        """(K,): expected log weights of the components."""
        return expected_log_sticks(self.sizes, self.concentration)


class StatesChoice(NamedTuple):
    """Numbers of states tried, the ELBO of each, and the best fit."""

    n_states: tuple[int, ...]
    elbos: np.ndarray
    fit: VBFit


class _Laws(NamedTuple):
    """q(components) by counts, q(sticks) by sizes."""

    counts: Counts
    sizes: np.ndarray


def vb_start(
    rng: np.random.Generator,
    links: Links,
    prior: TreePrior,
    concentration: float = 1.0,
    settings: VBSettings = VB_DEFAULTS,
    progress: Progress | None = None,
    labels: np.ndarray | None = None,
) -> VBFit:
    """A variational fit at the prior's strengths in the end: from labels, or the best of several random starts."""
    check_vb(concentration, settings)
    trees, fits = distinct_trees(links), []
    stages = strength_stages(prior.strengths, settings.continuation) if labels is None else [prior.strengths]
    n_init = settings.n_init if labels is None else 1
    watch = _Watch(progress, n_init * settings.n_iter + (len(stages) - 1) * settings.n_continued)
    for _ in range(n_init):
        if labels is None:
            laws = random_laws(rng, trees, prior, settings.n_components)
        else:
            laws = laws_of_labels(rng, trees, prior, labels)
        fits.append(_iterate(trees, prior._replace(strengths=stages[0]), concentration, laws, settings.n_iter, watch))
    fit = max(fits, key=lambda found: found.elbo)
    for strengths in stages[1:]:
        laws = _Laws(fit.counts, fit.sizes)
        further = prior._replace(strengths=strengths)
        fit = _iterate(trees, further, concentration, laws, settings.n_continued, watch)
    return fit._replace(responsibilities=fit.responsibilities[:, trees.number])


def choose_n_states(
    rng: np.random.Generator,
    links: Links,
    prior: TreePrior,
    concentration: float = 1.0,
    settings: VBSettings = VB_DEFAULTS,
    candidates: Sequence[int] = (4, 8, 16),
    progress: Progress | None = None,
) -> StatesChoice:
    """The number of hidden states whose variational start has the greatest ELBO."""
    if not candidates:
        raise InvalidSettingError("candidates are numbers of states to choose from, got none. Try (4, 8, 16).")
    fits = []
    for place, n_states in enumerate(candidates):
        inner = None if progress is None else _part_of(progress, place, len(candidates))
        fits.append(vb_start(rng, links, prior.with_states(n_states), concentration, settings, inner))
    elbos = np.array([fit.elbo for fit in fits])
    return StatesChoice(tuple(candidates), elbos, fits[int(elbos.argmax())])


def check_vb(concentration: float, settings: VBSettings) -> None:
    """Raise `InvalidSettingError` for numbers out of range."""
    if not concentration > 0:
        raise InvalidSettingError(f"concentration is above 0, got {concentration}. Try 1.")
    for name in ("n_components", "n_iter", "n_init"):
        if getattr(settings, name) < 1:
            raise InvalidSettingError(f"{name} is at least 1, got {getattr(settings, name)}.")


def random_laws(rng: np.random.Generator, trees: DistinctTrees, prior: TreePrior, n_components: int) -> _Laws:
    """Random responsibilities of different trees, and counts by one E-step under random tables."""
    shares = rng.dirichlet(np.full(n_components, START_SPREAD), trees.multiplicity.size).T
    weights = np.ascontiguousarray(shares * trees.multiplicity)
    tables = random_parameters(rng, prior, n_components, START_TABLES).tables
    return _Laws(expected_counts(trees.links, tables, prior.mode, weights), weights.sum(axis=1))


def laws_of_labels(rng: np.random.Generator, trees: DistinctTrees, prior: TreePrior, labels: np.ndarray) -> _Laws:
    """Every tree in the component of its label, components by falling size."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    counts = fit_clusters(rng, trees, prior, labels)
    return _Laws(select_counts(counts, order), sizes[order].astype(float))


def expected_log_sticks(sizes: np.ndarray, concentration: float) -> np.ndarray:
    """(K,): expected logs of the weights under q(sticks); the last component takes all that is left."""
    ours, beyond = _stick_numbers(sizes, concentration)
    total = digamma(ours + beyond)
    passed = np.concatenate([[0.0], np.cumsum(digamma(beyond) - total)])
    return np.append(digamma(ours) - total, 0.0) + passed


def stick_divergence(sizes: np.ndarray, concentration: float) -> float:
    """Kullback-Leibler divergence of q(sticks) from Beta(1, concentration), all together."""
    ours, beyond = _stick_numbers(sizes, concentration)
    total = digamma(ours + beyond)
    found = betaln(1.0, concentration) - betaln(ours, beyond) + (ours - 1.0) * (digamma(ours) - total)
    return float((found + (beyond - concentration) * (digamma(beyond) - total)).sum())


def _stick_numbers(sizes: np.ndarray, concentration: float) -> tuple[np.ndarray, np.ndarray]:
    """Both numbers of the Beta distribution of every stick but the last."""
    after = np.cumsum(sizes[::-1])[::-1]
    return 1.0 + sizes[:-1], concentration + after[1:]


def _iterate(
    trees: DistinctTrees, prior: TreePrior, concentration: float, laws: _Laws, n_iter: int, watch: "_Watch"
) -> VBFit:
    """Coordinate steps, then small components deleted and a last step; responsibilities of different trees."""
    trace = []
    for _ in range(n_iter):
        shares, elbo = _expect(trees, prior, concentration, laws)
        laws, _ = _update(trees, prior, concentration, laws, shares)
        trace.append(elbo)
        watch.advance()
    kept = laws.sizes >= min(SMALLEST, laws.sizes.max())
    laws = _Laws(select_counts(laws.counts, kept), laws.sizes[kept])
    shares, elbo = _expect(trees, prior, concentration, laws)
    laws, order = _update(trees, prior, concentration, laws, shares)
    return VBFit(prior, concentration, laws.counts, laws.sizes, shares[order], np.array(trace), elbo)


def _expect(trees: DistinctTrees, prior: TreePrior, concentration: float, laws: _Laws) -> tuple[np.ndarray, float]:
    """Responsibilities of different trees (K, n_distinct), and the ELBO they give with these distributions."""
    used = laws.sizes > NOTHING
    evaluated = used.copy()
    evaluated[np.flatnonzero(~used)[:1]] = True  # all that hold nothing are alike: one stands for them
    counts = select_counts(laws.counts, evaluated)
    found = log_likelihoods(trees.links, expected_tables(prior, counts), prior.mode)
    place = np.where(used, np.cumsum(evaluated) - 1, np.flatnonzero(~used[evaluated]).sum())
    joint = found[place] + expected_log_sticks(laws.sizes, concentration)[:, None]
    total = logsumexp(joint, axis=0)
    elbo = total @ trees.multiplicity - divergence(prior, counts).sum() - stick_divergence(laws.sizes, concentration)
    return np.exp(joint - total), float(elbo)


def _update(
    trees: DistinctTrees, prior: TreePrior, concentration: float, laws: _Laws, shares: np.ndarray
) -> tuple[_Laws, np.ndarray]:
    """New distributions given responsibilities, and the order in which the components now stand."""
    weights = tree_weights(shares, trees)
    sizes = weights.sum(axis=1)
    used = np.flatnonzero(sizes > NOTHING)
    tables = expected_tables(prior, select_counts(laws.counts, used))
    found = expected_counts(trees.links, tables, prior.mode, weights[used])
    counts = zero_counts(sizes.size, prior.shape)
    for whole, part in zip(counts, found, strict=True):
        whole[used] = part
    order = better_order(sizes, concentration)
    return _Laws(select_counts(counts, order), sizes[order]), order


def better_order(sizes: np.ndarray, concentration: float) -> np.ndarray:
    """The order by falling size, or the present one where the bound is not less there.

    Given responsibilities, the sticks' part of the ELBO is the sum of log Beta(1 + N_t, concentration + N beyond t).
    """
    order = np.argsort(-sizes, kind="stable")
    gain = betaln(*_stick_numbers(sizes[order], concentration)) - betaln(*_stick_numbers(sizes, concentration))
    return order if gain.sum() >= 0.0 else np.arange(sizes.size)


class _Watch:
    """Counts steps for a progress callback."""

    def __init__(self, progress: Progress | None, n_steps: int) -> None:
        self.progress, self.n_steps, self.n_done = progress, n_steps, 0

    def advance(self) -> None:
        """One more step."""
        self.n_done += 1
        if self.progress is not None:
            self.progress(self.n_done, self.n_steps)


def _part_of(progress: Progress, place: int, n_parts: int) -> Progress:
    return lambda done, total: progress(place * total + done, n_parts * total)

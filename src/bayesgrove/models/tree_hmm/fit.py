"""Infinite mixtures of trees, from settings to clusters: by chains, variational Bayes, or the paper's procedure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.inference.description import spread
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.similarity import cohesion, pairs_between
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler, with_plain_links
from bayesgrove.models.tree_hmm.component_tree import ComponentsTree, build_components_tree
from bayesgrove.models.tree_hmm.em import Progress
from bayesgrove.models.tree_hmm.estimates import counts_of_labels, mean_parameters, pair_probabilities
from bayesgrove.models.tree_hmm.keeper import TABLES, TableKeeper
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, N_INFINITE_STATES, Target, make_target, prior_of
from bayesgrove.models.tree_hmm.paper import N_SWEEPS, PaperSettings, fit_paper
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, make_prior, select_parameters, with_values
from bayesgrove.models.tree_hmm.predictive import MOST_BYTES, MOST_DRAWS, DrawnMixture, Kept, keep_draws
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_schedule
from bayesgrove.models.tree_hmm.starts import LabelsStart, VariationalStart
from bayesgrove.models.tree_hmm.tables import Counts, Strengths, Tables
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, VBSettings, choose_n_states, vb_start
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import binder_loss, relabel
from bayesgrove.trees import Tree
from bayesgrove.trees.forest import Forest
from bayesgrove.trees.hanging import hang_items

METHODS = ("gibbs", "collapsed", "vb", "paper")
INITS = ("auto", "labels", "vb", "one", "random")
FIT_PATH, STATES_PATH = 0xF17, 0x57A7
AUTO_STATES = (4, 8, 16)
AUTO, INFINITE = "auto", "infinite"
LEAST_PAIR = 0.01
"""Pairs added to those counted, so that draws that agree do not claim certainty."""


class Problem(NamedTuple):
    """Trees, and what is asked of them."""

    forest: Forest
    links: Links
    missing: str
    n_states: int | str
    """A number, "auto" or "infinite"."""
    concentration: float | str
    """A number or "auto"."""
    strengths: Strengths | str
    """Numbers or "auto"."""
    seed: int

    @property
    def first_strengths(self) -> Strengths:
        """Strengths as given; 1 where they are learned."""
        return Strengths() if isinstance(self.strengths, str) else self.strengths

    @property
    def first_concentration(self) -> float:
        """The concentration as given; 1 where it is learned."""
        return 1.0 if isinstance(self.concentration, str) else float(self.concentration)


class Settings(NamedTuple):
    """How a problem is solved."""

    method: str
    init: Any
    """A name of `INITS`, or labels."""
    split_merge: str | None
    n_init: int
    max_iter: int | None
    compat: bool
    n_tune: int
    thin: int
    start: np.ndarray | None = None
    """Labels that `init="labels"` found."""


class Found(NamedTuple):
    """Clusters and all that is shown and asked of them."""

    labels: np.ndarray
    prior: TreePrior
    counts: Counts
    """Expected, of each cluster."""
    parameters: Parameters
    """Point estimates of each cluster."""
    kept: Kept
    concentration: float
    together: np.ndarray
    """(n_clusters,): probability that two of a cluster's trees are together."""
    between: np.ndarray | None = None
    """(n_clusters, n_clusters): mean number of pairs of trees from two clusters that draws have together."""
    history: Mapping[str, np.ndarray] = {}
    """Numbers sweep by sweep, of methods without draws."""
    responsibilities: np.ndarray | None = None
    """(n_trees, n_clusters), of the variational fit."""
    log_evidence: float | None = None
    """Lower bound, of the variational fit."""


class Hierarchy(NamedTuple):
    """Trees over what was found."""

    components: ComponentsTree
    items: Tree


class ChainPlan(NamedTuple):
    """What chains are run with."""

    sampler: Any
    schedule: Schedule
    target: Target


def resolved(problem: Problem, settings: Settings) -> Problem:
    """The problem with its number of hidden states: as given, or that of the greatest variational bound."""
    if problem.n_states != AUTO:
        return problem
    prior = make_prior(problem.forest, AUTO_STATES[0], problem.missing, problem.first_strengths)
    rng, how = generator(problem.seed, STATES_PATH), vb_settings(problem, settings)
    choice = choose_n_states(rng, problem.links, prior, problem.first_concentration, how, AUTO_STATES)
    return problem._replace(n_states=int(choice.fit.prior.shape.n_states))


def number_of_states(problem: Problem) -> int:
    """Hidden states of a problem whose number is resolved; of infinitely many, those that stand for them."""
    return N_INFINITE_STATES if problem.n_states == INFINITE else int(problem.n_states)


def vb_settings(problem: Problem, settings: Settings) -> VBSettings:
    """How variational fits are run; no more components than trees."""
    n_components = min(VB_DEFAULTS.n_components, problem.forest.n_trees)
    n_iter = VB_DEFAULTS.n_iter if settings.max_iter is None else settings.max_iter
    return VB_DEFAULTS._replace(n_components=n_components, n_iter=n_iter, n_init=settings.n_init)


# Chains


def plan_chains(problem: Problem, settings: Settings, name: str) -> ChainPlan:
    """Sampler and schedule of the method; `name` is the model's, in the fingerprint of runs."""
    strengths = problem.strengths
    target = make_target(
        problem.forest,
        n_states=problem.n_states,
        missing=problem.missing,
        concentration=problem.concentration,
        prior_strength=strengths if isinstance(strengths, str) else tuple(strengths),
        links=problem.links,
    )
    move = settings.split_merge
    if move == AUTO:
        move = "retained" if settings.method == "gibbs" else "sequential"
    schedule = default_schedule(settings.n_tune, method=settings.method, split_merge=move, thin=settings.thin)
    first, about = first_state(problem, settings), fingerprint(settings, name)
    sampler: Any = TreeMixtureSampler(target, first, about)
    if settings.method == "collapsed":
        sampler = CollapsedTreeSampler(with_plain_links(target, problem.forest), first, about)
    return ChainPlan(TableKeeper(sampler, schedule), schedule, target)


def fingerprint(settings: Settings, name: str) -> dict[str, Any]:
    """What tells this run from others, besides the trees and the prior."""
    init = settings.init
    if not isinstance(init, str):
        init = "labels " + "".join(map(str, relabel(init)))[:40]
    return {"model": name, "method": settings.method, "init": init, "n_init": settings.n_init}


def first_state(problem: Problem, settings: Settings) -> Any:
    """Where chains begin."""
    if not isinstance(settings.init, str):
        labels, n_trees = np.asarray(settings.init), problem.forest.n_trees
        if labels.shape != (n_trees,):
            raise InvalidSettingError(
                f"init must have one label for each of the {n_trees} trees, got shape {labels.shape}."
            )
        return LabelsStart(labels=tuple(relabel(labels).tolist()))
    if settings.start is not None:
        return LabelsStart(labels=tuple(settings.start.tolist()))
    if settings.init in ("vb", AUTO):
        return VariationalStart(vb_settings(problem, settings))
    return LabelsStart(settings.init)


Draws = Sequence[Mapping[str, np.ndarray]]
"""Arrays of each chain by name, `TABLES` among them."""


def find_by_chains(problem: Problem, target: Target, posterior: Posterior, draws: Draws, labels: np.ndarray) -> Found:
    """Clusters of the point estimate; components begin with the tables of the draw that is most like it."""
    scalars = posterior.scalars
    prior, drawn = learned_prior(target, scalars), drawn_mixtures(draws, scalars, problem.first_concentration)
    nearest = min(drawn, key=lambda draw: binder_loss(draw.labels, labels))
    counts = counts_of_labels(problem.links, prior, labels, matched_tables(nearest, labels, prior))
    flat = posterior.labels.reshape(-1, posterior.n_items)
    return Found(
        labels,
        prior,
        counts,
        mean_parameters(prior, counts),
        keep_draws(drawn, labels),
        learned(scalars, "concentration", problem.first_concentration),
        cohesion(flat, labels),
        pairs_between(flat, labels) / len(flat),
    )


def merge_odds(between: np.ndarray, sizes: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Log odds that a tree of one side of each merge is together with a tree of the other, never quite certain."""
    members = [np.array([cluster]) for cluster in range(sizes.size)]
    odds = []
    for left, right in children:
        a, b = members[left], members[right]
        n_pairs = float(sizes[a].sum() * sizes[b].sum())
        share = (between[np.ix_(a, b)].sum() + LEAST_PAIR) / (n_pairs + 2.0 * LEAST_PAIR)
        odds.append(np.log(share) - np.log1p(-share))
        members.append(np.concatenate([a, b]))
    return np.array(odds)


def hierarchy_of(problem: Problem, found: Found) -> Hierarchy:
    """Clusters merged by their evidence, and all trees below them; where there are draws, with the odds of these."""
    sizes = np.bincount(found.labels)
    members = np.eye(sizes.size)[:, found.labels]
    components = build_components_tree(problem.links, found.prior, found.counts, members, found.concentration)
    merges = [components.children(node) for node in range(sizes.size, 2 * sizes.size - 1)]
    children = np.array(merges, np.int64).reshape(-1, 2)
    above = components.log_ratios if found.between is None else merge_odds(found.between, sizes, children)
    with np.errstate(divide="ignore"):
        inside = logit(found.together)
    return Hierarchy(components, hang_items(found.labels, sizes, inside, children, above))


def learned(scalars: Mapping[str, np.ndarray], name: str, given: float) -> float:
    """Posterior mean of a number, or as given."""
    return float(scalars[name].mean()) if name in scalars else given


def learned_prior(target: Target, scalars: Mapping[str, np.ndarray]) -> TreePrior:
    """The prior at the posterior means of numbers that were learned."""
    pairs = zip(ALL_NAMES, target.values.tolist(), strict=True)
    return prior_of(target, np.array([learned(scalars, name, given) for name, given in pairs]))


def drawn_mixtures(draws: Draws, scalars: Mapping[str, np.ndarray], given: float) -> list[DrawnMixture]:
    """Draws with their tables, evenly spread over those that have them, as many as are useful and fit."""
    places = [
        (chain, draw) for chain, own in enumerate(draws) for draw, rows in enumerate(own["switching"]) if len(rows)
    ]
    chain, draw = places[0]
    size = sum(draws[chain][name][draw].nbytes for name in TABLES)
    most = max(1, min(MOST_DRAWS, MOST_BYTES // max(size, 1)))
    numbers = scalars.get("concentration")
    return [
        drawn_mixture(draws[c], d, given if numbers is None else float(numbers[c, d]))
        for c, d in (places[k] for k in spread(len(places), most))
    ]


def drawn_mixture(draws: Mapping[str, np.ndarray], number: int, concentration: float) -> DrawnMixture:
    """One draw as a mixture."""
    initial, emission, switching, transition, moments = (np.asarray(draws[name][number]) for name in TABLES)
    tables = Tables(initial, emission, switching, transition, np.zeros(emission.shape[:2]))
    return DrawnMixture(np.asarray(draws["labels"][number]), Parameters(tables, moments), concentration)


def matched_tables(draw: DrawnMixture, labels: np.ndarray, prior: TreePrior) -> Tables:
    """Tables for each cluster of some labels: those of the draw's component with most of its trees."""
    n_own, n_clusters = len(draw.parameters.tables.switching), int(labels.max()) + 1
    both = np.bincount(draw.labels.astype(np.int64) * n_clusters + labels, minlength=n_own * n_clusters)
    best = both.reshape(n_own, n_clusters).argmax(axis=0)
    chosen = select_parameters(draw.parameters, best)
    if prior.gaussians is None:
        return chosen.tables
    return with_values(prior, chosen, prior.gaussians.values).tables


# Without chains


def fit_by_vb(problem: Problem, settings: Settings, progress: Progress | None = None) -> Found:
    """The variational fit; components that are no tree's most probable one are left out."""
    concentration = problem.first_concentration
    prior = make_prior(problem.forest, number_of_states(problem), problem.missing, problem.first_strengths)
    rng, how = generator(problem.seed, FIT_PATH), vb_settings(problem, settings)
    fit = vb_start(rng, problem.links, prior, concentration, how, progress, settings.start)
    labels = by_size(relabel(fit.labels))
    first = fit.labels[np.unique(labels, return_index=True)[1]]
    counts = Counts(*(part[first] for part in fit.counts))
    parameters = mean_parameters(prior, counts)
    shares = fit.responsibilities[first].T
    shares = shares / shares.sum(axis=1, keepdims=True)
    return Found(
        labels,
        prior,
        counts,
        parameters,
        keep_draws([DrawnMixture(labels, parameters, concentration)], labels),
        concentration,
        pair_probabilities(shares, labels),
        history={"elbo": fit.trace},
        responsibilities=shares,
        log_evidence=fit.elbo,
    )


def fit_by_paper(problem: Problem, settings: Settings) -> Found:
    """Where the printed procedure ended."""
    concentration, strengths, n_states = problem.first_concentration, problem.first_strengths, number_of_states(problem)
    prior = make_prior(problem.forest, n_states, problem.missing, strengths)
    n_sweeps = N_SWEEPS if settings.max_iter is None else settings.max_iter
    how = PaperSettings(prior.shape, strengths, concentration, n_sweeps, bool(settings.compat))
    fit = fit_paper(generator(problem.seed, FIT_PATH), problem.forest, how)
    parameters = Parameters(fit.tables, np.zeros((len(fit.tables.switching), n_states, 0, 2)))
    return Found(
        fit.labels,
        prior,
        counts_of_labels(problem.links, prior, fit.labels, fit.tables),
        parameters,
        keep_draws([DrawnMixture(fit.labels, parameters, concentration)], fit.labels),
        concentration,
        np.ones(len(fit.tables.switching)),
        history={"n_clusters": fit.n_clusters.astype(float), "log_likelihood": fit.log_likelihood},
    )

"""How `InfiniteTreeHMMMixture` is fitted: by chains, by variational Bayes, or by the paper's procedure."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.estimators.settings import check_positive, check_whole
from bayesgrove.estimators.tree_hmm import FIT_PATH
from bayesgrove.estimators.tree_hmm_mixture import pair_probabilities
from bayesgrove.estimators.tree_inputs import LEARN, check_strength
from bayesgrove.inference.description import spread
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.similarity import cohesion, pairs_between
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler, with_plain_links
from bayesgrove.models.tree_hmm.estimates import counts_of_labels, mean_parameters
from bayesgrove.models.tree_hmm.keeper import TABLES, TableKeeper
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, N_INFINITE_STATES, Target, make_target, prior_of
from bayesgrove.models.tree_hmm.paper import N_SWEEPS, PaperSettings, fit_paper
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, make_prior, select_parameters, with_values
from bayesgrove.models.tree_hmm.predictive import MOST_BYTES, MOST_DRAWS, DrawnMixture, Kept, keep_draws
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_schedule
from bayesgrove.models.tree_hmm.starts import LabelsStart, VariationalStart
from bayesgrove.models.tree_hmm.tables import Counts, Strengths, Tables
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, VBSettings, choose_n_states, vb_start
from bayesgrove.models.tree_hmm.warm import compile_kernels
from bayesgrove.stats.partitions import binder_loss, relabel

METHODS = ("gibbs", "collapsed", "vb", "paper")
INITS = ("vb", "one", "random")
STATES_PATH, ESTIMATE_PATH = 0x57A7, 0xE571
AUTO_STATES = (4, 8, 16)
AUTO, INFINITE = "auto", "infinite"
LEAST_PAIR = 0.01
"""Pairs added to those counted, so that draws that agree do not claim certainty."""


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


class ChainPlan(NamedTuple):
    """What chains are run with."""

    sampler: Any
    schedule: Schedule
    target: Target


def resolve_states(model: Any) -> int:
    """The number of hidden states: as given, or that of the greatest variational bound."""
    given = model.n_states
    if isinstance(given, str) and given == AUTO:
        prior = make_prior(model._data.forest, AUTO_STATES[0], model.missing, start_strengths(model))
        rng = generator(model._seed, STATES_PATH)
        settings = vb_settings(model)
        choice = choose_n_states(rng, model._links, prior, start_concentration(model), settings, AUTO_STATES)
        return int(choice.fit.prior.shape.n_states)
    if isinstance(given, str) and given == INFINITE:
        if model.method != "gibbs":
            raise InvalidSettingError(f'n_states="infinite" needs method="gibbs", got {model.method!r}. Take a number.')
        return N_INFINITE_STATES
    if isinstance(given, str):
        raise InvalidSettingError(f"n_states must be a whole number, 'auto' or 'infinite', got {given!r}. Try 4.")
    check_whole("n_states", given, 1)
    return int(given)


def check_concentration(value: Any, *, may_learn: bool) -> None:
    """Refuse what is no positive, finite number, nor "auto" where it may be learned."""
    if value is None or (isinstance(value, str) and value == LEARN and may_learn):
        return
    if isinstance(value, str):
        choices = "a positive number or 'auto'" if may_learn else "a positive number"
        raise InvalidSettingError(f"concentration must be {choices}, got {value!r}. Try 1.0.")
    check_positive("concentration", value)
    if np.isinf(value):
        raise InvalidSettingError("concentration must be finite, got inf. Try 1.0.")


def start_strengths(model: Any) -> Strengths:
    """Strengths as given; 1 where they are learned."""
    given = check_strength(model.prior_strength, may_learn=True)
    return Strengths() if isinstance(given, str) else given


def start_concentration(model: Any) -> float:
    """The concentration as given; 1 where it is learned."""
    given = model._given_concentration()
    return 1.0 if isinstance(given, str) else float(given)


def vb_settings(model: Any) -> VBSettings:
    """How variational fits are run; no more components than trees."""
    n_components = min(VB_DEFAULTS.n_components, len(model._data))
    n_iter = VB_DEFAULTS.n_iter if model.max_iter is None else model.max_iter
    return VB_DEFAULTS._replace(n_components=n_components, n_iter=n_iter, n_init=model.n_init)


# Chains


def compile_ahead(model: Any) -> None:
    """Have the kernels of the default method compiled, several at a time, before any of them is needed."""
    if model.method == "gibbs" and model._data.forest.values is None:
        compile_kernels(None if model.estimate == "map" else model.estimate)


def plan_chains(model: Any) -> ChainPlan:
    """Sampler and schedule of the method."""
    strengths = check_strength(model.prior_strength, may_learn=True)
    target = make_target(
        model._data.forest,
        n_states=INFINITE if model.n_states == INFINITE else model.n_states_,
        missing=model.missing,
        concentration=model._given_concentration(),
        prior_strength=LEARN if isinstance(strengths, str) else tuple(strengths),
        links=model._links,
    )
    move = model.split_merge
    if move == AUTO:
        move = "retained" if model.method == "gibbs" else "sequential"
    schedule = default_schedule(model.n_tune, method=model.method, split_merge=move, thin=model.thin)
    first, about = first_state(model), fingerprint(model)
    sampler: Any = TreeMixtureSampler(target, first, about)
    if model.method == "collapsed":
        sampler = CollapsedTreeSampler(with_plain_links(target, model._data.forest), first, about)
    return ChainPlan(TableKeeper(sampler, schedule), schedule, target)


def fingerprint(model: Any) -> dict[str, Any]:
    """What tells this run from others, besides the trees and the prior."""
    init = model.init if isinstance(model.init, str) else "labels " + "".join(map(str, relabel(model.init)))[:40]
    return {"model": type(model).__name__, "method": model.method, "init": init, "n_init": model.n_init}


def first_state(model: Any) -> Any:
    """Where chains begin."""
    if not isinstance(model.init, str):
        labels = np.asarray(model.init)
        if labels.shape != (len(model._data),):
            raise InvalidSettingError(
                f"init must have one label for each of the {len(model._data)} trees, got shape {labels.shape}."
            )
        return LabelsStart(labels=tuple(relabel(labels).tolist()))
    if model.init == "vb":
        return VariationalStart(vb_settings(model))
    return LabelsStart(model.init)


def find_by_chains(model: Any, labels: np.ndarray) -> Found:
    """Clusters of the point estimate; components begin with the tables of the draw that is most like it."""
    posterior, prior = model.posterior_, learned_prior(model)
    drawn = drawn_mixtures(model)
    nearest = min(drawn, key=lambda draw: binder_loss(draw.labels, labels))
    concentration = learned(model, "concentration", start_concentration(model))
    counts = counts_of_labels(model._links, prior, labels, matched_tables(nearest, labels, prior))
    flat = posterior.labels.reshape(-1, posterior.n_items)
    return Found(
        labels,
        prior,
        counts,
        mean_parameters(prior, counts),
        keep_draws(drawn, labels),
        concentration,
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


def learned(model: Any, name: str, given: float) -> float:
    """Posterior mean of a number, or as given."""
    scalars = model.posterior_.scalars
    return float(scalars[name].mean()) if name in scalars else given


def learned_prior(model: Any) -> TreePrior:
    """The prior at the posterior means of numbers that were learned."""
    target: Target = model._plan.target
    pairs = zip(ALL_NAMES, target.values.tolist(), strict=True)
    return prior_of(target, np.array([learned(model, name, given) for name, given in pairs]))


def drawn_mixtures(model: Any) -> list[DrawnMixture]:
    """Draws with their tables, evenly spread over those that have them, as many as are useful and fit."""
    given = start_concentration(model)
    places = [
        (chain, draw)
        for chain, own in enumerate(model._drawn)
        for draw, rows in enumerate(own["switching"])
        if len(rows)
    ]
    chain, draw = places[0]
    size = sum(model._drawn[chain][name][draw].nbytes for name in TABLES)
    most = max(1, min(MOST_DRAWS, MOST_BYTES // max(size, 1)))
    scalars = model.posterior_.scalars.get("concentration")
    return [
        drawn_mixture(model._drawn[c], d, given if scalars is None else float(scalars[c, d]))
        for c, d in (places[k] for k in spread(len(places), most))
    ]


def drawn_mixture(draws: dict[str, np.ndarray], number: int, concentration: float) -> DrawnMixture:
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


def fit_by_vb(model: Any) -> Found:
    """The variational fit; components that are no tree's most probable one are left out."""
    concentration = start_concentration(model)
    prior = make_prior(model._data.forest, model.n_states_, model.missing, start_strengths(model))
    progress = getattr(model, "_progress", None)
    fit = vb_start(generator(model._seed, FIT_PATH), model._links, prior, concentration, vb_settings(model), progress)
    labels = relabel(fit.labels)
    first = fit.labels[np.unique(labels, return_index=True)[1]]
    counts = Counts(*(part[first] for part in fit.counts))
    parameters = mean_parameters(prior, counts)
    shares = fit.responsibilities[first].T
    model.responsibilities_ = shares / shares.sum(axis=1, keepdims=True)
    model.log_evidence_, model.history_ = fit.elbo, {"elbo": fit.trace}
    kept = keep_draws([DrawnMixture(labels, parameters, concentration)], labels)
    together = pair_probabilities(model.responsibilities_, labels)
    return Found(labels, prior, counts, parameters, kept, concentration, together)


def fit_by_paper(model: Any) -> Found:
    """Where the printed procedure ended."""
    concentration, strengths = start_concentration(model), start_strengths(model)
    if len(set(strengths)) > 1:
        raise InvalidSettingError(f'method="paper" has one number for all tables, got {model.prior_strength!r}.')
    forest = model._data.forest
    prior = make_prior(forest, model.n_states_, model.missing, strengths)
    n_sweeps = N_SWEEPS if model.max_iter is None else model.max_iter
    settings = PaperSettings(prior.shape, strengths.initial, concentration, n_sweeps, bool(model.compat))
    fit = fit_paper(generator(model._seed, FIT_PATH), forest, settings)
    model.history_ = {"n_clusters": fit.n_clusters.astype(float), "log_likelihood": fit.log_likelihood}
    parameters = Parameters(fit.tables, np.zeros((len(fit.tables.switching), model.n_states_, 0, 2)))
    counts = counts_of_labels(model._links, prior, fit.labels, fit.tables)
    kept = keep_draws([DrawnMixture(fit.labels, parameters, concentration)], fit.labels)
    ones = np.ones(len(fit.tables.switching))
    return Found(fit.labels, prior, counts, parameters, kept, concentration, ones)

"""Moves of whole states under a penalty, as the sampler calls them: arrays that are full are replaced here."""

import math
from collections.abc import Mapping

import numpy as np

from bayesgrove.core.constants import NEEDS_CAPACITY, OK
from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.models.nested.penalty import chance_table, links_of, log_penalty, penalty_of
from bayesgrove.models.nested.penalty_gaussian import augment_discriminants, gibbs_discriminants, print_discriminants
from bayesgrove.models.nested.penalty_metropolis import penalised_metropolis_paths
from bayesgrove.models.nested.penalty_paths import N_TALLIES as N_PATH_TALLIES
from bayesgrove.models.nested.penalty_paths import penalised_gibbs_paths
from bayesgrove.models.nested.penalty_regraft import N_TALLIES as N_REGRAFT_TALLIES
from bayesgrove.models.nested.penalty_regraft import has_columns_to_regraft, penalised_pass_over_weights
from bayesgrove.models.nested.penalty_slice import draw_discriminants, slice_discriminants
from bayesgrove.models.nested.penalty_sums import most_children
from bayesgrove.models.nested.penalty_sweeps import penalised_sweep_all
from bayesgrove.models.nested.state import State, grow_nodes, make_room, nodes_in_use
from bayesgrove.models.nested.sweeps import DONE, STAGE, WEIGHTS
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, DISCRIMINANT_VARIANCE, MAXIMUM, SUM, Target
from bayesgrove.models.nested.variances import draw_inverse_gamma
from bayesgrove.models.nested.visits import refuse_datum

PATH_TALLIES = ("paths_changed", "visits", "branches_evaluated")
REGRAFT_TALLIES = ("regrafts", "regrafts_moved", "places_evaluated")
UPDATES = ("slice", "augmented", "gibbs", "printed")
N_AUXILIARY = 3


def start_margins(target: Target, state: State) -> None:
    """Discriminants of a first state from their prior, and what margins cost by chance."""
    if target.penalty:
        variance = float(state.values[DISCRIMINANT_VARIANCE])
        draw_discriminants(state.stream, links_of(state.tree), state.margins.eta, math.sqrt(variance))
        state.margins = state.margins._replace(log_chance=chance_table(target, variance))


def redraw_margins(target: Target, state: State) -> None:
    """Discriminants that nothing holds, at C = 0, from their prior: nodes that are new have none yet."""
    if target.penalty:
        scale = math.sqrt(float(state.values[DISCRIMINANT_VARIANCE]))
        draw_discriminants(state.stream, links_of(state.tree), state.margins.eta, scale)
        draw_discriminant_variance(target, state)


def widen_chances(target: Target, state: State, n_siblings: int) -> None:
    """A table of "chance-max" that knows twice as many siblings."""
    log_chance = chance_table(target, float(state.values[DISCRIMINANT_VARIANCE]), 2 * n_siblings)
    state.margins = state.margins._replace(log_chance=log_chance)


def penalised_sweep(
    rng: np.random.Generator, target: Target, state: State, *, n_slices: int = 1, n_auxiliary: int = N_AUXILIARY
) -> Mapping[str, int]:
    """Gibbs paths, slices of the discriminants, weights with regraft and concentrations, means and variances."""
    order, progress = np.arange(target.data.shape[0]), np.zeros(2, np.int64)
    tallies, status = np.zeros(N_PATH_TALLIES + N_REGRAFT_TALLIES, np.int64), NEEDS_CAPACITY
    while status != OK:
        status = penalised_sweep_all(
            rng, state.stream, target.law, target.data, state.tree, state.mixture, state.margins.eta,
            penalty_of(target, state), state.values, target.hyperpriors, target.depth, target.n_components,
            n_auxiliary, n_slices, order, progress, tallies,
        )  # fmt: skip
        if status == NEEDS_CAPACITY:
            (make_room_to_regraft if progress[STAGE] == WEIGHTS else make_room_for_paths)(target, state)
        elif status != OK:
            refuse_datum(int(progress[DONE]))
            refuse_regraft()
    draw_discriminant_variance(target, state)
    return dict(zip(PATH_TALLIES + REGRAFT_TALLIES, tallies.tolist(), strict=True))


def make_room_for_paths(target: Target, state: State) -> None:
    """Larger arrays after a path move has stopped."""
    widest = int(most_children(state.tree))
    if target.penalty == CHANCE_MAXIMUM and widest >= state.margins.log_chance.shape[1]:
        widen_chances(target, state, widest)
    else:
        make_room(state, target.depth)


def make_room_to_regraft(target: Target, state: State) -> None:
    """Larger arrays before a pass over the weights can begin."""
    if has_columns_to_regraft(penalty_of(target, state), state.tree):
        grow_nodes(state)
    else:
        widen_chances(target, state, 2 * nodes_in_use(state.tree).size)


def penalised_paths(
    rng: np.random.Generator,
    target: Target,
    state: State,
    *,
    path: str = "gibbs",
    lazy: bool = True,
    own_only: bool = False,
    n_auxiliary: int = N_AUXILIARY,
) -> Mapping[str, int]:
    """A scan over all data in random order; `own_only` gives the ratio of the paper to path="mh"."""
    n_items, tallies = target.data.shape[0], np.zeros(N_PATH_TALLIES, np.int64)
    order, done = rng.permutation(n_items), 0
    while True:
        tree, mixture, penalty = state.tree, state.mixture, penalty_of(target, state)
        given = (rng, target.law, target.data, tree, mixture, state.margins.eta, penalty, state.values, target.depth)
        if path == "gibbs":
            done = penalised_gibbs_paths(*given, target.n_components, n_auxiliary, lazy, order, done, tallies)
        else:
            done = penalised_metropolis_paths(*given, target.n_components, own_only, order, done, tallies)
        if done == n_items:
            return dict(zip(PATH_TALLIES, tallies.tolist(), strict=True))
        refuse_datum(done)
        make_room_for_paths(target, state)


def penalised_weights(rng: np.random.Generator, target: Target, state: State) -> Mapping[str, int]:
    """A pass over all weights with regrafts, and the concentrations that are learned."""
    tallies, status = np.zeros(N_REGRAFT_TALLIES, np.int64), NEEDS_CAPACITY
    while status != OK:
        status = penalised_pass_over_weights(
            rng, state.tree, state.mixture, state.margins.eta, penalty_of(target, state), state.values,
            target.hyperpriors, target.depth, target.n_components, tallies,
        )  # fmt: skip
        if status == NEEDS_CAPACITY:
            make_room_to_regraft(target, state)
        elif status != OK:
            refuse_regraft()
    return dict(zip(REGRAFT_TALLIES, tallies.tolist(), strict=True))


def refuse_regraft() -> None:
    """Raise where no parent is possible for a node."""
    raise NumericalError(
        "no parent, old or new, is possible for a node: its weights are not finite. "
        "Choose concentrations nearer to 1, or scale the data."
    )


def refuse_update(target: Target, update: str) -> None:
    """Raise where a move of the discriminants does not know the penalty."""
    if update not in UPDATES:
        raise InvalidSettingError(f"discriminants is one of {', '.join(UPDATES)}, got {update!r}.")
    if update in ("augmented", "printed") and target.penalty != MAXIMUM:
        raise InvalidSettingError(f'discriminants={update!r} needs penalty="max". Take discriminants="slice".')
    if update == "gibbs" and target.penalty not in (SUM, CHANCE):
        raise InvalidSettingError('discriminants="gibbs" needs penalty="sum" or "chance". Take discriminants="slice".')


def move_discriminants(
    target: Target, state: State, update: str = "slice", *, paper_prior_precision: str = "1/nu0^2"
) -> Mapping[str, int]:
    """One move of all discriminants, with numbers of their own stream."""
    refuse_update(target, update)
    variance, stream = float(state.values[DISCRIMINANT_VARIANCE]), state.stream
    given = (stream, penalty_of(target, state), links_of(state.tree), state.margins.eta, state.tree.leaf)
    if update == "slice":
        return {"angles": int(slice_discriminants(*given, target.depth, math.sqrt(variance)))}
    if update == "augmented":
        n_accepted = int(augment_discriminants(*given, math.sqrt(variance)))
        return {"discriminants_accepted": n_accepted, "discriminants": nodes_in_use(state.tree).size - 1}
    if update == "gibbs":
        gibbs_discriminants(*given, math.sqrt(variance))
        return {}
    if paper_prior_precision not in ("nu0^2", "1/nu0^2"):
        raise InvalidSettingError(f'paper_prior_precision is "nu0^2" or "1/nu0^2", got {paper_prior_precision!r}.')
    print_discriminants(*given, variance if paper_prior_precision == "nu0^2" else 1.0 / variance)
    return {}


def draw_discriminant_variance(target: Target, state: State) -> None:
    """nu0^2 ~ IG(a + d' n_nodes / 2, b + sum |eta|^2 / 2), where it is learned.

    The chance-normalised penalties depend on nu0 through their tables: there the same draw is a proposal, accepted with
    the ratio of the normalisers.
    """
    shape, scale = target.hyperpriors[DISCRIMINANT_VARIANCE]
    if math.isnan(shape):
        return
    eta = state.margins.eta[nodes_in_use(state.tree)[1:]]
    proposed = float(draw_inverse_gamma(state.stream, shape + 0.5 * eta.size, scale + 0.5 * float((eta**2).sum())))
    before, log_before = state.margins, log_penalty(target, state)
    if target.penalty in (CHANCE, CHANCE_MAXIMUM):
        log_chance = chance_table(target, proposed, max(before.log_chance.shape[1] - 1, 1))
        state.margins = before._replace(log_chance=log_chance)
        if -state.stream.standard_exponential() >= log_penalty(target, state) - log_before:
            state.margins = before
            return
    state.values[DISCRIMINANT_VARIANCE] = proposed

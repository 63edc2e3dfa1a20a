"""Metropolis-coupled chains with falling strengths of the penalty: the chain without penalty moves freely."""

from collections.abc import Sequence

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.nested.penalty import chance_table, log_penalty
from bayesgrove.models.nested.state import State
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, DISCRIMINANT_VARIANCE, Target


def strength_ladder(target: Target, n_temperatures: int) -> list[Target]:
    """Targets with strengths C, .., 0, denser towards 0, where the tree begins to feel the penalty."""
    if n_temperatures < 1:
        raise InvalidSettingError(f"n_temperatures must be at least 1, got {n_temperatures}.")
    shares = np.linspace(1.0, 0.0, n_temperatures) ** 2 if n_temperatures > 1 else np.ones(1)
    return [target._replace(strength=target.strength * share) for share in shares.tolist()]


def state_under(target: Target, state: State) -> State:
    """The same state, sharing its arrays, with the table of chances that belongs to a target."""
    if target.penalty not in (CHANCE, CHANCE_MAXIMUM):
        return state
    variance, n_columns = float(state.values[DISCRIMINANT_VARIANCE]), state.margins.log_chance.shape[1]
    log_chance = chance_table(target, variance, max(n_columns - 1, 1))
    return State(state.tree, state.mixture, state.margins._replace(log_chance=log_chance), state.values, state.stream)


def swap_strengths(rng: np.random.Generator, targets: Sequence[Target], states: list[State]) -> list[int]:
    """Let each pair of neighbours exchange their states, in place; the places of the first of each pair that did.

    Accepted with probability min(1, R_1(x_2) R_2(x_1) / (R_1(x_1) R_2(x_2))): all else of the two distributions is the
    same.
    """
    accepted = []
    for k in range(len(states) - 1):
        first, second = targets[k], targets[k + 1]
        down, up = state_under(second, states[k]), state_under(first, states[k + 1])
        log_ratio = log_penalty(first, up) + log_penalty(second, down)
        log_ratio -= log_penalty(first, states[k]) + log_penalty(second, states[k + 1])
        if -rng.standard_exponential() < log_ratio:
            states[k], states[k + 1] = up, down
            accepted.append(k)
    return accepted

"""All outcomes of a random function and their probabilities, by depth-first replay of its choices.

A random function draws only by `choose(probabilities) -> index`. It is run once per path: a run follows the choices
of its prefix, then takes the first possible index of every further choice and leaves the others for later runs.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np

Choose = Callable[[Sequence[float]], int]
TOLERANCE = 1e-12


class Replay:
    """A `choose` that follows a path, then takes first possible indices and remembers the paths not taken."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path = list(path)
        self.n_made = 0
        self.probability = 1.0
        self.others: list[tuple[int, ...]] = []

    def __call__(self, probabilities: Sequence[float]) -> int:
        if self.n_made == len(self.path):
            first, *others = open_choices(probabilities)
            self.others += [(*self.path, other) for other in others]
            self.path.append(first)
        index = self.path[self.n_made]
        self.n_made += 1
        self.probability *= probabilities[index]
        return index


def outcomes(draw: Callable[[Choose], Any]) -> list[tuple[Any, float]]:
    """Result and probability of every path; results may repeat."""
    found, waiting = [], [()]
    while waiting:
        choose = Replay(waiting.pop())
        found.append((draw(choose), choose.probability))
        waiting += choose.others
    return found


def open_choices(probabilities: Sequence[float]) -> list[int]:
    """Indices of positive probability, of numbers that must be probabilities."""
    if min(probabilities) < 0 or not abs(math.fsum(probabilities) - 1) <= TOLERANCE:
        raise ValueError(f"choose needs probabilities that sum to 1, got {list(probabilities)}")
    return [k for k, probability in enumerate(probabilities) if probability > 0]


def law_of(draw: Callable[[Choose], Hashable]) -> dict[Any, float]:
    """Probability of each distinct result."""
    law: dict[Any, float] = {}
    for result, probability in outcomes(draw):
        law[result] = law.get(result, 0.0) + probability
    return law


def collapsed(draw: Callable[..., Hashable]) -> Callable[..., Any]:
    """The same random function, last argument `choose`, with one choice among its distinct results.

    Its law is enumerated once per arguments: what does not enter an acceptance ratio need not multiply the paths.
    """

    @cache
    def law(*arguments):
        found = law_of(lambda choose: draw(*arguments, choose))
        total = math.fsum(found.values())
        return list(found), [probability / total for probability in found.values()]

    def once(*arguments):
        results, probabilities = law(*arguments[:-1])
        return results[arguments[-1](probabilities)]

    return once


def transition_matrix(move: Callable[[Any, Choose], Any], states: Sequence[Any]) -> np.ndarray:
    """Row: from, column: to; of a move (state, choose) -> state."""
    index = {state: k for k, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for reached, probability in outcomes(lambda choose, state=state: move(state, choose)):
            matrix[index[state], index[reached]] += probability
    return matrix


def total_variation(first: np.ndarray, second: np.ndarray) -> float:
    """Half the sum of absolute differences."""
    return 0.5 * float(np.abs(first - second).sum())


def invariance_gap(matrix: np.ndarray, law: np.ndarray) -> float:
    """Total variation between the law after one step and before."""
    return total_variation(law @ matrix, law)


def balance_gap(matrix: np.ndarray, law: np.ndarray) -> float:
    """Largest difference of flows between two states."""
    flow = law[:, None] * matrix
    return float(np.abs(flow - flow.T).max())


def spectral_gap(matrix: np.ndarray, law: np.ndarray) -> float:
    """1 minus the second largest eigenvalue of a reversible matrix."""
    root = np.sqrt(law)
    symmetric = root[:, None] * matrix / root
    return 1.0 - float(np.linalg.eigvalsh((symmetric + symmetric.T) / 2)[-2])

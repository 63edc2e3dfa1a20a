"""Trees of several shapes, told apart by where children stand: those of Bacciu & Castellana by default."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.io.tree_data import TreeData

MAX_ATTEMPTS = 10_000
"""So often a tree is begun anew when it stops growing too early."""


def make_asymmetric_trees(
    n_per_class: int = 200,
    child_probabilities: Sequence[Sequence[float]] = ((0.9, 0.3, 0.1), (0.6, 0.6, 0.6), (0.1, 0.3, 0.9)),
    size_ranges: Sequence[tuple[int, int]] = ((20, 25), (50, 60), (80, 100)),
    *,
    random_state: Any = None,
) -> TreeData:
    """Trees that lean to the left, to no side, and to the right, labelled by their numbers of children.

    Parameters
    ----------
    n_per_class : int
        Trees of each class.
    child_probabilities : sequences of float, one per class
        Probability that a node has a child at each position.
    size_ranges : pairs of int, one per class
        Smallest and largest number of nodes.
    random_state : int, Generator or None

    Returns
    -------
    TreeData
        Class after class, with the class of every tree, from 0, in `targets`.

    Notes
    -----
    A tree grows breadth first, each node in turn getting its children, until it has as many nodes as were drawn for it
    (evenly within the range, rounded); when it stops growing before, it is begun anew. The original set, by
    `load_synthetic_trees`, has 200 trees per class for training and 60 for testing.

    Examples
    --------
    >>> trees = make_asymmetric_trees(2, random_state=0)
    >>> trees.targets.tolist(), trees.max_outdegree, trees.n_labels
    ([0, 0, 1, 1, 2, 2], 3, 4)
    """
    shapes = _checked_shapes(n_per_class, child_probabilities, size_ranges)
    rng = generator(resolve_seed(random_state))
    labels, parents, positions = [], [], []
    for probabilities, (smallest, largest) in zip(shapes, size_ranges, strict=True):
        for _ in range(n_per_class):
            size = int(smallest + (largest - smallest) * rng.random() + 0.5)
            own_parents, own_positions = _grow(rng, probabilities, size)
            labels.append(np.bincount(own_parents[1:], minlength=size))
            parents.append(own_parents)
            positions.append(own_positions)
    n_positions = shapes.shape[1]
    data = TreeData.from_parents(labels, parents, positions, n_positions, n_positions + 1)
    return replace(data, targets=np.repeat(np.arange(len(shapes)), n_per_class))


def _grow(rng: np.random.Generator, probabilities: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Parents and positions of one tree, nodes breadth first."""
    for _ in range(MAX_ATTEMPTS):
        wanted = rng.random((size, probabilities.size)) < probabilities
        parents, positions = [-1], [0]
        node = 0
        while node < len(parents) < size:
            places = (np.flatnonzero(wanted[node]) + 1).tolist()[: size - len(parents)]
            parents += [node] * len(places)
            positions += places
            node += 1
        if len(parents) == size:
            return np.array(parents), np.array(positions)
    raise InvalidSettingError(
        f"trees of {size} nodes hardly ever grow with child probabilities {probabilities.tolist()}: "
        f"{MAX_ATTEMPTS} attempts all stopped before. Raise the probabilities or lower the sizes."
    )


def _checked_shapes(
    n_per_class: int, child_probabilities: Sequence[Sequence[float]], size_ranges: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Probabilities by class and position; raises where the settings contradict each other."""
    if len({len(row) for row in child_probabilities}) != 1 or len(size_ranges) != len(child_probabilities):
        raise InvalidSettingError(
            "every class has a size range and as many child probabilities as the others, "
            f"got {len(size_ranges)} ranges and {[len(row) for row in child_probabilities]} probabilities."
        )
    shapes = np.array(child_probabilities, float)
    if n_per_class < 1 or not shapes.size or not ((shapes >= 0.0) & (shapes <= 1.0)).all():
        raise InvalidSettingError(
            "n_per_class is at least 1 and child probabilities are from 0 to 1, "
            f"got {n_per_class} and {shapes.tolist()}."
        )
    if any(not 1 <= smallest <= largest for smallest, largest in size_ranges):
        raise InvalidSettingError(f"sizes go from at least 1 upwards, got {[tuple(pair) for pair in size_ranges]}.")
    return shapes

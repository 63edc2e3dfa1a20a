"""Rows drawn from a nested hierarchy of mixtures, with the truth beside them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.stats.paths import number_paths


class NestedTable(NamedTuple):
    """Rows of numbers, their paths (row, level), the component of each row, and the components' means."""

    X: np.ndarray
    levels: np.ndarray
    components: np.ndarray
    means: np.ndarray


def sample_bhmc(
    n_rows: int = 100,
    n_columns: int = 5,
    *,
    depth: int = 3,
    alpha: float = 0.4,
    gamma: float = 1.0,
    gamma0: float = 0.85,
    component_variance: float = 1.0,
    base_variance: float = 1.0,
    n_components: int | None = None,
    random_state: int = 0,
) -> NestedTable:
    """A table drawn from the prior of `BHMC`: a tree, mixtures in its nodes, and rows from those of its leaves.

    Parameters
    ----------
    n_rows, n_columns : int
    depth : int
        Levels below the root.
    alpha : float
        Of the nested Chinese restaurant process: larger values give more children.
    gamma, gamma0 : float
        How near a node's weights are to its parent's, and concentration of the root.
    component_variance, base_variance : float
        Of rows around the mean of their component, and of these means around 0.
    n_components : int, optional
        At most so many components, whose weights at the root are Dirichlet(gamma0 / n_components), instead of
        countably many.
    random_state : int
        Seed of `numpy.random.default_rng`.

    Notes
    -----
    Weights are integrated out, so that nothing is truncated: a row takes a table of its leaf's restaurant by the number
    of its guests, or a new one, whose dish is ordered from the parent's restaurant in the same way; the root invents
    new dishes, which are the components. Of finitely many each dish has gamma0 / n_components guests to begin with.

    Examples
    --------
    >>> made = sample_bhmc(50, 2, random_state=1)
    >>> made.X.shape, made.levels.shape
    ((50, 2), (50, 3))
    """
    numbers = (alpha, gamma, gamma0, component_variance, base_variance)
    if min(n_rows, n_columns, depth, 1 if n_components is None else n_components) < 1 or not min(numbers) > 0.0:
        raise InvalidSettingError(
            "n_rows, n_columns, depth and n_components are at least 1 and all other numbers positive, got "
            f"{n_rows}, {n_columns}, {depth}, {n_components} and {numbers}."
        )
    rng = np.random.default_rng(random_state)
    levels = draw_paths(rng, n_rows, depth, alpha)
    components = draw_components(rng, levels, gamma, gamma0, n_components)
    means = rng.normal(0.0, np.sqrt(base_variance), (int(components.max()) + 1, n_columns))
    rows = rng.normal(means[components], np.sqrt(component_variance))
    return NestedTable(rows, levels, components, means)


def draw_paths(rng: np.random.Generator, n_rows: int, depth: int, alpha: float) -> np.ndarray:
    """Paths from the nested Chinese restaurant process, ids by first appearance, (n_rows, depth)."""
    sizes: dict[tuple[int, ...], list[int]] = {}
    paths = np.empty((n_rows, depth), np.int64)
    for row in range(n_rows):
        place: tuple[int, ...] = ()
        for level in range(depth):
            children = sizes.setdefault(place, [])
            child = choose(rng, children, alpha)
            sit(children, child)
            paths[row, level] = child
            place = (*place, child)
    return number_paths(paths)


def draw_components(
    rng: np.random.Generator, levels: np.ndarray, gamma: float, gamma0: float, n_components: int | None
) -> np.ndarray:
    """The component of each row, numbered by first appearance."""
    tables: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    found = np.empty(len(levels), np.int64)
    for row, path in enumerate(levels.tolist()):
        # From the leaf up, until a table is shared; the root's tables are the components themselves.
        restaurants = [tables.setdefault((level, path[level]), ([], [])) for level in reversed(range(len(path)))]
        new_below = []
        dish = None
        for guests, dishes in restaurants:
            table = choose(rng, guests, gamma)
            sit(guests, table)
            if table < len(dishes):
                dish = dishes[table]
                break
            new_below.append(dishes)
        if dish is None:
            guests, _ = tables.setdefault((-1, 0), ([], []))
            dish = choose_dish(rng, guests, gamma0, n_components)
            sit(guests, dish)
        for dishes in new_below:
            dishes.append(dish)
        found[row] = dish
    return found


def choose(rng: np.random.Generator, sizes: Sequence[float], concentration: float) -> int:
    """A table by its number of guests, or the next free one by the concentration."""
    weights = np.cumsum([*sizes, concentration])
    return int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))


def choose_dish(rng: np.random.Generator, sizes: list[int], gamma0: float, n_components: int | None) -> int:
    """A dish of the root by its number of tables, or a new one, if any is left."""
    if n_components is None:
        return choose(rng, sizes, gamma0)
    share = gamma0 / n_components
    return choose(rng, [size + share for size in sizes], share * (n_components - len(sizes)))


def sit(sizes: list[int], table: int) -> None:
    """One more guest."""
    if table == len(sizes):
        sizes.append(0)
    sizes[table] += 1

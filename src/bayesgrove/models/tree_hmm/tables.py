"""`Tables` of components, `Counts` of what they were used for, and the Dirichlet distributions between them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, xlogy

from bayesgrove.stats.sampling import draw_dirichlet

BOTTOM_PRIOR, BOTTOM, RENORM = range(3)
MODES = {"bottom_prior": BOTTOM_PRIOR, "bottom": BOTTOM, "renorm": RENORM}
"""How an absent child counts: as a slot that drew the state "bottom", as that state for free, or not at all."""


class Tables(NamedTuple):
    """Tables of K components with L positions, C states and M labels; the state "bottom" has index C."""

    initial: np.ndarray
    """(K, L + 1, C + 1): state of a frontier slot by position (pi); row 0 is a root that is a leaf, never bottom."""
    emission: np.ndarray
    """(K, M, C): probability of a label in a state (b transposed); densities over exp(log_scale) for numbers."""
    switching: np.ndarray
    """(K, L): which position a node looks at (phi)."""
    transition: np.ndarray
    """(K, L, C + 1, C): state of a node given that of the child it looks at (A)."""
    log_scale: np.ndarray
    """(K, M): log of what rows of `emission` were divided by; 0 for discrete labels."""

    @property
    def n_states(self) -> int:
        """C."""
        return int(self.transition.shape[3])


class Counts(NamedTuple):
    """How often each cell of the tables was used, expected or drawn."""

    initial: np.ndarray
    emission: np.ndarray
    switching: np.ndarray
    transition: np.ndarray
    present: np.ndarray
    """(K, L): sum over nodes with a child at l of weight / Phi; only where switching is renormalised."""


class Strengths(NamedTuple):
    """Symmetric Dirichlet priors of the four families of rows (alpha)."""

    initial: float = 1.0
    emission: float = 1.0
    switching: float = 1.0
    transition: float = 1.0


class Shape(NamedTuple):
    """Sizes of the tables of one component."""

    n_positions: int
    n_states: int
    n_labels: int
    mode: int = BOTTOM_PRIOR


def make_tables(initial: ArrayLike, emission: ArrayLike, switching: ArrayLike, transition: ArrayLike) -> Tables:
    """One component from arrays pi (position, state), b (state, label), phi (position), A (position, child, parent)."""
    rows = np.ascontiguousarray(np.asarray(emission, float).T)
    return Tables(
        np.array(initial, float)[None],
        rows[None],
        np.array(switching, float)[None],
        np.array(transition, float)[None],
        np.zeros((1, len(rows))),
    )


def stack(components: Sequence[Tables]) -> Tables:
    """Several components as one."""
    return Tables(*(np.concatenate(parts) for parts in zip(*components, strict=True)))


def select(tables: Tables, components: ArrayLike) -> Tables:
    """Some components, by number or mask; a single number keeps the first axis."""
    chosen = np.atleast_1d(np.asarray(components))
    return Tables(*(np.ascontiguousarray(part[chosen]) for part in tables))


def zero_counts(n_components: int, shape: Shape) -> Counts:
    """Nothing counted yet."""
    n_positions, n_states, n_labels, _ = shape
    return Counts(
        np.zeros((n_components, n_positions + 1, n_states + 1)),
        np.zeros((n_components, n_labels, n_states)),
        np.zeros((n_components, n_positions)),
        np.zeros((n_components, n_positions, n_states + 1, n_states)),
        np.zeros((n_components, n_positions)),
    )


def shape_of(tables: Tables | Counts, mode: int) -> Shape:
    """Sizes of one component."""
    return Shape(tables.switching.shape[1], tables.transition.shape[3], tables.emission.shape[1], mode)


def free_cells(shape: Shape) -> np.ndarray:
    """Cells of `initial` that have probability at all: bool (L + 1, C + 1)."""
    free = np.ones((shape.n_positions + 1, shape.n_states + 1), bool)
    free[0, -1] = False
    if shape.mode != BOTTOM_PRIOR:
        free[:, -1] = False
    return free


def free_transitions(shape: Shape) -> np.ndarray:
    """Rows of `transition` that are used: bool (L, C + 1, 1); without bottom the last is not."""
    used = np.ones((shape.n_positions, shape.n_states + 1, 1), bool)
    if shape.mode == RENORM:
        used[:, -1] = False
    return used


def uniform_tables(shape: Shape) -> Tables:
    """One component all of whose rows are uniform."""
    return with_mean(zero_counts(1, shape), Strengths(), shape.mode)


def posterior_cells(counts: Counts, strengths: Strengths, mode: int) -> Counts:
    """Concentrations of the rows' Dirichlet distributions: counts plus strengths, 0 in cells that are not free."""
    shape = shape_of(counts, mode)
    return Counts(
        np.where(free_cells(shape), counts.initial + strengths.initial, 0.0),
        counts.emission + strengths.emission,
        counts.switching + strengths.switching,
        counts.transition + strengths.transition,
        counts.present,
    )


def with_mean(counts: Counts, strengths: Strengths, mode: int) -> Tables:
    """Means of the rows' distributions given counts."""
    cells = posterior_cells(counts, strengths, mode)
    return Tables(
        cells.initial / cells.initial.sum(2, keepdims=True),
        cells.emission / cells.emission.sum(1, keepdims=True),
        cells.switching / cells.switching.sum(1, keepdims=True),
        cells.transition / cells.transition.sum(3, keepdims=True),
        np.zeros(cells.emission.shape[:2]),
    )


def expected_log(cells: Counts, mode: int) -> Tables:
    """Exponentiated expected log probabilities under Dirichlet distributions, unnormalised, for variational passes."""
    free = free_cells(shape_of(cells, mode))
    totals = cells.initial.sum(2, keepdims=True)
    initial = np.where(free, np.exp(_expected(np.where(free, cells.initial, totals), totals)), 0.0)
    return Tables(
        initial,
        np.exp(_expected(cells.emission, cells.emission.sum(1, keepdims=True))),
        np.exp(_expected(cells.switching, cells.switching.sum(1, keepdims=True))),
        np.exp(_expected(cells.transition, cells.transition.sum(3, keepdims=True))),
        np.zeros(cells.emission.shape[:2]),
    )


def _expected(cells: np.ndarray, totals: np.ndarray) -> np.ndarray:
    found: np.ndarray = digamma(cells) - digamma(totals)
    return found


def log_prior(tables: Tables, strengths: Strengths, mode: int) -> np.ndarray:
    """Log density of each component's tables under the prior, all free rows together: (K,)."""
    shape = shape_of(tables, mode)
    n_positions, n_states, n_labels, _ = shape
    free, used = free_cells(shape), free_transitions(shape)
    found = np.zeros(len(tables.switching))
    for row, cells in zip(free, np.moveaxis(tables.initial, 1, 0), strict=True):
        found += _log_dirichlet(cells[:, row], strengths.initial, int(row.sum()))
    found += (
        _log_dirichlet(np.swapaxes(tables.emission, 1, 2), strengths.emission, n_labels).reshape(-1, n_states).sum(1)
    )
    found += _log_dirichlet(tables.switching, strengths.switching, n_positions)
    rows = _log_dirichlet(tables.transition, strengths.transition, n_states) * used[..., 0]
    return found + rows.sum((1, 2))


def _log_dirichlet(rows: np.ndarray, strength: float, size: int) -> np.ndarray:
    """Log density of rows along the last axis under a symmetric Dirichlet."""
    found: np.ndarray = gammaln(size * strength) - size * gammaln(strength) + xlogy(strength - 1.0, rows).sum(-1)
    return found


def draw_tables(rng: np.random.Generator, counts: Counts, strengths: Strengths, mode: int) -> Tables:
    """Rows drawn from Dirichlet(strength + counts); with zero counts a draw from the prior.

    Where switching is renormalised its row needs the auxiliary step of the sampler instead.
    """
    cells = posterior_cells(counts, strengths, mode)
    found = with_mean(counts, strengths, mode)
    for k in range(len(cells.switching)):
        found.initial[k] = draw_dirichlet(rng, cells.initial[k])
        found.emission[k] = draw_dirichlet(rng, cells.emission[k].T).T
        found.switching[k] = draw_dirichlet(rng, cells.switching[k])
        found.transition[k] = draw_dirichlet(rng, cells.transition[k])
    return found

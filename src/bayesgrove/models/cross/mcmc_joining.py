"""First views of CrossCat chains in which no two views would be better as one.

Chains divide views more easily than they merge them: a chain that starts with two views where one is right may stay
hundreds of nats below the others for its whole burn-in. The two views that gain most are therefore merged, again and
again, while the log joint density rises once the rows of both states have been moved as often. This is a start, not a
move: it need not leave the posterior invariant.
"""

import itertools

import numpy as np

from bayesgrove.models.cross.mcmc_dependence import dependent_views
from bayesgrove.models.cross.mcmc_sampler import sweep_rows, sweep_split_merge
from bayesgrove.models.cross.mcmc_split_merge import N_TALLIES
from bayesgrove.models.cross.mcmc_starts import rows_of_views
from bayesgrove.models.cross.mcmc_state import COLUMNS, ROWS, State, column_score, log_crp_sizes, make_state
from bayesgrove.models.cross.mcmc_target import Target

MOST_CELLS = 20_000
"""Larger tables start as they are: trying pairs of views would take longer than the burn-in."""
N_SCANS, N_MOVES = 3, 10
Pair = frozenset[tuple[int, ...]]
"""Two views, each by its columns: what merging them gains does not depend on the others."""


def joined_views(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns by their dependence, then views merged while that helps; rows as they were left by then."""
    of_column, rows = dependent_views(rng, target, params, concentrations)
    if target.by_row.size > MOST_CELLS:
        return of_column, rows
    state = make_state(target, of_column, rows, params, concentrations)
    tried: dict[Pair, tuple[float, State]] = {}
    while True:
        views = [tuple(np.flatnonzero(state.views.of_column == v).tolist()) for v in range(state.n_views)]
        pairs = {frozenset((views[a], views[b])): (a, b) for a, b in itertools.combinations(range(len(views)), 2)}
        for key, (one, two) in pairs.items():
            if key not in tried:
                merged = merge_pair(rng, target, state, one, two)
                move_rows(rng, target, merged)
                move_rows(rng, target, state)
                columns = np.array(views[one] + views[two])
                tried[key] = score(target, merged, columns) - score(target, state, columns), merged
        best = max(pairs, key=lambda key: tried[key][0], default=None)
        if best is None or tried[best][0] <= 0.0:
            return state.views.of_column.copy(), state.row_labels().copy()
        state = adopt(target, state, tried[best][1], np.array(sorted(sum(best, ()))))


def merge_pair(rng: np.random.Generator, target: Target, state: State, one: int, two: int) -> State:
    """The state with two views as one, whose rows are allocated anew; the other views stay."""
    of_column, rows = state.views.of_column.copy(), state.row_labels().copy()
    is_member = np.isin(of_column, (one, two))
    of_column[is_member] = one
    apart = np.where(is_member, 0, 1)  # the new view first; the second one, of all other columns, is not used
    rows[one] = rows_of_views(rng, target, state.params, state.concentrations, apart)[0]
    return make_state(target, of_column, rows, state.params, state.concentrations, state.tables)


def adopt(target: Target, state: State, merged: State, columns: np.ndarray) -> State:
    """The state with these columns, two views of it, in the view that they have in another state."""
    of_column, rows = state.views.of_column.copy(), state.row_labels().copy()
    view = of_column[columns[0]]
    of_column[columns] = view
    rows[view] = merged.views.labels[merged.views.of_column[columns[0]]]
    return make_state(target, of_column, rows, state.params, state.concentrations, state.tables)


def move_rows(rng: np.random.Generator, target: Target, state: State) -> None:
    """Move the rows of all views a few times."""
    tallies = np.zeros(N_TALLIES, np.int64)
    shared = (state.params, state.tables, state.concentrations[ROWS], 1.0)
    for _ in range(N_SCANS):
        sizes, stats, _ = sweep_rows(rng, target, state.views, *shared, 1.0)
        state.views = state.views._replace(sizes=sizes, stats=stats)
        sizes, stats = sweep_split_merge(rng, target, state.views, *shared, N_MOVES, tallies)
        state.views = state.views._replace(sizes=sizes, stats=stats)


def score(target: Target, state: State, columns: np.ndarray) -> float:
    """Log joint density of the views of these columns, and of all columns' partition."""
    views, (n_columns, n_rows), table = state.views, target.by_column.shape, target.log_gamma_n
    total = log_crp_sizes(table, views.widths, state.n_views, n_columns, state.concentrations[COLUMNS])
    for v in np.unique(views.of_column[columns]):
        total += log_crp_sizes(table, views.sizes[v], views.n_clusters[v], n_rows, state.concentrations[ROWS])
    return float(total + sum(column_score(target, state.params, state.tables, views, j) for j in columns))

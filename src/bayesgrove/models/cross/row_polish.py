"""Polish of the row trees of views: rows reassigned to the clusters of the most probable cut, trees regrown.

An agglomerative tree never takes back a merge. Its most probable cut is therefore improved row by row: each row is
taken out and put where log size + log predictive is largest, or into a cluster of its own. The tree is then grown anew,
the old one inside the clusters and a new one above them. The bound holds for any tree, so the best one is kept.
"""

from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.reassign import reassigned
from bayesgrove.agglomeration.regrow import (
    atoms_at,
    forest_of,
    induced_merges,
    layout_of,
    most_probable_cut,
    weighed,
    with_top,
)
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.models.cross.evidence import Problem, grow_views, log_evidence
from bayesgrove.models.cross.fixed_trees import root_logs
from bayesgrove.models.cross.view_table import ViewTable

MOST_ROUNDS = 6
PASSES = 4
ACCEPTED_RISE, WORTH_A_ROUND = 1e-3, 0.5


class Rows(NamedTuple):
    """The cells of one view, with all that weighs a tree of its rows."""

    prior: ColumnsPrior
    values: np.ndarray
    log_concentration: float
    complete: bool


def rows_of(problem: Problem, prior: ColumnsPrior, columns: np.ndarray) -> Rows:
    """The rows of a view."""
    values = np.ascontiguousarray(problem.table.values[columns].T)
    return Rows(part_of_prior(prior, columns), values, problem.log_rows, not bool(np.isnan(values).any()))


def can_polish(problem: Problem) -> bool:
    """Whether row trees are to be polished: by the search "best", where the cells are in this process."""
    return problem.row_search == "best" and problem.prior is not None and isinstance(problem.table, ViewTable)


def polished_merges(rows: Rows, children: np.ndarray) -> np.ndarray:
    """Merges of a tree of higher q than the one given, or those given."""
    n = rows.values.shape[0]
    layout = layout_of(children, n)
    here = forest_of(weighed(rows.prior, rows.values, children, rows.log_concentration))
    for _ in range(MOST_ROUNDS):
        labels, _ = most_probable_cut(here.children, here.log_odds, here.log_q, here.leaf_log_q)
        labels = reassigned(
            rows.prior, rows.values, labels, rows.log_concentration, complete=rows.complete, n_passes=PASSES
        )
        merges, roots = induced_merges(layout, labels)
        inside = weighed(rows.prior, rows.values, merges, rows.log_concentration)
        top = roots, atoms_at(inside, roots)
        moved = with_top(rows.prior, forest_of(inside), *top, rows.log_concentration, complete=rows.complete)
        risen = float(moved.log_q[-1] - here.log_q[-1])
        if risen > ACCEPTED_RISE:
            here = moved
        if risen < WORTH_A_ROUND:
            break
    return here.children


def polish_view(
    problem: Problem, columns: np.ndarray, evidence: float, row_children: np.ndarray
) -> tuple[float, np.ndarray]:
    """Evidence and merges of the rows of a view after polish, or those given where they are no lower.

    Polish starts from the tree given and from that in the order of the log odds.
    """
    if problem.prior is None or problem.table.n_rows < 3:
        return evidence, row_children
    rows, best = rows_of(problem, problem.prior, columns), (evidence, row_children)
    greedy = grow_views(problem._replace(row_search="greedy"), [columns]).children[0]
    for start in (row_children, greedy):
        children = polished_merges(rows, np.asarray(start, np.int64)).astype(np.int32)
        log_q, log_d = root_logs(problem, columns, children)
        value = float(log_evidence(problem, np.array([log_q]), np.array([log_d]))[0])
        best = max(best, (value, children), key=lambda found: found[0])
    return best

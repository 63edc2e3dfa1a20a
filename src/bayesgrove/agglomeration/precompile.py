"""Compiling the kernels of a search side by side: the start tree here, its polish in another process.

Cold, the kernels of one likelihood take the compiler some 20 s, and numba compiles one at a time in a process. Before
the search begins they are all called with a few rows, and shared through the disk cache, where later runs find them.
"""

from collections.abc import Sequence

import numpy as np

from bayesgrove.agglomeration.learn import Space
from bayesgrove.agglomeration.partition_moves import merged
from bayesgrove.agglomeration.reassign import move_rows
from bayesgrove.agglomeration.regrow import induced_merges, last_merges_undone
from bayesgrove.agglomeration.search import Search, cut_of, start_tree
from bayesgrove.agglomeration.splits import Problem
from bayesgrove.core.jit import is_compiled
from bayesgrove.core.subprocesses import working_in_subprocess
from bayesgrove.scoring.row_scorers import choose_scorer

FEW_ROWS = 8


def precompile_searches(searches: Sequence[tuple[Problem, Space]]) -> None:
    """Have everything that `search_tree` needs for each of these compiled, unless it is.

    Searches that come one after the other are better compiled together: the other process takes seconds to start.
    """
    few = [
        (problem._replace(values=problem.values[:FEW_ROWS].copy(), remote=None), space)
        for problem, space in searches
        if problem.values.shape[0] >= FEW_ROWS and not polish_is_compiled(problem)
    ]
    if few:
        with working_in_subprocess(rehearse_polishes, few):
            for search in few:
                start_tree(*search)


def polish_is_compiled(problem: Problem) -> bool:
    """Whether the largest kernel of the polish is ready for a likelihood."""
    whole, number, matrix = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1))
    scorer = choose_scorer(problem.prior, problem.values.shape[0], complete=problem.complete)
    return is_compiled(move_rows, scorer, matrix, whole, whole, matrix, matrix, 1, number, 0.0)


def rehearse_polishes(searches: Sequence[tuple[Problem, Space]]) -> None:
    """Rehearse one after the other."""
    for search in searches:
        rehearse_polish(*search)


def rehearse_polish(problem: Problem, space: Space) -> None:
    """One step of each kind from a chain of the rows, without agglomeration, which is compiled by the other process."""
    n = problem.values.shape[0]
    chain = np.array([(0, 1), *((n + t, t + 2) for t in range(n - 2))])
    search = Search(problem, space, chain)
    labels = last_merges_undone(chain, n, 2)
    where = search.learn_partition(space.origin, labels)
    here = search.learn_tree(search.weigh(where, chain))
    rows = search.rows(where)
    search.reassign(where, labels)
    rows.log_joint(merged(rows, labels))
    induced_merges(search.layout, cut_of(here.forest))

"""From a bound likelihood to a tree: learn the numbers, build, refine."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import Forest
from bayesgrove.agglomeration.choose import is_fast
from bayesgrove.agglomeration.exact import Progress, agglomerate, atoms_of_rows
from bayesgrove.agglomeration.learn import evidence_bound, learn
from bayesgrove.agglomeration.randomized import Grown, grow, refine_rounds
from bayesgrove.agglomeration.splits import Problem, Settings
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.models.bhc.duplicates import merge_duplicates_first
from bayesgrove.trees import Tree

LEARNING_ROWS, SLOW_LEARNING_ROWS = 1_000, 400
"""Rows the hyper-parameters are learned from; fewer where scores are computed pair by pair."""
LEARNING_PATH = 0x1EA7
"""Keys the generator that draws them, apart from those of the splits."""


class Fitted(NamedTuple):
    """A tree over all rows with the numbers it was built with."""

    bound: Bound
    log_concentration: float
    tree: Tree
    log_evidence: float
    """Lower bound, in the data's own units."""
    depth: int
    steps: dict[str, float]
    rows: Any
    """Encoded rows: an array, or `ClusterRows`."""


class ExactOptions(NamedTuple):
    """How the exact tree is built."""

    duplicates: str = "exact"
    scores: str = "light"
    memory_limit: float = 2.0**30
    refine: int = 0


def fit_exact(
    bound: Bound, concentration: Any, options: ExactOptions, seed: int, n_threads: int, progress: Progress | None
) -> Fitted:
    """Exact greedy BHC of all rows."""
    problem, bound = new_problem(bound, concentration, seed, n_threads)
    if options.duplicates == "merge_first":
        forest = merge_duplicates_first(problem, memory_limit=options.memory_limit, progress=progress)
    else:
        forest = exact_forest(problem, options, progress)
    log_q = float(forest.log_q[-1] if forest.log_q.size else forest.leaf_log_q[0])
    grown = Grown(forest, log_q, 0, {"exact": log_q})
    whole = Settings(leaf_size=problem.values.shape[0] + 1)  # refined clusters are built as one block each
    return finish(problem, bound, refine_rounds(problem, whole, grown, options.refine))


def exact_forest(problem: Problem, options: ExactOptions, progress: Progress | None) -> Forest:
    """The greedy tree over single rows."""
    n = problem.values.shape[0]
    atoms = atoms_of_rows(problem.prior, problem.values, problem.log_concentration)
    merges = agglomerate(
        problem.prior,
        atoms,
        problem.log_concentration,
        complete=problem.complete,
        scores=options.scores,
        memory_limit=options.memory_limit,
        n_threads=problem.n_threads,
        progress=progress,
    )
    return Forest(merges.children, merges.log_odds[n:], merges.log_q[n:], merges.log_d[n:], merges.log_q[:n])


def fit_randomized(
    bound: Bound,
    concentration: Any,
    settings: Settings,
    seed: int,
    n_threads: int,
    progress: Progress | None,
    *,
    regraft: bool,
    refine: int,
    remote: Any = None,
) -> Fitted:
    """Randomized BHC of all rows, which are those of the bound table or stand on a cluster."""
    problem, bound = new_problem(bound, concentration, seed, n_threads, remote)
    return finish(problem, bound, grow(problem, settings, regraft=regraft, refine=refine, progress=progress))


def new_problem(
    bound: Bound, concentration: Any, seed: int, n_threads: int, remote: Any = None
) -> tuple[Problem, Bound]:
    """Learn what is to be learned, on all rows of a small table or a sample of a large one."""
    rows = bound.values if remote is None else remote
    learn_concentration = isinstance(concentration, str) and concentration == "auto"
    log_concentration = 0.0 if learn_concentration else math.log(check_concentration(concentration))
    complete = not bool(np.isnan(bound.values).any()) if remote is None else remote.is_complete
    if (bound.free or learn_concentration) and rows.shape[0] > 1:
        values = learning_sample(bound.prior, rows, seed, complete=complete)
        learned = learn(bound.prior, values, log_concentration, bound.free, learn_concentration=learn_concentration)
        bound, log_concentration = relearned(bound, learned.prior), learned.log_concentration
    return Problem(bound.prior, bound.values, log_concentration, complete, seed, n_threads, remote), bound


def check_concentration(concentration: Any) -> float:
    """A positive finite number, or an error."""
    if isinstance(concentration, bool) or not isinstance(concentration, int | float | np.number):
        raise InvalidSettingError(f"concentration must be a positive number or 'auto', got {concentration!r}.")
    if not 0.0 < concentration < math.inf:
        raise InvalidSettingError(f"concentration must be positive and finite, got {concentration!r}. Try 1.0.")
    return float(concentration)


def learning_sample(prior: Any, rows: Any, seed: int, *, complete: bool) -> np.ndarray:
    """Rows to learn from: all of a small table, else a sample."""
    n = rows.shape[0]
    most = LEARNING_ROWS if is_fast(prior, complete=complete) else SLOW_LEARNING_ROWS
    if n <= most:
        return np.ascontiguousarray(rows[np.arange(n)])
    sampled = np.sort(generator(seed, LEARNING_PATH).choice(n, most, replace=False))
    return np.ascontiguousarray(rows[sampled])


def finish(problem: Problem, bound: Bound, grown: Grown) -> Fitted:
    """The tree table and the evidence bound in the data's own units."""
    evidence = evidence_bound(grown.log_q, problem.n_rows, problem.log_concentration) + bound.log_measure
    tree = tree_of(grown.forest, problem.log_concentration)
    return Fitted(bound, problem.log_concentration, tree, evidence, grown.depth, grown.steps, problem.rows)


def tree_of(forest: Forest, log_concentration: float) -> Tree:
    """The tree table of a finished forest."""
    n = forest.leaf_log_q.size
    columns = {
        "log_q": np.concatenate([forest.leaf_log_q, forest.log_q]),
        "log_d": np.concatenate([np.full(n, log_concentration), forest.log_d]),
    }
    return Tree.from_merges(forest.children, log_merge_odds=forest.log_odds, columns=columns)

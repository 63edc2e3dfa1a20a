"""From a bound likelihood to a tree: learn the numbers, build, refine."""

import logging
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import Forest
from bayesgrove.agglomeration.choose import is_fast
from bayesgrove.agglomeration.exact import Progress, agglomerate, atoms_of_rows, refuse_too_large
from bayesgrove.agglomeration.learn import Space, evidence_bound, learn, new_space
from bayesgrove.agglomeration.learn_scale import learned_scale
from bayesgrove.agglomeration.partition_moves import Rows, log_joint_missed
from bayesgrove.agglomeration.precompile import FEW_ROWS, precompile_searches
from bayesgrove.agglomeration.randomized import Grown, refine_rounds
from bayesgrove.agglomeration.search import WORTH_A_ROUND, search_tree
from bayesgrove.agglomeration.splits import Problem, Settings
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import fixed_sample, generator
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.coordinates import with_grain
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.parts import columns_in_use, with_columns
from bayesgrove.models.bhc.apart import Shared, rows_in_shares, with_apart
from bayesgrove.models.bhc.duplicates import merge_duplicates_first
from bayesgrove.models.bhc.linked import forest_of_rows, linked_problem, without_forbidden
from bayesgrove.models.bhc.united import Rows as UnitedRows
from bayesgrove.models.bhc.united import united_tree
from bayesgrove.stats.links import Links
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front

LEARNING_ROWS, SLOW_LEARNING_ROWS = 1_000, 400
"""Rows the hyper-parameters are learned from; fewer where scores are computed pair by pair."""
LEARNING_PATH = 0x1EA7
"""Keys the generator that draws them, apart from those of the splits."""


SCALE_ROUNDS = 2
"""How often the scale matrix of full covariances is learned."""


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
    """Encoded rows: an array, or `DaskRows`."""
    complete: bool
    """Whether no cell in use is missing."""
    shared: Shared | None = None
    """Rows in shares of components, where clusters are unions of them."""


class ExactOptions(NamedTuple):
    """How the tree over single rows is built."""

    duplicates: str = "exact"
    scores: str = "light"
    memory_limit: float = 2.0**30
    refine: int = 0
    search: str = "best"
    links: Links | None = None
    """Constraints on the rows."""


def fit_exact(
    bound: Bound, concentration: Any, options: ExactOptions, seed: int, n_threads: int, progress: Progress | None
) -> Fitted:
    """BHC of all rows: the best tree found, or the greedy one."""
    if options.search == "best":
        return fit_best(bound, concentration, options, seed, n_threads, progress)
    problem, bound = new_problem(bound, concentration, seed, n_threads)
    if options.links is not None:
        linked = linked_problem(problem, options.links)
        forest = forest_of_rows(linked, exact_forest(linked, options, progress), options.links)
    elif options.duplicates == "merge_first":
        forest = merge_duplicates_first(problem, memory_limit=options.memory_limit, progress=progress)
    else:
        forest = exact_forest(problem, options, progress)
    log_q = float(forest.log_q[-1] if forest.log_q.size else forest.leaf_log_q[0])
    grown = Grown(forest, log_q, 0, {"exact": log_q})
    whole = Settings(leaf_size=problem.values.shape[0] + 1)  # refined clusters are built as one block each
    return finish(problem, bound, refine_rounds(problem, whole, grown, options.refine))


def fit_best(
    bound: Bound, concentration: Any, options: ExactOptions, seed: int, n_threads: int, progress: Progress | None
) -> Fitted:
    """The tree and the hyperparameters of highest bound that the search finds, a scale matrix among them."""
    work = (concentration, options, seed, n_threads, progress)
    if not learns_scale(bound):
        return with_missed(fit_searched(bound, *work), options)
    some = rows_for_scale(bound, bound.values)
    if some is bound:
        return with_missed(fit_with_scale(bound, *work), options)
    found = fit_with_scale(some, concentration, options._replace(links=None), *work[2:])
    return with_missed(fit_searched(based_on(bound, found.bound.prior), *work), options)


def with_missed(found: Fitted, options: ExactOptions) -> Fitted:
    """The fit with what its partition misses among its steps, constraints aside: see `log_joint_missed`."""
    if options.links is not None:
        return found
    prior, values, n = found.bound.prior, found.rows, found.tree.n_leaves
    used = ~np.isnan(values).all(axis=0)
    if not used.all():
        prior, values = columns_in_use(prior, values, used)
    rows = Rows(prior, values, found.log_concentration, complete=not bool(np.isnan(values).any()))
    missed = log_joint_missed(rows, map_labels(found.tree)) if n > 1 else 0.0
    return found._replace(steps={**found.steps, "log_joint_missed": missed})


def learns_scale(bound: Bound) -> bool:
    """Whether the scale matrix of full covariances is to be learned: it is still the diagonal one of the start."""
    if not isinstance(bound.prior, GaussianFullPrior) or "scale" not in bound.free:
        return False
    return bool(np.count_nonzero(bound.prior.scale) <= bound.prior.mean.size)


def rows_compared(n: int) -> int:
    """Rows that decide on covariances and from which a scale matrix is learned: fewer of large tables, to save time."""
    return 750 if n <= 2_000 else 400


def rows_for_scale(bound: Bound, rows: Any) -> Bound:
    """The table, or with many rows some of them, from which the scale matrix is learned."""
    n = rows.shape[0]
    if n <= rows_compared(n):
        return bound
    return bound._replace(values=np.ascontiguousarray(rows[fixed_sample(n, rows_compared(n))]))


def based_on(bound: Bound, prior: GaussianFullPrior) -> Bound:
    """The table with another prior to start from; its grain is looked for again."""
    return bound._replace(prior=prior._replace(grain=bound.prior.grain, columns=bound.prior.columns))


def fit_with_scale(bound: Bound, *work: Any) -> Fitted:
    """Rounds of the search and of learning a scale matrix from the clusters it finds, while the bound rises."""
    found, before = fit_searched(bound, *work), None
    for _ in range(SCALE_ROUNDS):
        labels = map_labels(found.tree)
        if before is not None and np.array_equal(labels, before):  # which have no other scale matrix to tell
            break
        prior, values = columns_in_use(found.bound.prior, bound.values, ~np.isnan(bound.values).all(axis=0))
        moved = fit_searched(based_on(bound, learned_scale(prior, values, labels)), *work)
        if moved.log_evidence < found.log_evidence + WORTH_A_ROUND:
            break
        found, before = moved, labels
    return found


def map_labels(tree: Tree) -> np.ndarray:
    """The most probable partition consistent with a tree."""
    return relabel(labels_of_front(tree, find_front(tree, "map")))


def fit_searched(
    bound: Bound, concentration: Any, options: ExactOptions, seed: int, n_threads: int, progress: Progress | None
) -> Fitted:
    """The tree and the factors on the hyperparameters of highest bound that the search finds."""
    problem, space, used = search_of(bound, concentration, options, seed, n_threads)
    precompile_searches([(problem, space)])
    found = search_tree(problem, space, options.scores, progress)
    part, log_concentration = space.at(found.where)
    forest = found.forest
    if options.links is not None:
        at_end = problem._replace(prior=part, log_concentration=log_concentration)
        part, forest = part.prior, forest_of_rows(at_end, forest, options.links)
    report_limits(space, found.where)
    grained = with_grain(bound.prior, bound.values, bound.open_grain)
    prior = part if used.all() else with_columns(grained, part, used)
    bound = relearned(bound, prior)
    complete = not bool(np.isnan(bound.values).any())
    whole = Problem(prior, bound.values, log_concentration, complete, seed, n_threads)
    log_q = float(forest.log_q[-1] if forest.log_q.size else forest.leaf_log_q[0])
    return finish(whole, bound, Grown(forest, log_q, 0, {"search": log_q}))


def search_of(
    bound: Bound, concentration: Any, options: ExactOptions, seed: int, n_threads: int
) -> tuple[Any, Space, np.ndarray]:
    """A problem, the space of its priors, and which columns have an observed cell; others are left out."""
    learn_concentration = isinstance(concentration, str) and concentration == "auto"
    log_concentration = 0.0 if learn_concentration else math.log(check_concentration(concentration))
    prior = with_grain(bound.prior, bound.values, bound.open_grain)
    used = ~np.isnan(bound.values).all(axis=0)
    part, values = (prior, bound.values) if used.all() else columns_in_use(prior, bound.values, used)
    refuse_too_large(values.shape[0], 2 * n_stats(part), options.scores, options.memory_limit)
    problem = Problem(part, values, log_concentration, not bool(np.isnan(values).any()), seed, n_threads)
    if options.links is not None:
        problem = linked_problem(problem, options.links)
    free = bound.free if values.shape[0] > 1 else ()
    return problem, new_space(problem.prior, log_concentration, free, learn_concentration=learn_concentration), used


def compile_searches(bounds: Sequence[Bound], rows: Any) -> None:
    """Have all that fits of a table under each of these priors need compiled at once; its first rows stand for all."""
    few = np.ascontiguousarray(rows[np.arange(min(FEW_ROWS, rows.shape[0]))])
    work = (1.0, ExactOptions(), 0, 1)
    precompile_searches([search_of(bound._replace(values=few), *work)[:2] for bound in bounds])


def report_limits(space: Space, where: np.ndarray) -> None:
    """One line that names the hyperparameters that ended at a limit of what may be learned."""
    at_limit = [
        name
        for name, value, (low, high) in zip(space.names, where, space.limits, strict=True)
        if min(value - low, high - value) < 1e-6
    ]
    if at_limit:
        logging.getLogger("bayesgrove").info("hyperparameters at the limit of what is learned: %s", ", ".join(at_limit))


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
    return Fitted(
        bound, problem.log_concentration, tree, evidence, grown.depth, grown.steps, problem.rows, problem.complete
    )


def united(fitted: Fitted, seed: int, links: Links | None = None) -> tuple[Fitted, np.ndarray] | None:
    """The fit with a tree whose nodes include all clusters, and these; None where no rule tells what is a cluster.

    Without constraints rows get shares of the components, and the tree says how surely the sides of its branches are
    apart.
    """
    rows = UnitedRows(fitted.rows, fitted.bound.prior, fitted.log_concentration, fitted.complete)
    found = united_tree(fitted.tree, rows, links)
    if found is None:
        return None
    if links is not None:
        found = found._replace(tree=without_forbidden(found.tree, links))
    components = map_labels(fitted.tree)
    rise = float(found.tree.columns["log_q"][-1] - fitted.tree.columns["log_q"][-1])
    n_components = int(components.max()) + 1
    steps = {**fitted.steps, "n_components": float(n_components), "log_evidence_of_components": fitted.log_evidence}
    tree, shared = found.tree, None
    if links is None and n_components > 1 and (shared := rows_in_shares(rows, components)) is not None:
        tree = with_apart(tree, components, shared, seed)
    evidence = fitted.log_evidence + rise
    return fitted._replace(tree=tree, log_evidence=evidence, steps=steps, shared=shared), found.front


def tree_of(forest: Forest, log_concentration: float) -> Tree:
    """The tree table of a finished forest."""
    n = forest.leaf_log_q.size
    columns = {
        "log_q": np.concatenate([forest.leaf_log_q, forest.log_q]),
        "log_d": np.concatenate([np.full(n, log_concentration), forest.log_d]),
    }
    return Tree.from_merges(forest.children, log_merge_odds=forest.log_odds, columns=columns)

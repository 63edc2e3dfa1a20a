"""The search for views as a whole: which method, polish, the tree over the final views, one result."""

import logging
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.cross.column_trees import Node, column_tree, grafted, whole_node, with_rows
from bayesgrove.models.cross.evidence import Problem, check_problem, tree_bound
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.inside_views import search_on_tree
from bayesgrove.models.cross.polish import Evaluator, Partition, polish, polish_many
from bayesgrove.models.cross.randomized import RandomizedSettings, check_settings, search_randomized
from bayesgrove.models.cross.row_polish import can_polish
from bayesgrove.models.cross.screening import NOT_REFINED, Refine, search_screened
from bayesgrove.models.cross.search_exact import agglomerate, search_exact
from bayesgrove.trees import Tree

METHODS = ("auto", "exact", "screen", "randomized", "multistart")
EXACT_LIMIT = 2e9
"""Cell evaluations up to which "auto" searches exactly: about a second. Ten times as many would admit 100 x 200, where
many starts reach the same bound in a tenth of the time."""
EXACT_INSIDE_LIMIT = 2e7
"""The same for the tree inside one final view."""
MOST_COLUMNS_ON_TREE = 2_000
"""Columns of a view up to which their tree is built on the view's row tree, in time quadratic in them."""
EXACT_START_COLUMNS = 60
SURELY_SPLIT = 200.0
"""Log odds of being split above which polish of the row tree cannot make one view of a node."""
MOST_POLISHED_NODES = 120
"""Nodes of a tree of columns up to which the row trees of all of them are polished."""
START_KINDS = (
    ("random", 10),
    ("random", 20),
    ("random", 5),
    ("random", 10),
    ("sample", 10),
    ("sample", 20),
    ("random", 20),
    ("sample", 40),
)
"""Starts one after another: views at random, or the cut of a randomized tree of such samples."""
WIDE_START = ("random", 40)
"""The start beside the division of a randomized search. The cut of a division has few views where single columns say
little, and columns that move one at a time do not part them."""
START, INSIDE = 1, 2
"""First steps of the paths of generators."""


class SearchSettings(NamedTuple):
    """What a user may choose."""

    method: str = "auto"
    polish: bool = True
    n_starts: int = 4
    refine: Refine = NOT_REFINED
    randomized: RandomizedSettings = RandomizedSettings()
    seed: int = 0


DEFAULTS = SearchSettings()


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Views of a table, the tree of its columns and a tree of the rows in each view."""

    column_tree: Tree
    """Columns log_merge_odds, log_q, log_d and log_evidence (of the rows, given that the node is one view)."""
    node_row_children: tuple[np.ndarray, ...]
    """(n_rows - 1, 2): merges of the row tree of every node of `column_tree`."""
    view_labels: np.ndarray
    """(n_columns,)."""
    views: tuple[np.ndarray, ...]
    """Columns of each view."""
    row_trees: tuple[Tree, ...]
    """The rows in each view, with the columns log_merge_odds, log_q and log_d."""
    view_log_evidence: np.ndarray
    """(n_views,)."""
    log_evidence_bound: float
    """Of the column tree; a lower bound on the evidence of the cross mixture if `evidence` is "bound"."""
    flat_bound: float
    """Of `views` alone."""
    evidence: str
    method: str
    """`evidence` and `method`: the evidence used for views, and the search that was used."""
    n_row_trees: int
    """Row trees grown in all."""
    bounds: dict[str, float]
    """Flat bound after each step of the search."""


def exact_work(n_rows: int, n_columns: int) -> float:
    """Cell evaluations of the exact search, about."""
    return float((n_columns - 1) ** 2) * n_rows**2 * n_columns / 4.0


def chosen_method(problem: Problem, settings: SearchSettings) -> str:
    """The method asked for, or by size."""
    if settings.method not in METHODS:
        raise InvalidSettingError(f"method is one of {', '.join(METHODS)}, got {settings.method!r}.")
    if settings.n_starts < 1:
        raise InvalidSettingError(f"n_starts must be at least 1, got {settings.n_starts}.")
    if settings.method != "auto":
        return settings.method
    small = exact_work(problem.table.n_rows, problem.table.n_columns) <= EXACT_LIMIT
    return "exact" if small else "multistart"


def search(problem: Problem, settings: SearchSettings = DEFAULTS, first: np.ndarray | None = None) -> CrossFit:
    """Find views, the tree of the columns and the row trees of the views.

    `first` (n_columns,) are views to polish from besides all others; what is found is at least as good.
    """
    check_problem(problem)
    check_settings(settings.randomized)
    method = chosen_method(problem, settings)
    logging.getLogger("bayesgrove").info("views of %d columns: search %r", problem.table.n_columns, method)
    evaluator = Evaluator(problem)
    if method == "multistart":
        result, reached = polish_many(evaluator, [*starts(evaluator, settings), *([] if first is None else [first])])
        bounds = {f"start {k}": bound for k, bound in enumerate(reached)}
        best = with_polished_rows(evaluator, result.best, bounds)
        return finished(evaluator, tree_over(evaluator, best, settings), best, method, bounds)
    nodes, n_trees = tree_search(evaluator, method, settings)
    evaluator.n_trees += n_trees
    here = evaluator.partition(cut_of(evaluator, nodes))
    bounds = {"cut": here.flat_bound}
    candidates = {"polished": here.labels} if settings.polish else {}
    if first is not None:
        candidates["learned"] = first
    elif method == "randomized" and settings.polish:
        candidates["start"] = starts(evaluator, settings)[0]
    for name, labels in (best_of(evaluator, candidates) if method == "randomized" else candidates).items():
        better = polish(evaluator, labels).best
        bounds[name] = better.flat_bound
        better = with_polished_rows(evaluator, better, bounds)
        if better.flat_bound > here.flat_bound:
            over = tree_over(evaluator, better, settings)
            if over[-1].log_q >= nodes[-1].log_q:
                nodes, here = over, better
    return finished(evaluator, nodes, here, method, bounds)


def best_of(evaluator: Evaluator, candidates: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The labels whose polish reaches the highest flat bound; polish of row trees costs too much for all of them."""
    reached = {name: polish(evaluator, labels).best for name, labels in candidates.items()}
    best = max(reached, key=lambda name: reached[name].flat_bound, default=None)
    return {} if best is None else {best: reached[best].labels}


def with_polished_rows(evaluator: Evaluator, here: Partition, bounds: dict[str, float]) -> Partition:
    """Views on polished row trees, and columns moved against these; as they are where trees are not to be polished."""
    if not can_polish(evaluator.problem):
        return here
    better = polish(evaluator, here.labels, evaluator.polish_rows).best
    bounds["rows"] = better.flat_bound
    return better


def tree_search(evaluator: Evaluator, method: str, settings: SearchSettings) -> tuple[list[Node], int]:
    """The tree of all columns by one of the searches that give one."""
    problem, gains = evaluator.problem, evaluator.gains
    if method == "exact":
        return search_exact(problem, gains=gains)
    if method == "screen":
        return search_screened(problem, gains=gains, refine=settings.refine)
    return search_randomized(problem, gains=gains, settings=settings.randomized, seed=settings.seed)


def starts(evaluator: Evaluator, settings: SearchSettings) -> list[np.ndarray]:
    """Labels to polish from: the exact cut where it is cheap, random views, cuts of randomized trees."""
    problem, found = evaluator.problem, []
    n_columns = problem.table.n_columns
    if n_columns <= EXACT_START_COLUMNS and exact_work(problem.table.n_rows, n_columns) <= EXACT_LIMIT:
        nodes, n_trees = search_exact(problem, gains=evaluator.gains)
        evaluator.n_trees += n_trees
        found.append(cut_of(evaluator, nodes))
    for k in range(settings.n_starts - len(found)):
        kind, size = WIDE_START if settings.method == "randomized" else START_KINDS[k % len(START_KINDS)]
        if kind == "random":
            found.append(generator(settings.seed, START, k).integers(0, min(size, n_columns), n_columns))
        else:
            how = settings.randomized._replace(sample_size=size)
            nodes, n_trees = search_randomized(
                problem, gains=evaluator.gains, settings=how, seed=settings.seed, path=(START, k)
            )
            evaluator.n_trees += n_trees
            found.append(cut_of(evaluator, nodes))
    return found


def single_nodes(evaluator: Evaluator) -> list[Node]:
    """Each column alone."""
    views = [np.array([j]) for j in range(evaluator.problem.table.n_columns)]
    known = zip(views, *evaluator.look(views), strict=True)
    return [whole_node(evaluator.problem, *single) for single in known]


def cut_of(evaluator: Evaluator, nodes: list[Node]) -> np.ndarray:
    """Labels of the columns where the tree's odds are even."""
    return column_tree(nodes, single_nodes(evaluator)).tree.cut("half")


def inside_tree(
    evaluator: Evaluator, view: np.ndarray, row_children: np.ndarray, settings: SearchSettings, number: int
) -> tuple[list[Node], int]:
    """The tree of the columns of one view by the best search that is cheap at its size."""
    problem, gains = evaluator.problem, evaluator.gains
    if exact_work(problem.table.n_rows, view.size) <= EXACT_INSIDE_LIMIT:
        return search_exact(problem, view, gains)
    if view.size <= MOST_COLUMNS_ON_TREE:
        singles = [view[i : i + 1] for i in range(view.size)]
        known = zip(singles, *evaluator.look(singles), strict=True)
        return search_on_tree(problem, [whole_node(problem, *single) for single in known], row_children), 0
    return search_randomized(problem, view, gains, settings.randomized, seed=settings.seed, path=(INSIDE, number))


def tree_over(evaluator: Evaluator, found: Partition, settings: SearchSettings) -> list[Node]:
    """A tree with the views found among its nodes: one tree inside each, the exact one above them."""
    problem = evaluator.problem
    inside = []
    for number, (view, evidence, row_children) in enumerate(
        zip(found.views, found.evidence, found.row_children, strict=True)
    ):
        nodes, n_trees = inside_tree(evaluator, view, row_children, settings, number)
        evaluator.n_trees += n_trees
        if nodes[-1].evidence < evidence:  # another tree, or summed in another order
            nodes[-1] = with_rows(problem, nodes, nodes[-1], evidence, row_children)
        inside.append(nodes)
    above, n_trees = agglomerate(problem, [nodes[-1] for nodes in inside], evaluator.gains)
    evaluator.n_trees += n_trees
    return polish_nodes(evaluator, grafted(above, inside), len(inside))


def polish_nodes(evaluator: Evaluator, nodes: list[Node], n_views: int) -> list[Node]:
    """The same tree of columns, all of its nodes on polished row trees; of many columns only those above views.

    Otherwise the odds of views against their parts and unions would tell polished trees from others.
    """
    problem = evaluator.problem
    if not can_polish(problem):
        return nodes
    first = 0 if len(nodes) <= MOST_POLISHED_NODES else len(nodes) - n_views + 1
    polished = nodes[:first]
    for node in nodes[first:]:
        known = node.evidence, node.row_children
        if node.log_odds > -SURELY_SPLIT:
            known = evaluator.polished(np.sort(node.columns), *known)
        polished.append(with_rows(problem, polished, node, *known))
    return polished


def finished(
    evaluator: Evaluator, nodes: list[Node], found: Partition, method: str, bounds: dict[str, float]
) -> CrossFit:
    """The result of a search."""
    return assembled(evaluator.problem, nodes, single_nodes(evaluator), found, method, bounds, evaluator.n_trees)


def assembled(
    problem: Problem,
    nodes: list[Node],
    singles: list[Node],
    found: Partition,
    method: str,
    bounds: dict[str, float],
    n_row_trees: int,
) -> CrossFit:
    """A tree of columns and the views found as a result."""
    whole = column_tree(nodes, singles)
    views = zip(found.views, found.row_children, strict=True)
    return CrossFit(
        column_tree=whole.tree,
        node_row_children=whole.row_children,
        view_labels=found.labels,
        views=found.views,
        row_trees=tuple(row_tree(problem, view, row_children) for view, row_children in views),
        view_log_evidence=found.evidence,
        log_evidence_bound=tree_bound(problem, nodes[-1].log_q, found.labels.size),
        flat_bound=found.flat_bound,
        evidence=problem.evidence,
        method=method,
        n_row_trees=n_row_trees,
        bounds=bounds,
    )

"""What model files hold of models of views: the encoded table, the views, and trees of rows or draws."""

from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.table import KINDS, Table
from bayesgrove.estimators.layouts import COLUMNS, ROWS, draws_layout
from bayesgrove.io.schema import (
    NOT_FINITE,
    NUMBER,
    NUMBERS,
    TEXT,
    TEXTS,
    WHOLE,
    Check,
    Field,
    Kind,
    Layout,
    Part,
    Parts,
    Reading,
    Size,
    add,
    array,
    floats,
    json_value,
    label_array,
    require,
    tree_table,
)
from bayesgrove.likelihoods.bind import decode
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import FAMILIES, IS_LISTED, N_PARAMS
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.search import CrossFit
from bayesgrove.trees import Tree

TABLE_KINDS = ("array", "table", "pandas", "polars")
TREE_COLUMNS = ("log_merge_odds", "log_q", "log_d", "log_evidence")
FIT_NUMBERS = ("log_evidence_bound", "flat_bound")
SCALARS = ("log_joint", "n_clusters", "n_views", "concentration_rows", "concentration_columns")


def kinds_are_known(reading: Reading) -> bool:
    """Whether every column has a kind."""
    return len(reading["kinds"]) == reading.sizes["columns"] and set(reading["kinds"]) <= set(KINDS)


def holds_columns(tree: Tree, n_columns: int) -> bool:
    """Whether the leaves of a tree are the columns, in their order."""
    return np.array_equal(tree.item[:n_columns], np.arange(n_columns)) and bool(np.all(tree.item[n_columns:] == NULL))


def cells_fit(reading: Reading) -> bool:
    """Whether columns can hold their cells, by which kernels index; the likelihood itself says what they cannot."""
    bound, cells, categories = reading["likelihood"], reading["cells"], reading["categories"]
    kinds = tuple("category" if j in categories else "float" for j in range(reading.sizes["columns"]))
    table = Table(np.ascontiguousarray(decode(bound, cells)), reading["names"], kinds, categories)
    bound.likelihood.check(table)
    coded = IS_LISTED[bound.prior.family]
    return np.array_equal(bound.likelihood.cells(table)[:, coded], cells[:, coded], equal_nan=True)


VIEW_LABELS = label_array("columns", "views do not fit the columns", "views are not 0, 1, ...")
VIEWS: Layout = (
    *COLUMNS,
    *ROWS,
    Field("column_concentration", NUMBER, "column_concentration_"),
    Check(NOT_FINITE, lambda read: 0.0 < read["column_concentration"] < np.inf),
    Field("kinds", TEXTS, "_kinds"),
    Check("kinds of columns are unknown", kinds_are_known),
    Field("given_as", TEXT, "_given_as"),
    Check("a table was given as something unknown", lambda read: read["given_as"] in TABLE_KINDS),
    Check("the likelihood is not one per column", lambda read: isinstance(read["likelihood"].prior, ColumnsPrior)),
    Field("cells", floats("rows", "columns", words="cells do not fit the table", finite=False), "_values"),
    Check("a cell is infinite", lambda read: not np.isinf(read["cells"]).any()),
    Field(
        "view_labels", label_array("columns", "views do not fit the columns", "views are not 0, 1, ..."), "view_labels_"
    ),
    Check("views are not in order of size", lambda read: np.all(np.diff(np.bincount(read["view_labels"])) <= 0)),
    Size("views", lambda read: int(read["view_labels"].max()) + 1),
    Field(
        "column_tree",
        tree_table("column_tree_", "columns", needs=(), words="the tree of columns has other columns"),
        "column_tree_",
    ),
    Check("the tree of columns has other leaves", lambda r: holds_columns(r["column_tree"], r.sizes["columns"])),
    Check("a cell holds a category that its column does not have", cells_fit),
)
"""Of all models of views."""


# ---- a tree of rows at each node of a tree of columns


def write_row_trees(name: str, value: tuple[np.ndarray, ...]) -> Parts:
    """Trees of rows of the nodes of a column tree: the different ones, stacked, and which of them each node has."""
    different = list({id(children): children for children in value}.values())
    places = {id(children): k for k, children in enumerate(different)}
    which = np.array([places[id(children)] for children in value], np.int64)
    return Parts({}, {name: np.array(different, np.int32).reshape(len(different), -1, 2), "node_row_tree": which})


def read_row_trees(name: str, reading: Reading) -> tuple[np.ndarray, ...]:
    """The merges of each node, each of which takes nodes that are there and have no parent yet."""
    n_rows = reading.sizes["rows"]
    trees = array(np.int32, "row_trees", n_rows - 1, 2, words="trees of rows do not fit").read(name, reading)
    later, every = n_rows + np.arange(n_rows - 1)[:, np.newaxis], np.arange(2 * n_rows - 2)
    require(np.all((trees >= 0) & (trees < later)), "a tree of rows merges what is not there")
    are_once = all(np.array_equal(np.sort(merges, axis=None), every) for merges in trees)
    require(are_once, "a tree of rows merges a node twice")
    which = NODE_ROW_TREE.read("node_row_tree", reading)
    each = [np.ascontiguousarray(merges) for merges in trees]
    return tuple(each[k] for k in which)


NODE_ROW_TREE = array(
    np.int64,
    "column_nodes",
    words="a node has no tree of rows",
    below="row_trees",
    out_of_range="a tree of rows is missing",
)


def found_by_search(name: str, kind: Kind) -> Field:
    """A field of the result of the search."""
    return Field(name, kind, f"_fit.{name}")


CROSS_TREES: Layout = (
    *VIEWS,
    Check("the tree of columns lacks a column", lambda read: set(TREE_COLUMNS) <= set(read["column_tree"].columns)),
    Field("log_concentrations", NUMBERS, "_logs"),
    *(found_by_search(name, NUMBER) for name in FIT_NUMBERS),
    Check(
        NOT_FINITE,
        lambda read: np.isfinite([*read["log_concentrations"], *(read[name] for name in FIT_NUMBERS)]).all(),
    ),
    Size("column_nodes", lambda read: read["column_tree"].n_nodes),
    Field("row_trees", Kind(write_row_trees, read_row_trees), "_fit.node_row_children"),
    Field(
        "view_log_evidence",
        floats("views", words="views have no evidence", finite=False),
        "_fit.view_log_evidence",
    ),
    found_by_search("method", TEXT),
    found_by_search("evidence", TEXT),
    found_by_search("n_row_trees", WHOLE),
    found_by_search(
        "bounds", json_value(lambda given: {str(name): float(value) for name, value in given.items()}, dict)
    ),
)
"""Of `BHCC` and `RandomizedBHCC`."""


SEARCHED = ("view_log_evidence", *FIT_NUMBERS, "evidence", "method", "n_row_trees", "bounds")


def restored_search(reading: Reading, problem: Problem) -> CrossFit:
    """The result of the search; rows of views are weighed again."""
    tree, labels, children = reading["column_tree"], reading["view_labels"], reading["row_trees"]
    views = tuple(np.flatnonzero(labels == k) for k in range(reading.sizes["views"]))
    return CrossFit(
        column_tree=tree,
        node_row_children=children,
        view_labels=labels,
        views=views,
        row_trees=tuple(row_tree(problem, view, children[node_of_columns(tree, view)]) for view in views),
        **{name: reading[name] for name in SEARCHED},
    )


def node_of_columns(tree: Tree, columns: np.ndarray) -> int:
    """The node of a column tree that holds exactly these columns."""
    place = np.empty(tree.n_leaves, np.int64)
    place[tree.leaf_order] = np.arange(tree.n_leaves)
    first = int(place[columns].min())
    found = np.flatnonzero((tree.leaf_start == first) & (tree.size == columns.size))
    is_branch = found.size == 1 and int(place[columns].max()) == first + columns.size - 1
    require(is_branch, "a view is no branch of the tree of columns")
    return int(found[0])


# ---- draws of views


def view_tree(k: int) -> Kind:
    """The tree of rows of one view."""
    words = "the tree of a view does not fit the rows"
    return tree_table(f"view{k}_", "rows", columns={"odds": "log_merge_odds"}, words=words)


def write_view_trees(name: str, value: list[Tree]) -> Parts:
    """The trees of the views, one after the other."""
    parts = Parts({}, {})
    for k, tree in enumerate(value):
        add(parts, view_tree(k).write(name, tree))
    return parts


def read_view_trees(name: str, reading: Reading) -> list[Tree]:
    """The tree of each view."""
    return [view_tree(k).read(name, reading) for k in range(reading.sizes["views"])]


def are_normal(labels: np.ndarray) -> bool:
    """Whether labels of each line are 0, 1, ... by first appearance."""
    most = np.maximum.accumulate(labels.astype(np.int64), axis=1)
    return bool((most[:, 0] == 0).all() and (np.diff(most, axis=1) <= 1).all())


def are_priors(prior: Any, numbers: np.ndarray) -> bool:
    """Whether numbers (..., column, 4) are those of priors of the columns' families."""
    for j, code in enumerate(prior.family):
        family = FAMILIES[code]
        for place, name in enumerate(family.numbers):
            own = numbers[..., j, place]
            if name not in family.coordinates.names and (own != prior.params[j, place]).any():
                return False
            if name not in family.signed and not (own > 0.0).all():
                return False
    return True


def has_numbers(model: Any) -> bool:
    """Whether the numbers of the columns were learned."""
    return "column_numbers" in model.posterior_.extra


VIEW_DRAWS = array(
    "iu",
    "chains",
    "draws",
    "columns",
    words="draws do not fit the columns",
    below="columns",
    out_of_range="draws are no labels",
)
ROW_DRAWS = array(
    "iu",
    "drawn_views",
    "rows",
    words="draws do not fit the rows",
    below="rows",
    out_of_range="rows of draws are no labels",
)
CROSSCAT: Layout = (
    *VIEWS,
    *draws_layout(Field("draws", VIEW_DRAWS, "posterior_.labels"), lambda read: SCALARS),
    Check(
        "draws are not numbered by first appearance", lambda r: are_normal(r["draws"].reshape(-1, r["draws"].shape[2]))
    ),
    Field("row_draws", ROW_DRAWS, "posterior_.rows"),
    Check("rows of draws are not numbered by first appearance", lambda read: are_normal(read["row_draws"])),
    Field("concentrations", floats("chains", "draws", 2), lambda model: model.posterior_.extra["concentrations"]),
    Check("a concentration is not positive", lambda read: (read["concentrations"] > 0.0).all()),
    Part(
        "column_numbers",
        has_numbers,
        (
            Field(
                "column_numbers",
                floats("chains", "draws", "columns", N_PARAMS),
                lambda model: model.posterior_.extra["column_numbers"],
            ),
            Check("numbers of a column cannot be", lambda r: are_priors(r["likelihood"].prior, r["column_numbers"])),
        ),
    ),
    Field(
        "view_rows",
        array(np.int64, "views", "rows", words="clusters do not fit the views"),
        lambda model: [view.labels_ for view in model.views_],
    ),
    Check("labels are not those of the first view", lambda read: np.array_equal(read["view_rows"][0], read["labels"])),
    Check(
        "clusters of a view are not 0, 1, ...",
        lambda read: all(np.array_equal(np.unique(own), np.arange(own.max() + 1)) for own in read["view_rows"]),
    ),
    Field("view_trees", Kind(write_view_trees, read_view_trees), lambda model: [view.tree_ for view in model.views_]),
    Part(
        "init",
        lambda model: not isinstance(model.init, str),
        (
            Field(
                "init",
                array(np.int64, "columns", words="first labels do not fit"),
                lambda model: np.asarray(model.init, np.int64),
            ),
        ),
    ),
)
"""Of `CrossCat`."""

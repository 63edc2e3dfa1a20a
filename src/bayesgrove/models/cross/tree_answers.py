"""`TreeAnswers`: everything that can be asked of a tree of columns and the row trees of its nodes, in closed form."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgrove.agglomeration import predictive
from bayesgrove.agglomeration.predictive import cluster_probabilities as join_probabilities
from bayesgrove.agglomeration.statistics import NodeRows
from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import FAMILIES
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.models.cross.cell_mixtures import CellMixtures, log_density
from bayesgrove.models.cross.dask_table import columns_of, table_of
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.search import CrossFit
from bayesgrove.models.cross.tree_cells import ViewNodes, table_cell_mixtures, view_nodes
from bayesgrove.models.cross.tree_columns import FORMS, NEW_VIEWS, NewColumn, log_p_alone, log_p_on_tree
from bayesgrove.models.cross.tree_new_cells import new_cell_mixtures
from bayesgrove.models.cross.tree_queries import draw_components, draw_views, together, view_information
from bayesgrove.models.cross.tree_rows import (
    Passed,
    ViewMixture,
    all_scores,
    density_tables,
    pass_up,
    posterior_weights,
    some_columns,
    view_log_density,
    view_mixture,
)
from bayesgrove.models.cross.tree_views import RowTrees, Skeleton, kept_trees
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import node_labels

CELLS_AT_ONCE = 16_384
WEIGHTS = ("views", "columns")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a word that is none of the choices."""
    if value not in choices:
        raise InvalidSettingError(f"{name} is one of {', '.join(map(repr, choices))}, got {value!r}.")


@dataclass(frozen=True, eq=False)
class TreeAnswers:
    """Predictives and queries of a fitted tree of columns; see `Answers` for what each method gives."""

    prior: ColumnsPrior
    values: np.ndarray
    """(n_rows, n_columns): encoded cells of the training table."""
    log_rows: float
    log_columns: float
    """`log_rows` and `log_columns`: logs of the concentrations."""
    skeleton: Skeleton
    """Nodes of the column tree that carry weight."""
    trees: RowTrees
    """Row trees of these nodes and of the views of the point estimate."""
    view_tree: np.ndarray
    """(n_views,): number of the row tree of each view of the point estimate."""
    view_labels: np.ndarray
    """(n_views, n_rows): clusters of the rows in each, a cut of its tree."""

    @property
    def n_rows(self) -> int:
        """Rows of the training table."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of the training table."""
        return int(self.values.shape[1])

    @cached_property
    def _log_omega(self) -> np.ndarray:
        return self.skeleton.log_weight

    @cached_property
    def _row_trees(self) -> dict[int, Tree]:
        return {}

    @cached_property
    def _mixtures(self) -> dict[int, ViewMixture]:
        return {}

    @cached_property
    def _predictives(self) -> dict[int, predictive.Predictive]:
        return {}

    def _tree(self, number: int) -> Tree:
        if number not in self._row_trees:
            self._row_trees[number] = self.trees.tree(number)
        return self._row_trees[number]

    def _mixture(self, number: int) -> ViewMixture:
        if number not in self._mixtures:
            columns = self.trees.columns_of(number)
            own = columns_of(self.values, columns)
            prior = part_of_prior(self.prior, columns)
            self._mixtures[number] = view_mixture(prior, own, self._tree(number), self.log_rows)
        return self._mixtures[number]

    def _possible_views(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Node, number of its row tree and columns, of every node that may be a view."""
        for node in np.flatnonzero(self.skeleton.tree != NULL).tolist():
            number = int(self.skeleton.tree[node])
            yield node, number, self.trees.columns_of(number)

    def prepare(self) -> None:
        """Compute what new rows are compared with, as long as the cells of the training table can be had."""
        for _, number, _ in self._possible_views():
            self._mixture(number)
        for view in range(len(self.view_tree)):
            self._predictives[view] = self._predictive(view)

    # Cells of the training table

    def cell_mixtures(self, rows: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of cells of the training table, each left out of its own component."""
        cells = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        return table_cell_mixtures(self.prior, self.values, self._view_nodes, *cells)

    @cached_property
    def _view_nodes(self) -> list[ViewNodes]:
        return [
            view_nodes(members, float(self._log_omega[node]), self.trees.children[number], self._tree(number))
            for node, number, members in self._possible_views()
        ]

    def cell_log_density(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log density of a value in each of these cells."""
        order = np.argsort(columns, kind="stable")
        out = np.empty(len(order))
        for low in range(0, len(order), CELLS_AT_ONCE):
            some = order[low : low + CELLS_AT_ONCE]
            mixtures = self.cell_mixtures(np.asarray(rows)[some], np.asarray(columns)[some])
            out[some] = log_density(self.prior, mixtures, np.asarray(values)[some])
        return out

    # New rows

    def _passed(self, values: np.ndarray, form: str = "normalised") -> Passed:
        """New rows passed up the tree of the columns."""
        log_p = np.full((self.skeleton.parent.size, len(values)), -np.inf)
        for node, number, columns in self._possible_views():
            log_p[node] = view_log_density(self._mixture(number), np.ascontiguousarray(values[:, columns]), form)
        return pass_up(self.skeleton, log_p)

    def row_log_density(self, values: np.ndarray, form: str = "normalised") -> np.ndarray:
        """Log density of new rows; "paper" has the printed mixture in each view, whose mass is not 1."""
        check_choice("form", form, FORMS)
        return self._passed(values, form).log_density[-1]

    def conditional_log_density(self, values: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Log density of the observed cells of `values` given those of `given`; no cell is in both."""
        both = np.where(np.isnan(values), given, values)
        return self.row_log_density(both) - self.row_log_density(given)

    def row_cell_mixtures(self, values: np.ndarray, columns: np.ndarray) -> CellMixtures:
        """Predictives of the missing cells of new rows given their observed ones."""
        views = [(node, self._mixture(number), members) for node, number, members in self._possible_views()]
        return new_cell_mixtures(self.prior, self.skeleton, views, values, np.asarray(columns, np.int64))

    def simulate(self, rng: np.random.Generator, given: np.ndarray, n_samples: int, columns: np.ndarray) -> np.ndarray:
        """Draws of some columns of a new row given its observed cells: views, their components, cells."""
        known = np.asarray(given, np.float64).reshape(1, -1)
        log_one, _ = posterior_weights(self.skeleton, self._passed(known))
        is_view = draw_views(rng, self.skeleton.parent, np.ascontiguousarray(log_one[:, 0]), n_samples)
        out = np.tile(known, (n_samples, 1))
        wanted = np.zeros(self.n_columns, np.bool_)
        wanted[columns] = np.isnan(known[0, columns])
        for node, number, members in self._possible_views():
            who, what = np.flatnonzero(is_view[:, node]), np.flatnonzero(wanted[members])
            if who.size and what.size:
                out[np.ix_(who, members[what])] = self._draw_cells(rng, number, known[:, members], who.size, what)
        return out[:, columns]

    def _draw_cells(
        self, rng: np.random.Generator, number: int, known: np.ndarray, n: int, what: np.ndarray
    ) -> np.ndarray:
        """Draws of some columns of a view given its observed cells."""
        mixture = self._mixture(number)
        log_weight = all_scores(density_tables(mixture, np.ascontiguousarray(known)), mixture.log_weight)[0]
        some, drawn = some_columns(mixture, what), np.empty((n, what.size))
        predictive.draw_from_nodes(some.prior, rng, some.rows, draw_components(rng, log_weight, n), drawn)
        return drawn

    # New columns

    def column_log_density(
        self,
        y: np.ndarray,
        family: int,
        params: np.ndarray,
        *,
        n_categories: int = 0,
        form: str = "normalised",
        new_view: str = "sequential",
        rng: np.random.Generator | None = None,
    ) -> float:
        """Log density of a new column; "paper" is Li and Shafto's eq. 11 as printed, whose mass is not 1.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
        family : int
            Its code in `likelihoods.families`.
        params : ndarray of shape (4,)
            Its hyperparameters.
        n_categories : int
            Of a categorical column.
        form : {"normalised", "paper"}
        new_view : {"sequential", "exact", "bound", "none"}
            How the evidence of a view of its own is found: estimated without bias, by enumeration (10 rows at most), by
            a lower bound (the mass is then below 1), or left out (for comparing columns only).
        rng : Generator
            For "sequential".
        """
        check_choice("form", form, FORMS)
        check_choice("new_view", new_view, NEW_VIEWS)
        column = NewColumn(np.asarray(y, np.float64), family, params, FAMILIES[family].width or n_categories)
        logs = {
            number: log_p_on_tree(column, self.trees.children[number], self.trees.log_odds[number])
            for _, number, _ in self._possible_views()
        }
        terms = [
            self._log_omega[node] + logs[number] + (math.log(members.size) if form != "paper" else 0.0)
            for node, number, members in self._possible_views()
        ]
        total = float(np.logaddexp.reduce(terms))
        if form == "paper":
            return total
        if new_view == "none":
            return total - math.log(self.n_columns)
        alone = self.log_columns + log_p_alone(column, self.log_rows, new_view, rng)
        return float(np.logaddexp(alone, total)) - math.log(self.n_columns + math.exp(self.log_columns))

    # Questions

    def same_view_probability(self) -> np.ndarray:
        """Probability that two columns stand in the same view: the weights of all nodes that hold both."""
        out = np.zeros((self.n_columns, self.n_columns))
        for node, _, members in self._possible_views():
            out[np.ix_(members, members)] += math.exp(self._log_omega[node])
        np.fill_diagonal(out, 1.0)
        return out

    def row_similarity(
        self, rows: np.ndarray, others: np.ndarray, columns: np.ndarray | None = None, weight: str = "views"
    ) -> np.ndarray:
        """Expected share of columns in whose view two rows share a cluster; of views, as a ratio of two expectations.

        With `columns` only these count, and only views that hold one of them.
        """
        check_choice("weight", weight, WEIGHTS)
        asked = np.ones(self.n_columns, np.bool_) if columns is None else np.zeros(self.n_columns, np.bool_)
        asked[slice(None) if columns is None else columns] = True
        total, out = 0.0, np.zeros((len(rows), len(others)))
        for node, number, members in self._possible_views():
            n_held = int(asked[members].sum())
            if n_held:
                share = math.exp(self._log_omega[node]) * (n_held if weight == "columns" else 1)
                out += share * together(self._tree(number), np.asarray(rows), np.asarray(others))
                total += share
        return out / total

    def mutual_information(self, a: int, b: int, rng: np.random.Generator, n_samples: int) -> tuple[float, float]:
        """Mutual information of two columns of a new row given the views, averaged over them: 0 in different views."""
        value, variance = 0.0, 0.0
        for node, number, members in self._possible_views():
            if a in members and b in members:
                mixture = some_columns(self._mixture(number), np.searchsorted(members, [a, b]))
                own, error = view_information(mixture, rng, n_samples)
                share = math.exp(self._log_omega[node])
                value, variance = value + share * own, variance + (share * error) ** 2
        return value, math.sqrt(variance)

    def cluster_probabilities(self, view: int, values: np.ndarray) -> np.ndarray:
        """Probability that new rows join each cluster of a view of the point estimate, last a new one."""
        if view not in self._predictives:
            self._predictives[view] = self._predictive(view)
        members = self.trees.columns_of(int(self.view_tree[view]))
        own = np.ascontiguousarray(values[:, members])
        return join_probabilities(self._predictives[view], part_of_prior(self.prior, members), own)

    def _predictive(self, view: int) -> predictive.Predictive:
        number = int(self.view_tree[view])
        members, tree, labels = self.trees.columns_of(number), self._tree(number), self.view_labels[view]
        pure = node_labels(tree, labels)
        is_front = (pure != NULL) & (np.append(pure, NULL)[tree.parent] == NULL)
        front = np.flatnonzero(is_front)
        own = columns_of(self.values, members)
        weighty = predictive.weighty_nodes(tree)
        node_rows = NodeRows(part_of_prior(self.prior, members), own, tree, front, weighty[0]).of
        return predictive.make_predictive(tree, front, labels, self.log_rows, node_rows, weighty)


def make_tree_answers(
    prior: ColumnsPrior,
    values: np.ndarray,
    fit: CrossFit,
    log_rows: float,
    log_columns: float,
    view_labels_per_view: Sequence[np.ndarray] | None = None,
) -> TreeAnswers:
    """What can be asked of a fit.

    Parameters
    ----------
    prior : ColumnsPrior
    values : ndarray of shape (n_rows, n_columns)
        Encoded cells, those the fit was made of.
    fit : CrossFit
        Views of the point estimate are numbered as in `fit.views`.
    log_rows, log_columns : float
        Logs of the concentrations.
    view_labels_per_view : sequence of int arrays of shape (n_rows,), optional
        Clusters of the rows in each view, a cut of its row tree. Default: where the odds are even.
    """
    problem = Problem(table_of(prior, values), log_rows, log_columns)
    skeleton, trees, view_tree = kept_trees(problem, fit)
    labels = view_labels_per_view if view_labels_per_view is not None else [tree.cut("half") for tree in fit.row_trees]
    return TreeAnswers(prior, values, log_rows, log_columns, skeleton, trees, view_tree, np.array(labels, np.int64))

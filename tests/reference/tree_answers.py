"""Tables whose cells need no encoding, fitted exactly, and what can be asked of them; slow twins of the answers."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.likelihoods.columns import BERNOULLI, BINOMIAL, CATEGORICAL, FAMILIES, GAUSSIAN, POISSON, ColumnsPrior
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.search import CrossFit, SearchSettings, search
from bayesgrove.models.cross.tree_answers import TreeAnswers, make_tree_answers
from bayesgrove.models.cross.view_table import view_table
from reference import bhc, cross
from reference.cross_tables import random_table
from reference.trees import tree_partitions

CODES = {"bern": BERNOULLI, "binom": BINOMIAL, "cat": CATEGORICAL, "pois": POISSON, "nig": GAUSSIAN}


class Asked(NamedTuple):
    """A fit, its answers, and the twin's table."""

    fit: CrossFit
    answers: TreeAnswers
    twin: cross.Table


def column_numbers(model):
    """Family code, numbers and width of a column of the golden file."""
    kind, *numbers = model
    if kind == "cat":
        return CATEGORICAL, np.array([numbers[1], 0.0, 0.0, 0.0]), numbers[0]
    params = np.zeros(4)
    params[: len(numbers)] = numbers
    return CODES[kind], params, FAMILIES[CODES[kind]].width


def cells_of(numbers):
    """Cells with NaN for null."""
    return np.array([np.nan if x is None else x for x in numbers], float)


def ask(prior, values, row_concentration, column_concentration, **options):
    """The answers of the exact search."""
    logs = math.log(row_concentration), math.log(column_concentration)
    problem = Problem(view_table(prior, values), *logs)
    fit = search(problem, SearchSettings(method="exact", polish=False))
    twin = cross.table_of(prior, values, row_concentration, column_concentration)
    return Asked(fit, make_tree_answers(prior, values, fit, *logs, **options), twin)


def ask_golden(table):
    """Of a table of the golden file."""
    columns = [column_numbers(model) for model in table["models"]]
    family, params, widths = zip(*columns, strict=True)
    prior = ColumnsPrior(np.array(family), np.array(params), np.concatenate([[0], np.cumsum(widths)]))
    values = np.array([cells_of(row) for row in table["X"]])
    return ask(prior, values, table["alpha_rows"], table["alpha_cols"])


def ask_random(seed, n_rows, n_columns):
    """Of a random table of all families with missing cells."""
    rng = np.random.default_rng(seed)
    prior, values = random_table(rng, n_rows, n_columns)
    return ask(prior, values, *rng.choice([0.3, 1.0, 4.0], 2))


def tree_law(tree):
    """Every partition consistent with a tree of log merge odds, as sets of items, with its probability."""
    odds, law = tree.log_merge_odds, []
    for front in tree_partitions(tree.parent):
        above = {node for node in range(tree.n_nodes) if any(is_above(tree.parent, node, k) for k in front)}
        log_p = -sum(np.logaddexp(0.0, -odds[k]) for k in front) - sum(np.logaddexp(0.0, odds[k]) for k in above)
        law.append(([frozenset(tree.items_below(k).tolist()) for k in front], math.exp(log_p)))
    return law


def is_above(parent, node, below):
    """Whether a node is a strict ancestor."""
    while parent[below] != -1:
        below = parent[below]
        if below == node:
            return True
    return False


def view_laws(asked):
    """Every partition of the columns with its probability, and the law of the rows' partitions of any view."""
    fit = asked.fit
    nodes = {
        frozenset(fit.column_tree.items_below(node).tolist()): children
        for node, children in enumerate(fit.node_row_children)
    }

    def rows_law(view):
        tree = cross.row_tree(asked.twin, view, [tuple(pair) for pair in nodes[view].tolist()])
        from bayesgrove.trees import Tree  # noqa: PLC0415

        return tree_law(Tree.from_merges(tree.children, log_merge_odds=tree.log_odds))

    laws = {}
    for views, _ in tree_law(fit.column_tree):
        for view in views:
            if view not in laws:
                laws[view] = rows_law(view)
    return tree_law(fit.column_tree), laws


def log_marginal(asked, columns, rows):
    """Of some rows, as one cluster in some columns."""
    return math.fsum(asked.twin.cells(j, frozenset(rows)) for j in columns)


__all__ = ["Asked", "ask", "ask_golden", "ask_random", "bhc", "cells_of", "column_numbers", "tree_law", "view_laws"]

"""Slow, clear twin of cross-clustering: trees of columns whose evidence comes from trees of rows.

A view is a frozen set of columns. Row trees and column trees both come from `reference.bhc.grow`, because the recursion
of both is the same; only the evidence of a block differs, and the order in which rows merge.
"""

import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np

from reference import bhc, likelihoods


class Table(NamedTuple):
    """Log marginals of cells, and the two concentrations."""

    cells: object
    """Function of (column, frozen set of rows)."""
    n_rows: int
    n_columns: int
    log_rows: float
    log_columns: float
    row_search: str = "greedy"


def table_of(prior, values, row_concentration=1.0, column_concentration=1.0, measure=None, row_search="greedy"):
    """A table under a ColumnsPrior; `measure` (row, column) is added to the log density of each cell."""
    extra = np.zeros(values.shape) if measure is None else measure

    @cache
    def cells(column, rows):
        chosen = sorted(rows)
        start = [0, prior.start[column + 1] - prior.start[column]]
        own = likelihoods.of_columns(
            values[chosen][:, [column]], prior.family[[column]], prior.params[[column]], np.array(start)
        )
        return own + math.fsum(extra[chosen, column])

    logs = math.log(row_concentration), math.log(column_concentration)
    return Table(cells, *values.shape, *logs, row_search)


def rows_evidence(table, columns):
    """Log marginal of any set of rows as one cluster in a view."""
    return cache(lambda rows: math.fsum(table.cells(j, rows) for j in sorted(columns)))


def tempered_merges(evidence, n):
    """Each time the pair with the largest (m_ab - m_a - m_b) sqrt((n_a + n_b) / (n_a n_b)) of all live pairs."""
    items, live, merges = [frozenset([i]) for i in range(n)], list(range(n)), []

    def score(a, b):
        gain = evidence(items[a] | items[b]) - evidence(items[a]) - evidence(items[b])
        return gain * math.sqrt((len(items[a]) + len(items[b])) / (len(items[a]) * len(items[b])))

    scores = {pair: score(*pair) for pair in itertools.combinations(live, 2)}
    while len(live) > 1:
        a, b = min(scores, key=lambda pair: (-np.rint(scores[pair] * bhc.TIE_SCALE), *pair))
        merges.append((a, b))
        items.append(items[a] | items[b])
        live = [k for k in live if k not in (a, b)]
        scores = {pair: value for pair, value in scores.items() if not {a, b} & set(pair)}
        scores |= {(k, len(items) - 1): score(k, len(items) - 1) for k in live}
        live.append(len(items) - 1)
    return merges


def row_tree(table, columns, children=None):
    """The tree of the rows in a view by the table's order, or the one with the merges given."""
    evidence = rows_evidence(table, columns)
    if children is None and table.row_search == "best":
        children = tempered_merges(evidence, table.n_rows)
    return bhc.grow(evidence, table.n_rows, table.log_rows, children)


def view_evidence(table, kind):
    """Log evidence of the rows in any view: "bound" and "tree" from the row tree, "exact" by enumeration."""

    def evidence(columns):
        if kind == "exact":
            return bhc.exact_evidence(rows_evidence(table, columns), table.n_rows, table.log_rows)
        tree = row_tree(table, columns)
        if kind == "tree":
            return tree.log_q[-1] - tree.log_d[-1]
        return tree.log_q[-1] + bhc.log_crp_constant(table.n_rows, table.log_rows)

    return cache(evidence)


def column_tree(table, kind):
    """The greedy tree of the columns."""
    return bhc.grow(view_evidence(table, kind), table.n_columns, table.log_columns)


def tree_bound(table, tree):
    """What the tree of the columns says about the evidence: a lower bound unless the evidence of views is "tree"."""
    return tree.log_q[-1] + bhc.log_crp_constant(table.n_columns, table.log_columns)


def exact_evidence(table):
    """Log evidence of the cross mixture by enumeration of all partitions of columns and of rows."""
    return bhc.exact_evidence(view_evidence(table, "exact"), table.n_columns, table.log_columns)


def log_q_on(table, children, columns):
    """log q of the root of a given row tree for any view."""
    return row_tree(table, columns, children).log_q[-1]


def flat_bound(table, views):
    """Log prior of the views plus the evidence of each."""
    evidence = view_evidence(table, "bound")
    return bhc.log_joint(evidence, views, table.log_columns) + bhc.log_crp_constant(table.n_columns, table.log_columns)


def move_scores(table, views):
    """Conditional log score of each column in each view and, last, in a new one; row trees fixed."""
    evidence = view_evidence(table, "bound")
    scores = np.full((table.n_columns, len(views) + 1), -np.inf)
    for v, view in enumerate(views):
        children = row_tree(table, view).children
        for j in range(table.n_columns):
            others = view - {j}
            if others:
                gain = log_q_on(table, children, view | {j}) - log_q_on(table, children, others)
                scores[j, v] = math.log(len(others)) + gain
    for j in range(table.n_columns):
        scores[j, -1] = table.log_columns + evidence(frozenset([j]))
    return scores


def new_column(table, tree, column):
    """Log probability of a column given the row tree of a view: a product over children, eq. 12."""
    n, items = table.n_rows, bhc.items_of_nodes(tree.children)
    log_p = [table.cells(column, rows) for rows in items]
    for t, (a, b) in enumerate(tree.children):
        odds = tree.log_odds[n + t]
        one, apart = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
        log_p[n + t] = np.logaddexp(one + log_p[n + t], apart + log_p[a] + log_p[b])
    return log_p[-1]


def filter_scores(table, sample, column, rule):
    """Score of a column for both sides of the tree of some columns, with the columns of each side."""
    order = sorted(sample)
    chosen = cache(lambda items: view_evidence(table, "bound")(frozenset(order[i] for i in items)))
    tree = bhc.grow(chosen, len(order), table.log_columns)
    items = bhc.items_of_nodes(tree.children)
    found = []
    for side in tree.children[-1]:
        inside = [k for k in range(len(items)) if items[k] <= items[side]]
        terms = []
        for k in inside:
            view = frozenset(order[i] for i in items[k])
            above = [h for h in inside if items[k] < items[h]]
            log_weight = -np.logaddexp(0.0, -tree.log_odds[k]) - sum(np.logaddexp(0, tree.log_odds[h]) for h in above)
            count = math.log(len(view)) if rule == "mass" else 0.0
            terms.append(log_weight + count + new_column(table, row_tree(table, view), column))
        score = np.logaddexp.reduce(terms)
        if rule == "paper":
            score += table.log_columns + math.lgamma(len(items[side])) - tree.log_d[side]
        found.append((frozenset(order[i] for i in items[side]), float(score)))
    return found

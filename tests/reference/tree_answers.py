"""Tables whose cells need no encoding, fitted by the exact search; slow twins of what can be asked of the fit.

The twins enumerate every partition of the columns that the column tree allows and, in each of its views, every
partition of the rows that the view's row tree allows.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import BERNOULLI, BINOMIAL, CATEGORICAL, FAMILIES, GAUSSIAN, POISSON
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.search import CrossFit, SearchSettings, search
from bayesgrove.models.cross.tree_answers import TreeAnswers, make_tree_answers
from bayesgrove.models.cross.view_table import view_table
from reference import cross, likelihoods
from reference.bhc import parents_of
from reference.cross_tables import random_table
from reference.trees import front_probability, leaves_below, tree_partitions

CODES = {"bern": BERNOULLI, "binom": BINOMIAL, "cat": CATEGORICAL, "pois": POISSON, "nig": GAUSSIAN}


class Asked(NamedTuple):
    """A fit, its answers, and the laws of its views and of the rows in each of them."""

    fit: CrossFit
    answers: TreeAnswers
    views_law: list
    """(views, probability) of every partition of the columns; a view is a frozen set."""
    rows_law: dict
    """(blocks of rows, probability) of every partition of the rows, for each view."""


def column_numbers(model):
    """Family code, numbers and width of a column of the golden file."""
    kind, *numbers = model
    if kind == "cat":
        return CATEGORICAL, np.array([numbers[1], 0.0, 0.0, 0.0]), numbers[0]
    return CODES[kind], np.array([*numbers, 0.0, 0.0, 0.0][:4]), FAMILIES[CODES[kind]].width


def cells_of(numbers):
    """Cells with NaN for null."""
    return np.array([np.nan if x is None else x for x in numbers], float)


def fit_exactly(prior, values, log_rows, log_columns):
    """The exact search without polish."""
    problem = Problem(view_table(prior, values), log_rows, log_columns)
    return search(problem, SearchSettings(method="exact", polish=False))


def ask(prior, values, row_concentration, column_concentration):
    """The answers of the exact search, and the laws the twins need."""
    logs = math.log(row_concentration), math.log(column_concentration)
    fit = fit_exactly(prior, values, *logs)
    twin = cross.table_of(prior, values, row_concentration, column_concentration)
    tree, n = fit.column_tree, len(values)
    rows_law = {}
    for view, children in zip(leaves_below(tree.parent, tree.item), fit.node_row_children, strict=True):
        odds = cross.row_tree(twin, view, children.tolist()).log_odds
        rows_law[view] = partition_law(parents_of(children), [*range(n), *[-1] * (n - 1)], odds)
    views_law = partition_law(tree.parent, tree.item, tree.log_merge_odds)
    return Asked(fit, make_tree_answers(prior, values, fit, *logs), views_law, rows_law)


def partition_law(parent, item, odds):
    """Every partition consistent with a tree, with its probability."""
    items = leaves_below(parent, item)
    return [
        ([items[node] for node in front], front_probability(parent, odds, front)) for front in tree_partitions(parent)
    ]


def ask_golden(table):
    """Of a table of the golden file."""
    family, params, widths = zip(*(column_numbers(model) for model in table["models"]), strict=True)
    prior = ColumnsPrior(np.array(family), np.array(params), np.concatenate([[0], np.cumsum(widths)]))
    return ask(prior, np.array([cells_of(row) for row in table["X"]]), table["alpha_rows"], table["alpha_cols"])


def ask_random(seed, n_rows=5, n_columns=4):
    """Of a random table of all families with missing cells."""
    rng = np.random.default_rng(seed)
    prior, values = random_table(rng, n_rows, n_columns)
    return ask(prior, values, *rng.choice([0.3, 1.0, 4.0], 2))


def ask_discrete(seed=5, n_rows=6):
    """Of a table of a Bernoulli, a categorical, a binomial and a Poisson column."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 2
    values = np.column_stack([group, 2 * group, rng.integers(0, 4, n_rows), rng.poisson(1 + 3 * group)]).astype(float)
    values[1, 2] = np.nan
    params = np.array([[0.5, 0.7, 0, 0], [0.6, 0, 0, 0], [3, 0.8, 1.1, 0], [1.5, 0.6, 0, 0]], float)
    prior = ColumnsPrior(np.array([BERNOULLI, CATEGORICAL, BINOMIAL, POISSON]), params, np.array([0, 2, 5, 8, 11]))
    return ask(prior, values, 0.8, 1.3)


def log_evidence(answers, j, cells):
    """Log marginal of cells of one column as one cluster."""
    width = answers.prior.start[j + 1] - answers.prior.start[j]
    own = np.array(cells, float).reshape(-1, 1)
    return likelihoods.of_columns(own, answers.prior.family[[j]], answers.prior.params[[j]], np.array([0, width]))


def cell_density(answers, j, others, x):
    """Density of one more cell of a column beside others."""
    return math.exp(log_evidence(answers, j, [*others, x]) - log_evidence(answers, j, others))


def view_density(asked, view, x):
    """Density of the observed cells of a new row in one view, normalised."""
    answers, alpha = asked.answers, math.exp(asked.answers.log_rows)
    seen = [j for j in sorted(view) if not math.isnan(x[j])]
    total = alpha * math.prod(cell_density(answers, j, [], x[j]) for j in seen)
    for blocks, chance in asked.rows_law[view]:
        for block in blocks:
            inside = answers.values[sorted(block)]
            total += chance * len(block) * math.prod(cell_density(answers, j, inside[:, j], x[j]) for j in seen)
    return total / (answers.n_rows + alpha)


def row_density(asked, x):
    """Density of a new row."""
    return math.fsum(
        chance * math.prod(view_density(asked, view, x) for view in views) for views, chance in asked.views_law
    )


def training_cell_density(asked, i, j, x):
    """Density of a value in a cell of the table, whatever stands there left out."""
    values, total = asked.answers.values, 0.0
    for views, chance in asked.views_law:
        view = next(view for view in views if j in view)
        for blocks, share in asked.rows_law[view]:
            block = next(block for block in blocks if i in block)
            total += chance * share * cell_density(asked.answers, j, values[sorted(block - {i}), j], x)
    return total


def column_density(asked, evidence, alone):
    """Density of a new column: `evidence` of the cells of any block of rows, and `alone` in a view of its own."""
    answers, alpha = asked.answers, math.exp(asked.answers.log_columns)
    total = alpha * alone
    for views, chance in asked.views_law:
        for view in views:
            for blocks, share in asked.rows_law[view]:
                total += chance * len(view) * share * math.exp(math.fsum(evidence(block) for block in blocks))
    return total / (answers.n_columns + alpha)


def similarity(asked, i, k, weight, columns):
    """Expected share of columns, or expected number of views over expected number of views, with i and k together."""
    shared, total = 0.0, 0.0
    for views, chance in asked.views_law:
        for view in views:
            n_held = len(view & set(columns))
            size = n_held if weight == "columns" else n_held > 0
            total += chance * size
            for blocks, share in asked.rows_law[view]:
                shared += chance * size * share * any({i, k} <= block for block in blocks)
    return shared / total


def information(asked, a, b, sizes):
    """Mutual information of two discrete columns: over views, the sum over all pairs of values."""
    total = 0.0
    for views, chance in asked.views_law:
        view = next(view for view in views if a in view)
        if b in view:
            joint = np.zeros(sizes)
            for x, y in itertools.product(*map(range, sizes)):
                row = np.full(asked.answers.n_columns, np.nan)
                row[[a, b]] = x, y
                joint[x, y] = view_density(asked, view, row)
            apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            total += chance * float((joint * np.log(joint / apart)).sum())
    return total

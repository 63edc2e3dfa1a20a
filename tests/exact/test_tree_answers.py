"""Answers of trees of views against enumeration of all partitions the trees allow, and against their own draws."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import BERNOULLI, GAUSSIAN, POISSON
from bayesgrove.models.cross.cell_mixtures import log_density, probabilities
from bayesgrove.models.cross.tree_answers import make_tree_answers
from bayesgrove.models.cross.tree_columns import NewColumn, log_p_alone, sequential_log_evidences
from bayesgrove.models.cross.tree_queries import drawn_information, view_information
from bayesgrove.models.cross.tree_rows import some_columns, view_log_density
from bayesgrove.models.cross.tree_views import prune
from bayesgrove.trees import Tree, node_log_weights
from reference import tree_answers as twin
from reference.cross_tables import random_table

pytestmark = pytest.mark.exact
SEEDS = (1, 2, 3)


@pytest.fixture(params=SEEDS)
def asked(request):
    """Tables of five rows and four columns of any family, some cells missing."""
    return twin.ask_random(request.param)


def new_rows(asked, n, seed=9, missing=0.3):
    """Rows of the kind the table has."""
    rng = np.random.default_rng(seed)
    values = asked.answers.values
    rows = np.array([[rng.choice(column[~np.isnan(column)]) for column in values.T] for _ in range(n)])
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def test_new_rows(asked):
    rows = np.vstack([new_rows(asked, 6), np.full((1, 4), np.nan)])
    expected = [math.log(twin.row_density(asked, row)) for row in rows]
    np.testing.assert_allclose(asked.answers.row_log_density(rows), expected, rtol=0, atol=1e-9)


def test_cells_of_the_table(asked):
    """Observed cells too, each left out of its own component."""
    answers = asked.answers
    rows, columns = (where.ravel() for where in np.indices(answers.values.shape))
    asked_for = new_rows(asked, answers.n_rows, missing=0.0).ravel()
    expected = [
        math.log(twin.training_cell_density(asked, *cell)) for cell in zip(rows, columns, asked_for, strict=True)
    ]
    shuffled = np.random.default_rng(0).permutation(rows.size)
    found = answers.cell_log_density(rows[shuffled], columns[shuffled], asked_for[shuffled])
    np.testing.assert_allclose(found, np.array(expected)[shuffled], rtol=0, atol=1e-9)


def test_no_cells(asked):
    none = np.empty(0, np.int64)
    assert asked.answers.cell_mixtures(none, none).n_cells == 0
    assert asked.answers.cell_log_density(none, none, np.empty(0)).size == 0
    assert asked.answers.row_cell_mixtures(np.empty((0, 4)), np.arange(4)).n_cells == 0


def test_new_columns(asked):
    """A Gaussian column with a missing cell."""
    y, params = np.array([0.3, np.nan, -1.0, 2.2, 0.1]), np.array([0.2, 0.5, 2.0, 1.0])
    prior = ColumnsPrior(np.array([GAUSSIAN]), params[np.newaxis], np.array([0, 3]))
    table = twin.cross.table_of(prior, y[:, np.newaxis], math.exp(asked.answers.log_rows))
    alone = math.exp(twin.cross.view_evidence(table, "exact")(frozenset([0])))
    expected = twin.column_density(asked, lambda block: table.cells(0, block), alone)
    found = asked.answers.column_log_density(y, GAUSSIAN, params, new_view="exact")
    assert found == pytest.approx(math.log(expected), abs=1e-9)


@pytest.mark.parametrize("weight", ["views", "columns"])
@pytest.mark.parametrize("columns", [None, [1, 3]])
def test_row_similarity(asked, weight, columns):
    rows, others = np.array([4, 0, 2]), np.arange(5)
    found = asked.answers.row_similarity(rows, others, None if columns is None else np.array(columns), weight)
    expected = [
        [twin.similarity(asked, i, k, weight, range(4) if columns is None else columns) for k in others] for i in rows
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_missing_cells_of_new_rows_follow_the_conditional_density(asked):
    answers = asked.answers
    rows, columns = new_rows(asked, 5), np.array([2, 0, 3])
    mixtures = answers.row_cell_mixtures(rows, columns)
    place = [(i, j) for i in range(len(rows)) for j in columns if np.isnan(rows[i, j])]
    assert mixtures.column.tolist() == [j for _, j in place]
    guess = new_rows(asked, 1, missing=0.0)[0]
    wanted = np.full((len(place), 4), np.nan)
    for line, (_, j) in enumerate(place):
        wanted[line, j] = guess[j]
    known = rows[[i for i, _ in place]]
    found = log_density(answers.prior, mixtures, guess[mixtures.column])
    np.testing.assert_allclose(found, answers.conditional_log_density(wanted, known), rtol=0, atol=1e-8)


def test_information_of_discrete_pairs():
    asked = twin.ask_discrete()
    for a, b, sizes in ((0, 1, (2, 3)), (1, 2, (3, 4)), (2, 0, (4, 2))):
        value, error = asked.answers.mutual_information(a, b, None, 0)
        assert value == pytest.approx(twin.information(asked, a, b, sizes), abs=1e-10)
        assert error == 0.0
        assert value > 1e-4


def test_drawn_information_agrees_with_the_sum():
    """Within 4 standard errors: a false alarm with probability 6e-5 when the seed is changed."""
    answers = twin.ask_discrete().answers
    mixture = some_columns(answers._mixture(int(answers.skeleton.tree[-1])), np.array([0, 3]))
    exact, _ = view_information(mixture, None, 0)
    value, error = drawn_information(mixture, np.random.default_rng(3), 20_000)
    assert 0.0 < error < 0.02
    assert abs(value - exact) < 4.0 * error


def test_information_of_a_real_pair_is_drawn_without_bias():
    """Against the sum over a fine mesh of both columns."""
    values, prior = two_real()
    answers = make_tree_answers(prior, values, twin.fit_exactly(prior, values, 0.0, 0.0), 0.0, 0.0)
    u = np.linspace(-6.0, 6.0, 241)
    x, width = np.sinh(u), np.cosh(u) * (u[1] - u[0])
    expected = 0.0
    for node, number, _ in answers._possible_views():
        mixture = answers._mixture(number)
        if mixture.prior.family.size == 2:
            rows = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
            joint = np.exp(view_log_density(mixture, rows)).reshape(x.size, x.size)
            apart = np.outer(joint @ width, width @ joint)
            share = math.exp(answers.skeleton.log_weight[node])
            expected += share * float(width @ (joint * np.log(joint / apart)) @ width)
    value, error = answers.mutual_information(0, 1, np.random.default_rng(1), 40_000)
    assert expected > 0.1
    assert 0.0 < error < 0.05 * expected
    assert abs(value - expected) < 4.0 * error


def two_real():
    """Two real columns of the same two groups."""
    rng = np.random.default_rng(1)
    values = rng.normal(3.0 * (np.arange(12) % 2)[:, np.newaxis], 0.5, (12, 2))
    return values, ColumnsPrior(np.full(2, GAUSSIAN), np.tile([1.0, 0.1, 3.0, 1.0], (2, 1)), np.array([0, 3, 6]))


def two_apart(n=40):
    """Two columns whose groups of rows have nothing to do with each other."""
    values = np.column_stack([np.repeat([0.0, 1.0], n // 2)] * 6 + [np.tile([0.0, 1.0], n // 2)] * 6)
    prior = ColumnsPrior(np.full(12, BERNOULLI), np.tile([0.5, 0.5, 0.0, 0.0], (12, 1)), 2 * np.arange(13))
    return prior, values


def test_columns_of_different_views_share_no_information():
    prior, values = two_apart()
    fit = twin.fit_exactly(prior, values, 0.0, 0.0)
    answers = make_tree_answers(prior, values, fit, 0.0, 0.0)
    assert sorted(view.size for view in fit.views) == [6, 6]
    rng = np.random.default_rng(0)
    assert answers.mutual_information(0, 11, rng, 100) == (pytest.approx(0.0, abs=1e-8), 0.0)
    assert answers.mutual_information(0, 1, rng, 100)[0] > 0.3
    assert answers.same_view_probability()[0, 11] < 1e-8
    never = replace(answers, skeleton=parted(answers.skeleton))
    assert never.mutual_information(0, 11, rng, 100) == (0.0, 0.0)


def parted(skeleton):
    """The root is no view for certain."""
    one, split, tree = skeleton.log_one.copy(), skeleton.log_split.copy(), skeleton.tree.copy()
    one[-1], split[-1], tree[-1] = -np.inf, 0.0, NULL
    return skeleton._replace(log_one=one, log_split=split, tree=tree)


def test_nodes_without_weight_are_not_kept():
    prior, values = two_apart()
    answers = make_tree_answers(prior, values, twin.fit_exactly(prior, values, 0.0, 0.0), 0.0, 0.0)
    assert answers.skeleton.parent.size < 8  # of 23
    assert np.exp(answers.skeleton.log_weight).sum() == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_allclose(answers.row_similarity([0], [1, 20, 39])[0], [0.5, 0.5, 0.0], atol=0.02)


@pytest.mark.parametrize("odds", [[40.0, 40.0, 3.0], [-40.0, 1.0, -35.0], [2.0, -1.0, 0.5]])
def test_pruning_keeps_probabilities(odds):
    tree = Tree.from_merges([(0, 1), (2, 3), (4, 5)], log_merge_odds=odds)
    kept, skeleton = prune(tree)
    weight = np.zeros(tree.n_nodes)
    weight[kept] = np.exp(skeleton.log_weight)
    np.testing.assert_allclose(weight, np.exp(node_log_weights(tree)), rtol=0, atol=1e-11)
    np.testing.assert_allclose((weight * tree.size).sum(), 4.0, rtol=0, atol=1e-14)
    assert (skeleton.parent[:-1] > np.arange(kept.size - 1)).all()


def test_a_node_too_light_for_either_is_one_view():
    """Neither the node nor what is below it reaches the least weight: one of them must be kept."""
    tree = Tree.from_merges([(0, 1), (2, 3)], log_merge_odds=[0.0, -math.log(1.5e-12)])
    kept, skeleton = prune(tree)
    assert skeleton.log_one[kept == 3] == 0.0
    assert np.exp(skeleton.log_weight) @ tree.size[kept] == pytest.approx(3.0, abs=1e-12)


def test_draws_follow_the_conditional_law():
    """Joint frequencies of two columns, all twelve within 4 standard errors."""
    answers, n = twin.ask_discrete().answers, 100_000
    given = np.array([1.0, np.nan, np.nan, np.nan])
    drawn = answers.simulate(np.random.default_rng(8), given, n, np.array([2, 1, 0]))
    assert (drawn[:, 2] == 1.0).all()
    for x, y in itertools.product(range(4), range(3)):
        wanted = np.array([[np.nan, y, x, np.nan]])
        chance = math.exp(answers.conditional_log_density(wanted, given[np.newaxis])[0])
        found = ((drawn[:, 0] == x) & (drawn[:, 1] == y)).mean()
        assert abs(found - chance) < 4.0 * math.sqrt(chance * (1.0 - chance) / n)


def test_draws_without_a_condition_follow_the_density():
    answers, n = twin.ask_discrete().answers, 100_000
    nothing = np.full(4, np.nan)
    drawn = answers.simulate(np.random.default_rng(4), nothing, n, np.arange(4))
    mixtures = answers.row_cell_mixtures(nothing[np.newaxis], np.arange(4))
    place, flat = probabilities(answers.prior, mixtures)
    for j in range(4):
        chances = flat[place[j] : place[j + 1]]
        found = np.bincount(drawn[:, j].astype(int), minlength=chances.size)[: chances.size] / n
        assert (np.abs(found - chances) <= 4.0 * np.sqrt(chances * (1.0 - chances) / n) + 1e-5).all()


@pytest.mark.parametrize("family", [GAUSSIAN, BERNOULLI, POISSON])
def test_the_sequential_estimate_of_a_new_view_is_unbiased(family):
    """20,000 draws within 4 standard errors of the sum over all partitions."""
    y = {GAUSSIAN: [0.1, 3.0, np.nan, 2.8, -0.4], BERNOULLI: [1, 0, 0, np.nan, 1], POISSON: [0, 9, 2, np.nan, 8]}[
        family
    ]
    params = np.array([0.3, 0.5, 2.0, 0.8]) if family == GAUSSIAN else np.array([0.7, 0.4, 0.0, 0.0])
    column = NewColumn(np.array(y, float), family, params, 2 if family == BERNOULLI else 3)
    log_rows = math.log(0.7)
    draws = np.exp(sequential_log_evidences(np.random.default_rng(5), *column, 0.7, 20_000))
    exact = math.exp(log_p_alone(column, log_rows, "exact", None))
    assert abs(draws.mean() - exact) < 4.0 * draws.std() / math.sqrt(draws.size)
    hundred = log_p_alone(column, log_rows, "sequential", np.random.default_rng(6))
    assert hundred == pytest.approx(math.log(exact), abs=0.5)
    assert log_p_alone(column, log_rows, "bound", None) <= math.log(exact)


def test_cluster_probabilities_are_those_of_the_cut(asked):
    answers = asked.answers
    found = answers.cluster_probabilities(0, new_rows(asked, 4))
    assert found.shape == (4, answers.view_labels[0].max() + 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    nothing = answers.cluster_probabilities(0, np.full((1, 4), np.nan))[0]
    alpha = math.exp(answers.log_rows)
    assert nothing[-1] == pytest.approx(alpha / (5 + alpha), abs=1e-12)


def test_labels_of_views_may_be_given():
    prior, values = two_apart()
    fit = twin.fit_exactly(prior, values, 0.0, 0.0)
    labels = [tree.cut(n_clusters=4) for tree in fit.row_trees]
    answers = make_tree_answers(prior, values, fit, 0.0, 0.0, labels)
    found = answers.cluster_probabilities(1, values[[0, 39]])
    assert found.shape == (2, 5)
    column = values[:, fit.views[1][0]]
    for probability, x in zip(found, column[[0, 39]], strict=True):
        assert probability[np.unique(labels[1][column == x])].sum() > 0.9


@pytest.mark.parametrize("shape", [(1, 3), (4, 1), (1, 1)])
def test_one_row_or_one_column(shape):
    prior, values = random_table(np.random.default_rng(2), *shape, missing=0.0)
    answers = make_tree_answers(prior, values, twin.fit_exactly(prior, values, 0.0, 0.0), 0.0, 0.0)
    rows, columns = (where.ravel() for where in np.indices(shape))
    assert np.isfinite(answers.cell_log_density(rows, columns, values.ravel())).all()
    assert np.isfinite(answers.row_log_density(values)).all()
    assert answers.row_similarity(rows, rows).shape == (rows.size, rows.size)
    y = np.ones(shape[0])
    numbers = BERNOULLI, np.array([0.5, 0.5, 0.0, 0.0])
    assert math.isfinite(answers.column_log_density(y, *numbers, rng=np.random.default_rng(0)))
    assert answers.simulate(np.random.default_rng(0), np.full(shape[1], np.nan), 2, np.arange(shape[1])).shape == (
        2,
        shape[1],
    )


def test_refusals(asked):
    answers, numbers = asked.answers, (BERNOULLI, np.array([0.5, 0.5, 0.0, 0.0]))
    with pytest.raises(InvalidSettingError, match="form is one of 'normalised', 'paper', got 'printed'"):
        answers.row_log_density(answers.values, form="printed")
    with pytest.raises(InvalidSettingError, match=r"new_view is one of .*, got 'guess'"):
        answers.column_log_density(np.ones(5), *numbers, new_view="guess")
    with pytest.raises(InvalidSettingError, match="weight is one of 'views', 'columns', got 'rows'"):
        answers.row_similarity([0], [1], weight="rows")
    with pytest.raises(InvalidSettingError, match="draws numbers, got no generator"):
        answers.column_log_density(np.ones(5), *numbers)
    column = NewColumn(np.ones(11), *numbers, 2)
    with pytest.raises(InvalidSettingError, match="at most 10 rows, got 11"):
        log_p_alone(column, 0.0, "exact", None)

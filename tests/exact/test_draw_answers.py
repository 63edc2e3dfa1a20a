"""Answers of draws against evidences by enumeration: every cross-partition is a draw, weighed by its probability.

Then every predictive is a ratio of evidences of two tables, exact up to rounding.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Columns
from bayesgrove.likelihoods.bind import bind
from bayesgrove.models.cross import cell_mixtures
from bayesgrove.models.cross.draw_answers import DrawAnswers
from bayesgrove.models.cross.draw_tables import choose_draws, make_draws, unique_draws
from reference import crosscat
from reference.golden import golden_likelihood

pytestmark = pytest.mark.exact

ALPHAS = 0.8, 1.3
TABLES = {
    "categories": (
        ((1, 2, 0), (0, None, 1), (1, 2, 1)),
        (("bern", 0.7, 1.2), ("cat", 3, 0.6), ("bern", 1.0, 0.5)),
    ),
    "numbers": (
        ((3, 0.5, 4), (1, -0.25, None), (0, 2.0, 2)),
        (("pois", 1.5, 0.8), ("nig", 0.25, 0.4, 1.5, 0.9), ("binom", 5, 0.9, 1.4)),
    ),
}
NEW_ROWS = {
    "categories": ((1, 0, None), (0, 1, 1), (None, 2, 0)),
    "numbers": ((2, None, 3), (0, 1.0, 5), (None, -1.5, 1)),
}
SUPPORTS = {"categories": (2, 3, 2), "numbers": (0, 0, 6)}


def twin(cells, families):
    return crosscat.model_of(cells, families, *ALPHAS)


@cache
def log_evidence(model):
    """Of the table, all cross-partitions summed out."""
    logs = [
        crosscat.log_crp(views, model.alpha_columns)
        + sum(crosscat.log_view(model, tuple(block), 1.0) for block in crosscat.blocks(views))
        for views in crosscat.partitions(len(model.columns))
    ]
    return float(np.logaddexp.reduce(logs))


def numbers_of(rows):
    return np.array([[math.nan if x is None else x for x in row] for row in rows], float)


@cache
def fitted(name):
    """The model as tests know it, and the answers of all its cross-partitions; Gaussian columns are encoded."""
    cells, families = TABLES[name]
    likelihood = Columns([golden_likelihood(list(family)) for family in families])
    bound = bind(likelihood, numbers_of(cells), "fixed")
    law = crosscat.law_of(twin(cells, families))
    views = np.array([state[0] for state in law.states])
    rows = [np.array(state[1]) for state in law.states]
    draws = make_draws(bound.prior, bound.values, views, rows, None, np.tile(ALPHAS, (len(views), 1)))
    draws = draws._replace(log_weight=np.log(law.probabilities))
    similarity = np.einsum("t,tab->ab", law.probabilities, views[:, :, None] == views[:, None, :])
    estimate = [(np.array([0, 1]), np.array([0, 1, 0])), (np.array([2]), np.array([0, 0, 1]))]
    return bound, DrawAnswers(bound.prior, bound.values, draws, similarity, estimate, learned=False)


def with_cell(cells, i, j, value):
    return tuple(tuple(value if (r, c) == (i, j) else x for c, x in enumerate(row)) for r, row in enumerate(cells))


def encoded(bound, rows):
    values = numbers_of(rows)
    return bound.encoding.apply(values), bound.encoding.log_measure(values)


@pytest.mark.parametrize("name", TABLES)
def test_new_rows(name):
    (cells, families), (bound, answers) = TABLES[name], fitted(name)
    values, measure = encoded(bound, NEW_ROWS[name])
    expected = [
        log_evidence(twin((*cells, row), families)) - log_evidence(twin(cells, families)) for row in NEW_ROWS[name]
    ]
    np.testing.assert_allclose(answers.row_log_density(values) + measure, expected, atol=1e-10)


@pytest.mark.parametrize("name", TABLES)
def test_conditions(name):
    (cells, families), (bound, answers) = TABLES[name], fitted(name)
    row = NEW_ROWS[name][1]
    asked, given = (row[0], None, None), (None, *row[1:])
    (values, measure), (known, _) = encoded(bound, [asked]), encoded(bound, [given])
    expected = log_evidence(twin((*cells, row), families)) - log_evidence(twin((*cells, given), families))
    assert answers.conditional_log_density(values, known)[0] + measure[0] == pytest.approx(expected, abs=1e-10)


def missing_cell(name):
    cells = TABLES[name][0]
    return next((i, j) for i, j in itertools.product(range(3), range(3)) if cells[i][j] is None)


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_cell(name):
    """Its predictive is the ratio of evidences with and without it, and sums to 1."""
    (cells, families), (_, answers) = TABLES[name], fitted(name)
    i, j = missing_cell(name)
    support = np.arange(float(SUPPORTS[name][j]))
    expected = [
        log_evidence(twin(with_cell(cells, i, j, x), families)) - log_evidence(twin(cells, families)) for x in support
    ]
    at, which = np.full(support.size, i), np.full(support.size, j)
    found = answers.cell_log_density(at, which, support)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-9)
    mixtures = answers.cell_mixtures(at[:1], which[:1])
    chances = cell_mixtures.probabilities(answers.prior, mixtures)[1]
    np.testing.assert_allclose(np.log(chances), expected, atol=1e-10)


@pytest.mark.parametrize("name", TABLES)
def test_an_observed_cell_is_left_out_of_its_cluster(name):
    (cells, families), (bound, answers) = TABLES[name], fitted(name)
    model = twin(cells, families)
    law = crosscat.law_of(model)
    for i, j in ((0, 0), (2, 1), (2, 2)):
        expected = 0.0
        for (views, rows), weight in zip(law.states, law.probabilities, strict=True):
            labels = rows[views[j]]
            others = tuple(r for r in range(3) if labels[r] == labels[i] and r != i)
            both = tuple(sorted((*others, i)))
            log_own = crosscat.log_marginal(model, j, both) - crosscat.log_marginal(model, j, others)
            expected += weight * math.exp(log_own)
        measure = bound.encoding.log_measure(np.where(np.arange(3) == j, 0.0, np.nan)[None])[0]
        found = answers.cell_log_density(np.array([i]), np.array([j]), bound.values[[i], [j]])[0] + measure
        assert found == pytest.approx(math.log(expected), abs=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_missing_cells_of_new_rows(name):
    """Given the observed ones: densities by mixtures are ratios of evidences."""
    (cells, families), (bound, answers) = TABLES[name], fitted(name)
    rows = NEW_ROWS[name]
    mixtures = answers.row_cell_mixtures(encoded(bound, rows)[0], np.array([2, 1, 0]))
    places = [(i, j) for i, row in enumerate(rows) for j in (2, 1, 0) if row[j] is None]
    assert mixtures.column.tolist() == [j for _, j in places]
    for value in (0.0, 1.0):
        filled = [tuple(value if c == j else x for c, x in enumerate(rows[i])) for i, j in places]
        cell, measure = encoded(bound, [[value if c == j else None for c in range(3)] for _, j in places])
        expected = [
            log_evidence(twin((*cells, row), families)) - log_evidence(twin((*cells, rows[i]), families))
            for row, (i, _) in zip(filled, places, strict=True)
        ]
        own = np.nanmax(cell, axis=1)
        found = cell_mixtures.log_density(answers.prior, mixtures, own) + measure
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_a_new_column(name):
    """A view of its own by enumeration: the ratio of evidences; unbiased by sequences, to 4 standard errors."""
    (cells, families), (_, answers) = TABLES[name], fitted(name)
    column, family = (1, None, 0), ("bern", 0.9, 0.6)
    larger = tuple((*row, x) for row, x in zip(cells, column, strict=True))
    expected = log_evidence(twin(larger, (*families, family))) - log_evidence(twin(cells, families))
    y, params = numbers_of([column])[0], np.array([0.9, 0.6, 0.0, 0.0])
    found = answers.column_log_density(y, 2, params, new_view="exact")
    assert found == pytest.approx(expected, abs=1e-10)
    drawn = [answers.column_log_density(y, 2, params, rng=generator(seed)) for seed in range(40)]
    ratios = np.exp(np.array(drawn) - expected)
    assert abs(ratios.mean() - 1.0) <= 4.0 * ratios.std(ddof=1) / math.sqrt(40) + 1e-12
    total = sum(
        math.exp(answers.column_log_density(np.array(y, float), 2, params, new_view="exact"))
        for y in itertools.product((0.0, 1.0), repeat=3)
    )
    assert total == pytest.approx(1.0, abs=1e-10)
    by_view = [
        math.exp(crosscat.log_column(twin(larger, (*families, family)), 3, rows[v])) * weight
        for (views, rows), weight in zip(*crosscat.law_of(twin(cells, families))[:2], strict=True)
        for v in range(max(views) + 1)
    ]
    assert answers.column_log_density(y, 2, params, form="paper") == pytest.approx(math.log(math.fsum(by_view)))
    with pytest.raises(InvalidSettingError, match="form is one of normalised, paper, got 'other'"):
        answers.column_log_density(y, 2, params, form="other")


def test_similarities_of_rows():
    _, answers = fitted("categories")
    law = crosscat.law_of(twin(*TABLES["categories"]))
    everyone = np.arange(3)
    for weight, columns in itertools.product(("views", "columns"), (None, np.array([1]))):
        expected = np.zeros((3, 3))
        for (views, rows), chance in zip(law.states, law.probabilities, strict=True):
            some = sorted({views[j] for j in (range(3) if columns is None else columns)})
            sizes = [1.0 if weight == "views" else views.count(v) for v in some]
            for v, size in zip(some, sizes, strict=True):
                labels = np.array(rows[v])
                expected += chance * size / sum(sizes) * (labels[:, None] == labels)
        found = answers.row_similarity(everyone, everyone, columns, weight)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(InvalidSettingError, match="weight is one of views, columns, got 'rows'"):
        answers.row_similarity(everyone, everyone, None, "rows")


def test_mutual_information_is_a_mean_over_draws():
    """By direct summation over all pairs of values; 0 in draws with two views."""
    bound, answers = fitted("categories")
    cells, families = TABLES["categories"]
    law, model = crosscat.law_of(twin(cells, families)), twin(cells, families)
    expected = 0.0
    for (views, rows), chance in zip(law.states, law.probabilities, strict=True):
        if views[0] != views[1]:
            continue
        joint = np.zeros((2, 3))
        for block in [*crosscat.blocks(rows[views[0]]), []]:
            weight = (len(block) or ALPHAS[0]) / (3 + ALPHAS[0])
            chances = [
                [math.exp(log_cell(model, j, tuple(block), x)) for x in range(size)] for j, size in ((0, 2), (1, 3))
            ]
            joint += weight * np.outer(*chances)
        expected += chance * float((joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum())
    found, error = answers.mutual_information(0, 1, generator(0), 100)
    assert error == 0.0
    assert found == pytest.approx(expected, abs=1e-10)


def log_cell(model, j, block, value):
    """Log predictive of a value in column j given a cluster."""
    cells = tuple((*column, value) for column in model.columns)
    grown = model._replace(columns=cells)
    return crosscat.log_marginal(grown, j, (*block, model.n_rows)) - crosscat.log_marginal(grown, j, block)


def test_mutual_information_by_samples():
    """Counts with measurements, against a long sample; 4 standard errors, false alarms 6e-5."""
    _, answers = fitted("numbers")
    found, error = answers.mutual_information(0, 1, generator(1), 200_000)
    again, second = answers.mutual_information(0, 1, generator(2), 200_000)
    assert 0.0 < error < 0.01
    assert abs(found - again) <= 4.0 * math.hypot(error, second)


def test_simulated_rows_have_the_conditional_law():
    """100,000 draws of two columns given the third: every frequency within 4 standard errors."""
    _, answers = fitted("categories")
    given, n = np.array([1.0, np.nan, np.nan]), 100_000
    drawn = answers.simulate(generator(3), given, n, np.array([2, 1]))
    for a, b in itertools.product(range(2), range(3)):
        asked = np.array([[np.nan, b, a]], float)
        chance = math.exp(answers.conditional_log_density(asked, given[None])[0])
        share = np.mean((drawn[:, 0] == a) & (drawn[:, 1] == b))
        assert abs(share - chance) <= 4.0 * math.sqrt(chance * (1.0 - chance) / n)


@pytest.mark.parametrize("name", TABLES)
def test_clusters_of_the_estimate(name):
    """Mean over draws, weighed by the row's density, of the share of the joined cluster's members in each cluster."""
    (cells, families), (bound, answers) = TABLES[name], fitted(name)
    law, rows_new = crosscat.law_of(twin(cells, families)), NEW_ROWS[name]
    larger = [twin((*cells, row), families) for row in rows_new]
    columns, labels = answers.views[0]
    for r, model in enumerate(larger):
        expected = np.zeros(3)
        for (views, rows), chance in zip(law.states, law.probabilities, strict=True):
            weights = [joining_weights(model, views, rows, v) for v in range(max(views) + 1)]
            whole = math.prod(sum(own) for own in weights)
            most = [views[j] for j in columns]
            view = max(sorted(set(most)), key=most.count)
            own = weights[view]
            for block, weight in zip([*crosscat.blocks(rows[view]), []], own, strict=True):
                share = chance * whole * weight / sum(own)
                if not block:
                    expected[2] += share
                for member in block:
                    expected[labels[member]] += share / len(block)
        found = answers.cluster_probabilities(0, encoded(bound, [rows_new[r]])[0])
        np.testing.assert_allclose(found[0], expected / expected.sum(), atol=1e-9)


def joining_weights(model, views, rows, view):
    """Joint densities of the last row of a model with each cluster of a view and, last, a new one."""
    new = model.n_rows - 1
    out = []
    for block in [*crosscat.blocks(rows[view]), []]:
        log_p = sum(
            crosscat.log_marginal(model, j, (*block, new)) - crosscat.log_marginal(model, j, tuple(block))
            for j, v in enumerate(views)
            if v == view
        )
        out.append((len(block) or ALPHAS[0]) / (new + ALPHAS[0]) * math.exp(log_p))
    return out


def test_draws_with_numbers_of_their_own():
    """Two draws of equal labels with different numbers: the mean of two models, in mixtures and densities alike."""
    bound, _ = fitted("numbers")
    views, rows = np.zeros((2, 3), int), [np.array([[0, 1, 0]])] * 2
    params = np.stack([bound.prior.params, bound.prior.params * [1.0, 1.7, 0.6, 1.3]])
    params[1, 2, 0] = 5.0  # trials
    alphas = np.array([[0.5, 1.0], [1.5, 1.0]])
    both = make_draws(bound.prior, bound.values, views, rows, params, alphas)
    answers = DrawAnswers(bound.prior, bound.values, both, np.ones((3, 3)), [], learned=True)
    single = []
    for t in range(2):
        own = bound.prior._replace(params=params[t])
        draws = make_draws(own, bound.values, views[:1], rows[:1], None, alphas[t : t + 1])
        single.append(DrawAnswers(own, bound.values, draws, np.ones((3, 3)), [], learned=False))
    new = encoded(bound, NEW_ROWS["numbers"])[0]
    expected = np.logaddexp(*(one.row_log_density(new) for one in single)) - math.log(2.0)
    np.testing.assert_allclose(answers.row_log_density(new), expected, atol=1e-12)
    at, which = np.array([1, 0, 2]), np.array([2, 1, 0])
    cells = np.array([2.0, 0.1, 1.0])
    expected = np.logaddexp(*(one.cell_log_density(at, which, cells) for one in single)) - math.log(2.0)
    np.testing.assert_allclose(answers.cell_log_density(at, which, cells), expected, atol=1e-12)
    mixtures = answers.cell_mixtures(at, which)
    np.testing.assert_allclose(cell_mixtures.log_density(bound.prior, mixtures, cells), expected, atol=1e-12)
    means = [cell_mixtures.moments(one.prior, one.cell_mixtures(at, which))[0] for one in single]
    np.testing.assert_allclose(cell_mixtures.moments(bound.prior, mixtures)[0], np.mean(means, axis=0), atol=1e-12)
    chances = [cell_mixtures.probabilities(one.prior, one.cell_mixtures(at[:1], which[:1]))[1] for one in single]
    found = cell_mixtures.probabilities(bound.prior, answers.cell_mixtures(at[:1], which[:1]))[1]
    np.testing.assert_allclose(found, np.mean(chances, axis=0), atol=1e-12)
    given = new.copy()
    given[:, 1] = np.nan
    log_both = np.stack([one.row_log_density(given) for one in single])
    asked = [
        cell_mixtures.log_density(one.prior, one.row_cell_mixtures(given, np.array([1])), np.full(3, 0.2))
        for one in single
    ]
    expected = np.logaddexp.reduce(log_both + asked, axis=0) - np.logaddexp.reduce(log_both, axis=0)
    mixtures = answers.row_cell_mixtures(given, np.array([1]))
    np.testing.assert_allclose(cell_mixtures.log_density(bound.prior, mixtures, np.full(3, 0.2)), expected, atol=1e-12)


def test_equal_draws_are_one_of_more_weight():
    views = np.array([[0, 0], [0, 1], [0, 0]])
    rows = [np.array([[0, 1]]), np.array([[0, 0], [0, 1]]), np.array([[0, 1]])]
    first, counts = unique_draws(views, rows)
    assert (first.tolist(), counts.tolist()) == ([0, 1], [2, 1])
    bound, _ = fitted("categories")
    labels = [np.array([[0, 1, 1]]), np.array([[0, 0, 0]]), np.array([[0, 1, 1]])]
    draws = make_draws(bound.prior, bound.values, np.zeros((3, 3), int), labels, None, np.ones((3, 2)))
    np.testing.assert_allclose(np.exp(draws.log_weight), [2 / 3, 1 / 3])


def test_as_many_draws_as_are_useful_and_fit():
    assert choose_draws(2_000, 1_000, 100, 1e4).size == 100
    assert choose_draws(2_000, 10, 4, 1e4).size == 500
    assert choose_draws(50, 10, 4, 1e4).tolist() == list(range(50))
    assert choose_draws(2_000, 10, 4, 256 * 2**20 / 3).size == 3

"""What trees of views predict: golden numbers, total masses, the errors of the printed forms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.likelihoods.families import BERNOULLI
from bayesgrove.models.cross.tree_views import Skeleton
from bayesgrove.trees import expected_clusters
from reference.tree_answers import ask_golden, cells_of, column_numbers

pytestmark = pytest.mark.exact
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")
NEW_COLUMNS = (
    ("log_p", {"new_view": "exact"}),
    ("log_p_no_new_view", {"new_view": "none"}),
    ("log_p_new_view_bound", {"new_view": "bound"}),
    ("log_p_paper", {"form": "paper"}),
)


@pytest.fixture(params=TABLES)
def case(request, golden):
    """Numbers and answers of each golden table."""
    table = golden("bhcc")["tables"][request.param]
    return table, ask_golden(table).answers


@pytest.fixture
def yes_no(golden):
    """The table whose rows and columns can all be listed."""
    table = golden("bhcc")["tables"]["bern_6x4"]
    return table, ask_golden(table).answers


def close(value):
    return pytest.approx(value, abs=1e-8)


def test_golden_new_row(case):
    table, answers = case
    assert answers.row_log_density(cells_of(table["newrow"]["x"])[np.newaxis])[0] == close(table["newrow"]["log_p"])


def root_alone(answers):
    """The same with all columns in one view for certain."""
    certain = Skeleton(np.array([NULL]), np.zeros(1), np.array([-np.inf]), answers.skeleton.tree[-1:])
    return replace(answers, skeleton=certain)


def test_golden_view_of_all_columns(case):
    """The root's row tree alone: new rows in both forms, and eq. 12."""
    table, answers = case[0], root_alone(case[1])
    row = cells_of(table["newrow"]["x"])[np.newaxis]
    assert answers.row_log_density(row)[0] == close(table["newrow"]["one_view_log_p"])
    assert answers.row_log_density(row, form="paper")[0] == close(table["newrow"]["one_view_log_p_paper"])
    y, (family, params, width) = cells_of(table["newcol"]["y"]), column_numbers(table["newcol"]["model"])
    found = answers.column_log_density(y, family, params, n_categories=width, new_view="none")
    assert found == close(table["newcol"]["one_view_log_p"])


@pytest.mark.parametrize(("key", "options"), NEW_COLUMNS, ids=[key for key, _ in NEW_COLUMNS])
def test_golden_new_column(case, key, options):
    table, answers = case
    family, params, width = column_numbers(table["newcol"]["model"])
    found = answers.column_log_density(cells_of(table["newcol"]["y"]), family, params, n_categories=width, **options)
    assert found == close(table["newcol"][key])


def test_golden_condition(case):
    table, answers = case
    known = cells_of(table["conditional"]["given"])[np.newaxis]
    asked = np.full_like(known, np.nan)
    asked[0, table["conditional"]["target_column"]] = table["conditional"]["value"]
    assert answers.conditional_log_density(asked, known)[0] == close(table["conditional"]["log_p"])


def test_golden_cells(golden):
    table = golden("bhcc")["tables"]["mixed_5x4_missing"]
    answers = ask_golden(table).answers
    for cell in table["cells"]:
        values = np.array(cell["values"])
        rows, columns = np.full(values.size, cell["i"]), np.full(values.size, cell["j"])
        np.testing.assert_allclose(answers.cell_log_density(rows, columns, values), cell["log_p"], rtol=0, atol=1e-8)


def test_golden_same_view_probabilities(case):
    table, answers = case
    expected = table["bhcc_bound"]["p_same_view"]
    np.testing.assert_allclose(answers.same_view_probability(), expected, rtol=0, atol=1e-8)


def all_lines(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


def column_mass(answers, **options):
    numbers = BERNOULLI, np.array([0.5, 0.5, 0.0, 0.0])
    return math.fsum(math.exp(answers.column_log_density(y, *numbers, **options)) for y in all_lines(answers.n_rows))


def test_masses(yes_no):
    table, answers = yes_no
    assert np.exp(answers.row_log_density(all_lines(4))).sum() == pytest.approx(1.0, abs=1e-10)
    assert column_mass(answers, new_view="exact") == pytest.approx(1.0, abs=1e-10)
    assert column_mass(answers, new_view="none") == pytest.approx(1.0, abs=1e-10)
    assert column_mass(answers, new_view="bound") == close(table["mass"]["newcol_new_view_bound"])


def test_the_mass_of_eq_11_is_the_expected_number_of_views(yes_no):
    """Erratum E2: children added without weights."""
    table, answers = yes_no
    mass = column_mass(answers, form="paper")
    assert mass == close(1.1134899368512297)
    assert mass == close(table["bhcc_bound"]["expected_views"])
    assert mass == pytest.approx(np.exp(answers.skeleton.log_weight).sum(), abs=1e-10)


def test_the_mass_of_the_printed_mixture_is_the_expected_number_of_clusters(yes_no):
    """Erratum E3, in the view of all columns."""
    answers = root_alone(yes_no[1])
    mass = np.exp(answers.row_log_density(all_lines(4), form="paper")).sum()
    assert mass == close(3.5365431101590303)
    assert mass == close(expected_clusters(answers.trees.tree(int(answers.skeleton.tree[-1]))))
    assert np.exp(answers.row_log_density(all_lines(4))).sum() == pytest.approx(1.0, abs=1e-10)


def test_the_prior_of_merging_is_no_weight_of_a_side(golden):
    """Erratum E5: pi prefers the side of one column to that of three; omega times size knows their numbers."""
    asked = ask_golden(golden("bhcc")["tables"]["bern_6x4"])
    tree = asked.fit.column_tree
    lgamma = np.array([math.lgamma(size) for size in tree.size])
    pi = np.exp(asked.answers.log_columns + lgamma - tree.columns["log_d"])
    np.testing.assert_allclose(pi, [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.6], rtol=0, atol=1e-12)
    weight = np.exp(asked.answers.skeleton.log_weight) * tree.size  # nothing is pruned here
    sides = weight[[0, 1, 2, 4, 5]].sum(), weight[3]
    assert sides[0] == pytest.approx(3.0 * sides[1], rel=1e-10)
    assert weight.sum() == pytest.approx(4.0, abs=1e-10)


def test_masses_of_cells(golden):
    answers = ask_golden(golden("bhcc")["tables"]["mixed_5x4_missing"]).answers
    for i, j, support in ((1, 3, 41), (0, 3, 41), (2, 0, 2), (4, 2, 3)):
        cells = np.full(support, i), np.full(support, j), np.arange(float(support))
        assert np.exp(answers.cell_log_density(*cells)).sum() == pytest.approx(1.0, abs=1e-10)


def test_mass_of_a_real_cell(golden):
    """The trapezoidal rule after x = sinh(u)."""
    answers = ask_golden(golden("bhcc")["tables"]["mixed_5x4_missing"]).answers
    u = np.linspace(-14.0, 14.0, 4_001)
    weight = np.cosh(u) * (u[1] - u[0])
    for i in (3, 0):
        cells = np.full(u.size, i), np.full(u.size, 1), np.sinh(u)
        assert (np.exp(answers.cell_log_density(*cells)) * weight).sum() == pytest.approx(1.0, abs=1e-6)

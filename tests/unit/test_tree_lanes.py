"""Sets of columns side by side on one tree: to the last bit what each gives by itself."""

import numpy as np
import pytest

from bayesgrove.likelihoods import Bernoulli, Binomial, Categorical, Columns, GaussianDiagonal, Poisson, bind
from bayesgrove.models.cross.evidence import Problem, grow_views
from bayesgrove.models.cross.fixed_trees import column_scores, node_weights, root_log_q, set_on_tree
from bayesgrove.models.cross.inside_views import columns_on_tree, score_on_tree
from bayesgrove.models.cross.row_trees import log_weights
from bayesgrove.models.cross.tree_lanes import LANES, either, lane_log_q
from bayesgrove.models.cross.view_table import view_table

pytestmark = pytest.mark.unit
N_ROWS = 23


def problem_of(likelihoods, values):
    bound = bind(Columns(likelihoods), values, hyper="fixed")
    return Problem(view_table(bound.prior, bound.values), 0.3, -0.2)


def yes_no_problem(n_columns):
    rng = np.random.default_rng(n_columns)
    values = rng.integers(0, 2, (N_ROWS, n_columns)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    return problem_of([Bernoulli(0.5, 0.7)] * n_columns, values)


def mixed_problem(n_columns):
    rng = np.random.default_rng(n_columns)
    kinds = [Bernoulli(0.5, 0.5), Binomial(9, 1.0, 2.0), Categorical(n_categories=3), GaussianDiagonal(), Poisson(2, 1)]
    draws = [rng.integers(0, 2, N_ROWS), rng.integers(0, 9, N_ROWS), rng.integers(0, 3, N_ROWS)]
    draws += [rng.normal(size=N_ROWS), rng.poisson(3, N_ROWS)]
    values = np.column_stack([rng.permutation(draws[j % 5]) for j in range(n_columns)]).astype(float)
    return problem_of([kinds[j % 5] for j in range(n_columns)], values)


def tree_of(problem, view):
    children = grow_views(problem, [view]).children[0]
    weights = np.empty(2 * N_ROWS - 1)
    node_weights(children, log_weights(N_ROWS, problem.log_rows), weights)
    return children, weights


def marginals_of(problem, columns, children):
    found = np.empty(2 * N_ROWS - 1)
    set_on_tree(problem.table, columns, children, found)
    return found


def plain_score(problem, view, children, weights, j):
    """log p(column j | the view's other columns, its tree) by one pass for it alone, without constants of cells."""
    base, own = (marginals_of(problem, columns, children) for columns in (view, np.array([j])))
    whole = root_log_q(children, weights, base, 0.0, base, np.empty(base.size))
    sign = -1.0 if j in view else 1.0
    return sign * (lane_log_q(children, weights, base, sign, own) - whole)


@pytest.mark.parametrize("make", [yes_no_problem, mixed_problem])
@pytest.mark.parametrize("n_columns", [3, LANES, LANES + 1, 2 * LANES + 5])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_columns_side_by_side_score_as_each_alone(make, n_columns, n_threads):
    problem = make(n_columns)._replace(n_threads=n_threads)
    view = np.arange(0, n_columns, 2)
    children, weights = tree_of(problem, view)
    expected = [plain_score(problem, view, children, weights, j) for j in range(n_columns)]
    found = column_scores(problem, [view], [children], np.arange(n_columns))[:, 0]
    assert found.tolist() == (np.array(expected) + problem.table.constants.sum(axis=1)).tolist()


@pytest.mark.parametrize("n_pairs", [1, LANES - 1, LANES, 3 * LANES + 2])
def test_pairs_side_by_side_score_as_each_alone(n_pairs):
    problem, rng = yes_no_problem(12), np.random.default_rng(n_pairs)
    children, weights = tree_of(problem, np.arange(12))
    sums = np.empty((12, weights.size))
    columns_on_tree(problem.table, np.arange(12), children, sums)
    older, younger = rng.integers(0, 12, (2, n_pairs))
    expected = [lane_log_q(children, weights, sums[a], 1.0, sums[b]) for a, b in zip(older, younger, strict=True)]
    found = np.full(n_pairs, np.nan)
    for first in range(2):
        score_on_tree(children, weights, sums, older, younger, (first, 2), found)
    assert found.tolist() == expected


def test_lanes_give_what_one_pass_gives():
    problem = mixed_problem(9)
    children, weights = tree_of(problem, np.arange(9))
    base, own = (marginals_of(problem, columns, children) for columns in (np.arange(9), np.arange(1)))
    for sign in (-1.0, 0.0, 1.0):
        expected = root_log_q(children, weights, base, sign, own, np.empty(base.size))
        assert lane_log_q(children, weights, base, sign, own) == pytest.approx(expected, rel=1e-14)


def test_either_is_the_log_of_the_sum():
    rng = np.random.default_rng(0)
    one = rng.normal(-300.0, 100.0, 500)
    split = one + rng.choice([0.0, 1e-9, 0.1, 3.0, 39.9, 40.0, 41.0, 5000.0], 500) * rng.choice([-1.0, 1.0], 500)
    found = np.array([either(a, b) for a, b in zip(one, split, strict=True)])
    np.testing.assert_array_max_ulp(found, np.logaddexp(one, split), maxulp=1)

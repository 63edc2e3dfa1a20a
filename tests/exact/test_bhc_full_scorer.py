"""Pairs of full-covariance clusters scored sixteen at a time: the same scores and trees as one by one."""

import numpy as np
import pytest

from bayesgrove.agglomeration import choose
from bayesgrove.agglomeration.agglomerate import load, new_agglomeration
from bayesgrove.agglomeration.exact import atoms_of_rows
from bayesgrove.agglomeration.full_scorer import FullScorer
from bayesgrove.agglomeration.scorers import LANES, NOBODY, RowScorer, block_scores, n_fields
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.gaussian_full import EXACT, full_prior
from bayesgrove.stats.sixteen import (
    SIXTEEN,
    add_product,
    larger,
    multiply,
    scale,
    solve_row,
    subtract_from,
    subtract_products,
)
from reference.tables import merges_of


def full_table(seed, n, d, *, rounded):
    rng = np.random.default_rng([seed, n, d])
    root = rng.normal(size=(d, 2 * d + 2))
    grain = np.full(d, 1.0 / 12.0) if rounded else EXACT
    prior = full_prior(
        rng.normal(size=d), rng.uniform(0.05, 1.0), d - 0.5 + rng.uniform(0.0, 4.0), root @ root.T / (2 * d), grain
    )
    values = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5 * rng.integers(0, 3, (n, 1))
    return prior, values.round() if rounded else values


@kernel
def scores_of(scorer, clusters, n, out, top):
    block_scores(scorer, clusters, 0, n, 0, 1, out, top)


def scores_by(scorer, prior, values):
    """Scores of all pairs of the first tile, whose places behind the rows are empty."""
    n, atoms = len(values), atoms_of_rows(prior, values, 0.0)
    state = new_agglomeration(n, atoms.rows.shape[1], int(n_fields(scorer)))
    load(scorer, state, prior, *atoms)
    out, top = np.empty((n, LANES)), np.empty((n, 1))
    scores_of(scorer, state.clusters, n, out, top)
    np.testing.assert_array_equal(top[:, 0], out.max(axis=1))
    assert (out[:, n:] < -NOBODY / 10).all()
    return out[:, :n]


@pytest.mark.parametrize("tempered", [False, True])
@pytest.mark.parametrize("d", [1, 2, 7, 20])
def test_scores_are_those_of_pairs_one_by_one(monkeypatch, d, tempered):
    for rounded in (False, True):
        prior, values = full_table(1, 40, d, rounded=rounded)
        by_lanes = choose.choose_scorer(prior, np.zeros(1), 40, 0.0, complete=True, tempered=tempered)
        assert isinstance(by_lanes, FullScorer)
        with monkeypatch.context() as patch:
            patch.setattr(choose, "has_lanes", lambda *prior, **options: False)
            by_rows = choose.choose_scorer(prior, np.zeros(1), 40, 0.0, complete=True, tempered=tempered)
        assert isinstance(by_rows, RowScorer)
        apart = ~np.eye(40, dtype=bool)
        got, expected = (scores_by(scorer, prior, values)[apart] for scorer in (by_lanes, by_rows))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 200])
def test_trees_are_those_of_pairs_one_by_one(monkeypatch, n):
    for d in (1, 3, 6):
        prior, values = full_table(2, n, d, rounded=False)
        for options in ({}, {"tempered": True}, {"scores": "matrix"}):
            got = merges_of(prior, values, **options)
            with monkeypatch.context() as patch:
                patch.setattr(choose, "has_lanes", lambda *prior, **options: False)
                expected = merges_of(prior, values, **options)
            assert got.children.tolist() == expected.children.tolist(), (d, options)


def test_rows_with_missing_cells_are_scored_one_by_one():
    prior, _ = full_table(3, 4, 2, rounded=False)
    assert isinstance(choose.choose_scorer(prior, np.zeros(1), 4, 0.0, complete=False), RowScorer)


@kernel
def all_steps(matrix, other, factor):
    add_product(matrix, 0, other, 1, 0.5, 2, 3)
    multiply(matrix, 1, 0, 3)
    larger(matrix, 2, 1, 4)
    scale(matrix, 3, 2, 0.7, -0.2)
    subtract_from(matrix, 4, 0.3, other, 0)
    subtract_products(matrix, 5, 0, 2, 4)
    for i in range(3):
        solve_row(matrix, 2, i, factor)


def test_rows_of_sixteen_compiled_and_plain():
    rng = np.random.default_rng(4)
    matrix, other, factor = rng.normal(size=(7, SIXTEEN)), rng.normal(size=(2, SIXTEEN)), rng.normal(size=(3, 3))
    expected, compiled = matrix.copy(), matrix.copy()
    expected[0] = other[1] + 0.5 + matrix[2] * matrix[3]
    expected[1] = expected[0] * matrix[3]
    expected[2] = np.where(expected[1] > matrix[4], expected[1], matrix[4])
    expected[3] = 0.7 * expected[2] - 0.2
    expected[4] = 0.3 - other[0]
    expected[5:] -= expected[:2] * expected[4]
    unit = np.eye(3) + np.tril(factor, -1)
    expected[2:5] = np.linalg.solve(unit, np.diag(factor)[:, np.newaxis] * expected[2:5])
    all_steps.py_func(matrix, other, factor)
    all_steps(compiled, other, factor)
    np.testing.assert_allclose(matrix, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(compiled, expected, rtol=1e-13, atol=1e-14)

"""`BHMC` and `RBHMC` at random settings far apart, on tables as awkward as they come: nothing underflows or breaks."""

import numpy as np
import pytest

from bayesgrove import BHMC, RBHMC
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.penalty import PENALTIES

pytestmark = pytest.mark.unit

N_SETTINGS, N_FAST, MOST_ROWS, FEW_ROWS = 100, 12, 5_000, 60
TABLES = ("free", "doubled", "constant", "two values", "far apart")
STRONGEST = 3.0
"""C times rows of a penalty relative to chance: see docs/rbhmc.md, "How strong"."""
WORK = 2_000
"""Rows times draws of a long fit; a fit has at least two draws."""


def spread_out(rng, low, high):
    """A number between two, each order of magnitude as likely."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_table(rng, n_rows):
    """Rows of a kind drawn at random."""
    kind, n_columns = rng.choice(TABLES), int(rng.integers(1, 6))
    rows = rng.normal(size=(n_rows, n_columns))
    if kind == "doubled":
        return np.repeat(rows, 2, axis=0)[:n_rows]
    if kind == "constant":
        return np.full((n_rows, n_columns), spread_out(rng, 1e-3, 1e3) if rng.random() < 0.5 else 0.0)
    if kind == "two values":
        return np.where(rows[:, :1] > 0.0, 1.0, -1.0) * np.ones(n_columns)
    return rows * spread_out(rng, 10.0, 1e4) if kind == "far apart" else rows * 2.0


def draw_strength(rng, penalty, n_rows):
    """C up to 100; relative to chance as strong as rows bear: beyond, each has its own leaf and a sweep takes hours."""
    is_relative = penalty.startswith("chance") and n_rows > FEW_ROWS
    return spread_out(rng, 1e-4, STRONGEST / n_rows if is_relative else 100.0)


def draw_setting(number, most_rows):
    """A model and a table; every fifth has C = 0, every tenth the fewest rows, every tenth the most."""
    rng = generator(number, 71)
    n_rows = {0: 1, 5: most_rows}.get(number % 10, round(spread_out(rng, 1, most_rows)))
    settings = {
        "depth": int(rng.integers(1, 9)),
        "alpha": spread_out(rng, 0.01, 100.0 if n_rows <= FEW_ROWS else 1.0),
        "gamma": spread_out(rng, 0.01, 100.0),
        "gamma0": spread_out(rng, 0.01, 100.0 if n_rows <= FEW_ROWS else 10.0),
        "n_chains": 1,
        "n_tune": 1,
        "n_draws": min(max(2, WORK // n_rows), 30),
        "random_state": number,
        "n_jobs": 1,
    }
    if number % 5 == 1:
        return BHMC(**settings), draw_table(rng, n_rows)
    penalty = str(rng.choice(list(PENALTIES)))
    settings |= {
        "penalty": penalty,
        "C": 0.0 if number % 5 == 2 else draw_strength(rng, penalty, n_rows),
        "margin": spread_out(rng, 0.01, 10.0),
        "margin_scale": None if n_rows <= FEW_ROWS and rng.random() < 0.5 else "rms",
    }
    return RBHMC(**settings), draw_table(rng, n_rows)


def check_fit(number, most_rows):
    """Everything a fit gives is a number."""
    model, rows = draw_setting(number, most_rows)
    model.fit(rows)
    assert all(np.isfinite(values).all() for values in model.posterior_.scalars.values())
    assert model.level_labels_.shape == (len(rows), model.depth)
    np.testing.assert_allclose(model.predict_proba(rows[:3]).sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(rows[:3])).all()


@pytest.mark.parametrize("number", range(N_FAST))
def test_few_rows(number):
    check_fit(number, FEW_ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(N_SETTINGS))
def test_up_to_five_thousand_rows(number):
    check_fit(number, MOST_ROWS)

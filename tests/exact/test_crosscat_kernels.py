"""Exact kernel test of CrossCat: every move alone leaves the law over all cross-partitions as it is (acceptance 18).

The moves are the reference twins; `test_crosscat_sources.py` compares the library's own sources with these.
"""

import itertools

import numpy as np
import pytest

from reference.crosscat import (
    column_among_existing,
    column_law,
    column_move,
    gibbs_row,
    law_of,
    log_joint,
    log_sequential,
    partitions,
    pushed,
    split_merge,
    swap,
)
from reference.crosscat_tables import small_model
from reference.crosscat_views import allocate, split_merge_views
from reference.enumerate_moves import outcomes

pytestmark = pytest.mark.exact
BETAS = (1.0, 0.8)


def check_invariant(name, move, beta):
    law = law_of(small_model(name), beta)
    after = pushed(law, move, outcomes)
    assert after.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(after - law.probabilities).sum() <= 1e-12
    return law


def moves(law, move):
    """How many states the move can leave: one that does nothing would pass the test."""
    return sum(len({reached for reached, _ in outcomes(lambda c, s=s: move(s, c))}) > 1 for s in law.states)


def last_view(state):
    return len(state[1]) - 1


MOVES = {
    "rows of the first view": lambda m, s, c, b: gibbs_row(m, s, 0, 1, c, b),
    "rows of the last view": lambda m, s, c, b: gibbs_row(m, s, last_view(s), 0, c, b),
    "split-merge": lambda m, s, c, b: split_merge(m, s, 0, c, b),
    "whole views": lambda m, s, c, b: split_merge_views(m, s, c, b),
    "existing views": lambda m, s, c, b: column_among_existing(m, s, 1, c, b),
    **{
        f"{kind} {n}": lambda m, s, c, b, kind=kind, n=n: column_move(m, s, 1, c, kind=kind, n_draws=n, beta=b)
        for kind, n in itertools.product(("sequential", "prior"), (1, 2))
    },
}


@pytest.mark.parametrize(
    ("name", "beta"),
    [
        pytest.param(name, beta, marks=pytest.mark.slow if name == "whole views" and beta < 1.0 else ())
        for name, beta in itertools.product(MOVES, BETAS)
    ],
)
def test_moves_of_a_three_by_three_table(name, beta):
    model = small_model("three")

    def move(state, choose):
        return MOVES[name](model, state, choose, beta)

    law = check_invariant("three", move, beta)
    assert moves(law, move) >= 50


@pytest.mark.parametrize("name", ["rows of the first view", "existing views", "sequential 1"])
def test_moves_of_a_four_by_three_table(name):
    """All 4,065 cross-partitions."""
    model = small_model("four")
    law = check_invariant("four", lambda state, choose: MOVES[name](model, state, choose, 1.0), 1.0)
    assert len(law.states) == 4065


@pytest.mark.slow  # 20 s
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("name", ["split-merge", "prior 1", "sequential 1"])
def test_all_moves_of_a_four_by_three_table(name, beta):
    model = small_model("four")
    check_invariant("four", lambda state, choose: MOVES[name](model, state, choose, beta), beta)


def test_swaps_leave_both_laws_as_they_are():
    model = small_model("narrow")
    cold, hot = (law_of(model, beta) for beta in (1.0, 0.5))
    joint = np.outer(cold.probabilities, hot.probabilities)
    index = {state: k for k, state in enumerate(cold.states)}
    after = np.zeros_like(joint)
    for (a, first), (b, second) in itertools.product(enumerate(cold.states), enumerate(hot.states)):
        for reached, chance in outcomes(lambda c, pair=(first, second): swap(model, pair, (1.0, 0.5), c)):
            after[index[reached[0]], index[reached[1]]] += joint[a, b] * chance
    np.testing.assert_allclose(after, joint, atol=1e-14)


def test_the_law_of_the_views_is_the_margin_of_the_law():
    model = small_model("three")
    for beta in BETAS:
        law, margin = law_of(model, beta), {}
        for (views, _), probability in zip(law.states, law.probabilities, strict=True):
            margin[views] = margin.get(views, 0.0) + probability
        assert margin == pytest.approx(column_law(model, beta), abs=1e-12)
    assert law_of(model).log_evidence < 0.0
    assert max(log_joint(model, state) for state in law.states) < law_of(model).log_evidence


@pytest.mark.parametrize("j", range(3))
def test_the_sequential_proposal_is_a_law(j):
    model = small_model("four")
    total = np.exp([log_sequential(model, j, labels) for labels in partitions(4)]).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("beta", BETAS)
def test_the_allocation_of_rows_is_a_law(beta):
    model = small_model("four")
    for order in ((0, 1, 2, 3), (2, 0, 3, 1)):
        logs = [allocate(model, (0, 2), order, beta, None, labels)[1] for labels in partitions(4)]
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)

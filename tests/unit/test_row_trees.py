"""Searches of row trees over whole turns of vectors: the same places as one by one, ties and empty places included."""

import numpy as np
import pytest

from bayesgrove.agglomeration.ties import TIE_SCALE
from bayesgrove.core.constants import NULL
from bayesgrove.models.cross.row_trees import NOBODY, NONE, PLACES, first_of_top, list_living, top_owner

ENDS = (1, 2, 7, 31, 32, 33, 64, 95, 97)


def plain_first(score, offset, b):
    """The first place of the largest rounded score, one by one."""
    living = [a for a in range(b) if score[a] > -0.5 * NOBODY]
    rounded = {a: np.rint((score[a] - offset) * TIE_SCALE) for a in living}
    top = max(rounded.values(), default=NONE)
    return next((a for a in living if rounded[a] == top), NULL), top


@pytest.mark.parametrize("end", ENDS)
def test_first_of_top(end):
    rng = np.random.default_rng(end)
    for n_values in (1, 2, 5, 1000):
        score = np.full(4 * PLACES, -NOBODY)
        score[:end] = rng.integers(0, n_values, end) * 0.7 + rng.normal(0.0, 0.1 / TIE_SCALE, end)
        score[:end][rng.random(end) < 0.3] = -NOBODY
        assert first_of_top(score, 0.25, end) == plain_first(score, 0.25, end)


def test_no_score_has_no_top():
    assert first_of_top(np.full(2 * PLACES, -NOBODY), 0.0, 5) == (NULL, NONE)
    assert top_owner(np.full(PLACES, NONE), np.full(PLACES, NULL), 5) == NULL


@pytest.mark.parametrize("end", ENDS)
def test_top_owner(end):
    rng = np.random.default_rng(end)
    for n_values in (1, 2, 5, 1000):
        key, best = np.full(4 * PLACES, NONE), np.full(4 * PLACES, NULL)
        key[:end], best[:end] = rng.integers(-n_values, n_values, end), rng.integers(0, 8, end)
        expected = min(range(end), key=lambda p: (-key[p], best[p], p))
        assert top_owner(key, best, end) == expected


def test_living_places_keep_their_order():
    node = np.array([3, NULL, 5, NULL, NULL, 8, 9, NULL])
    living = np.zeros(8, np.uint32)
    list_living(node, 7, living)
    assert living[:4].tolist() == [0, 2, 5, 6]

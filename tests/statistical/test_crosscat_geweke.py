"""Geweke's test of CrossCat's moves, alone and together, numbers free, mixed columns, missing cells (acceptance 20).

Fixed seeds; on a fresh seed a right sampler fails each report with probability 1e-3, its level by Bonferroni.
"""

import pytest

from bayesgrove.inference.geweke import geweke_test
from bayesgrove.inference.schedule import Step
from reference.crosscat_generative import CrossModel

pytestmark = pytest.mark.statistical
COLUMNS, ROWS, SPLIT_MERGE = Step("columns", 1, {"share": 0.5}), Step("rows"), Step("split-merge", 2)
NUMBERS, CONCENTRATIONS = Step("numbers"), Step("concentrations")
SLICES = Step("concentrations", 1, {"method": "slice"})
ALONE = {
    "columns": Step("columns"),
    "columns prior": Step("columns", 1, {"new_view": "prior", "n_proposals": 2}),
    "whole views": Step("views", 2),
    "existing views": Step("columns", 1, {"share": 0.0}),
    "rows": ROWS,
    "split-merge": SPLIT_MERGE,
    "numbers": NUMBERS,
    "concentrations": CONCENTRATIONS,
    "slices": SLICES,
}
WHOLE = (COLUMNS, SPLIT_MERGE, ROWS, NUMBERS, CONCENTRATIONS)


def check(report, n_functionals=12):
    assert len(report.checks) >= n_functionals
    assert report.passed, report


def test_sweeps_leave_the_joint_law_of_everything_as_it_is():
    check(geweke_test(CrossModel(), WHOLE, n_forward=6_000, n_chain=8_000, seed=1), 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_every_move_alone(name):
    """The data are drawn anew each time, so that one move is enough to see its error."""
    check(geweke_test(CrossModel(), (ALONE[name],), n_forward=10_000, n_chain=16_000, seed=2), 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (CrossModel(6), WHOLE),
        (CrossModel(6), (*WHOLE[:-1], SLICES)),
        (CrossModel(tied=True), WHOLE),
        (CrossModel(free_numbers=False), WHOLE),
    ],
    ids=["all families", "slices", "tied", "fixed numbers"],
)
def test_sweeps_of_all_families(model, steps):
    check(geweke_test(model, steps, n_forward=10_000, n_chain=16_000, seed=3), 13)

"""Geweke's test of nested hierarchies: moves alone and together, numbers fixed and free, all kinds of components.

Acceptance 10. Fixed seeds; on a fresh seed a right sampler fails each report with probability 1e-3, its level by
Bonferroni over at least 34 comparisons (|z| of about 4.6).
"""

from dataclasses import dataclass

import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.geweke import geweke_test
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.schedules import paper_steps
from reference.nested_generative import NestedModel

pytestmark = pytest.mark.statistical
WEIGHTS, MEANS = Step("weights"), Step("means")
GIBBS, MH = Step("paths", 1, {"path": "gibbs"}), Step("paths", 1, {"path": "mh"})
SWEEP = (Step("sweep"),)
WHOLE = (MH, GIBBS, WEIGHTS, MEANS)
CONCENTRATIONS = ("alpha", "gamma", "gamma0")
VARIANCES = ("component_variance", "base_variance")
FREE = CONCENTRATIONS + VARIANCES


def check(model, steps, seed, *, n_forward=2_000, n_chain=4_000, n_checks=17):
    report = geweke_test(model, steps, n_forward=n_forward, n_chain=n_chain, seed=seed)
    assert len(report.checks) >= n_checks
    assert report.passed, report


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (NestedModel(FREE), WHOLE),
        pytest.param(NestedModel(CONCENTRATIONS, family="bernoulli"), (MH, WEIGHTS), marks=pytest.mark.slow),
        pytest.param(NestedModel(), SWEEP, marks=pytest.mark.slow),
    ],
    ids=["free", "bernoulli", "fixed"],
)
def test_sweeps_leave_the_joint_law_of_everything_as_it_is(model, steps):
    check(model, steps, 1)


ALONE = {"gibbs": (GIBBS,), "mh": (MH,), "weights": (WEIGHTS,), "means": (MEANS,)}


@dataclass(frozen=True)
class Watched(NestedModel):
    """Looked at by some functionals only."""

    names: tuple[str, ...] = ()

    def summarise(self, sampler, state):
        found = super().summarise(sampler, state)
        return {name: found[name] for name in self.names}


def changed_by(model, steps, n_tries=40):
    """Functionals that steps and new data ever change; of the others a chain has a single value, not a law."""
    rng, changed = generator(3), set()
    for _ in range(n_tries):
        truth = model.draw_prior(rng)
        sampler = model.sampler(model.draw_data(rng, truth))
        state = model.state_from(sampler, truth)
        before = model.summarise(sampler, state)
        for step in steps:
            sampler.move(rng, state, step)
        after = model.summarise(*model.redraw_data(rng, sampler, state))
        changed |= {name for name in before if before[name] != after[name]}
    return tuple(name for name in before if name in changed)


@pytest.mark.slow
@pytest.mark.parametrize("free", [(), FREE], ids=["fixed", "free"])
@pytest.mark.parametrize("name", ALONE)
def test_every_move_alone(name, free):
    """The data are drawn anew each time, so that one move is enough to see its error."""
    names = changed_by(NestedModel(free), ALONE[name])
    check(Watched(free, names=names), ALONE[name], 2, n_forward=20_000, n_chain=20_000, n_checks=6)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [SWEEP, WHOLE], ids=["sweep", "whole"])
@pytest.mark.parametrize(
    "model",
    [
        NestedModel(),
        NestedModel(FREE),
        NestedModel(FREE, depth=1),
        NestedModel(FREE, depth=3),
        NestedModel(FREE, n_components=3),
        NestedModel((), n_components=2),
        NestedModel(CONCENTRATIONS, family="bernoulli"),
        NestedModel(CONCENTRATIONS, family="diagonal"),
        NestedModel(CONCENTRATIONS, family="multinomial"),
        NestedModel(CONCENTRATIONS, family="diagonal", n_components=3),
    ],
    ids=lambda model: "-".join(
        [f"depth {model.depth}", model.family, f"K {model.n_components}", f"{len(model.free)} free"]
    ),
)
def test_all_kinds_of_models(model, steps):
    check(model, steps, 3, n_forward=20_000, n_chain=20_000)


# With a penalty on fixed rows: p(V, eta) R(V, eta) can be drawn by rejection

DISCRIMINANTS = Step("discriminants")
PENALISED = (GIBBS, DISCRIMINANTS, WEIGHTS, MEANS)
PENALISED_FREE = (*FREE, "discriminant_variance")


def penalised(penalty, **changes):
    """Four data, and weakly, where chance is divided out: fewer truths are rejected."""
    n_rows, strength = (5, 0.3) if penalty in ("max", "level-max", "sum") else (4, 0.08)
    return NestedModel(PENALISED_FREE, n_rows=n_rows, penalty=penalty, strength=strength).with_(**changes)


def test_sweeps_under_a_penalty():
    check(penalised("max"), SWEEP, 4, n_forward=1_000, n_chain=3_000)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [SWEEP, PENALISED, (MH, *PENALISED[1:])], ids=["sweep", "gibbs", "mh"])
@pytest.mark.parametrize("penalty", ["max", "level-max", "sum", "chance", "chance-max"])
def test_all_penalties(penalty, steps):
    check(penalised(penalty), steps, 5, n_forward=10_000, n_chain=20_000)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["max", "sum"])
def test_penalties_of_other_models(penalty):
    check(penalised(penalty, depth=3), PENALISED, 6, n_forward=10_000, n_chain=20_000)
    check(penalised(penalty, free=CONCENTRATIONS, family="bernoulli"), PENALISED, 7, n_forward=10_000, n_chain=20_000)


@pytest.mark.slow
def test_a_penalty_of_no_strength():
    """Discriminants are their prior's, of created nodes too; their variance follows its hyperprior."""
    check(penalised("max", strength=0.0), PENALISED, 8, n_forward=10_000, n_chain=20_000)


@pytest.mark.slow
def test_the_printed_sampler_fails():
    report = geweke_test(
        penalised("max", free=CONCENTRATIONS), paper_steps(penalty=True), n_forward=10_000, n_chain=20_000, seed=9
    )
    assert {"level-1 nodes", "leaves", "eta squared"} <= set(report.alarms), report

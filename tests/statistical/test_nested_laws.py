"""Compiled moves of nested hierarchies against the exact law of 60 trees (acceptance 7, 8, 13, 19, 20).

Fixed seeds, no retries. LEVEL is the false-alarm rate of the G-tests of this file together on fresh seeds; bounds on
the total variation, |z| and the root mean square of z are the specification's.
"""

import itertools

import numpy as np
import pytest

from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.target import VALUE_NAMES
from bayesgrove.models.nested.tempered_sampler import tempered_sampler
from bayesgrove.stats.testing import bonferroni_level, g_test, mean_z, total_variation
from reference.nested_laws import LARGEST_Z, agreement, golden, law_of, memory, run, sampler_of, series_of

pytestmark = pytest.mark.statistical
N_SWEEPS = 20_000
N_TESTS = 2 * (16 + 2 + 56 + 6 + 2)
"""G-tests of all cases, slow ones included: of the trees, and of trees with components."""
LEVEL = bonferroni_level(1e-3, N_TESTS)
LARGEST_TV = 0.05
LARGEST_RMS = {False: 1.6, True: 2.0}
"""Without and with a penalty."""
WEIGHTS, PLAIN_WEIGHTS, MEANS = Step("weights"), Step("weights", 1, {"regraft": False}), Step("means")
SPLIT_MERGE = Step("split-merge", 2)


def paths(kind):
    return Step("paths", 1, {"path": kind})


SCHEDULES = {
    "sweep": (Step("sweep"),),
    "sweep without regraft": (Step("sweep", 1, {"regraft": False}),),
    "gibbs": (paths("gibbs"), PLAIN_WEIGHTS, MEANS),
    "gibbs and regraft": (paths("gibbs"), WEIGHTS, MEANS),
    "mh": (paths("mh"), PLAIN_WEIGHTS, MEANS),
    "mh and regraft": (paths("mh"), WEIGHTS, MEANS),
    "both paths": (paths("mh"), MEANS, paths("gibbs"), WEIGHTS, MEANS),
    "split-merge": (paths("mh"), SPLIT_MERGE, MEANS),
}
IN_FAST_SUITE = {("sweep", "A"), ("gibbs", "B"), ("mh and regraft", "A"), ("split-merge", "B")}


def slow_unless(fast, *values, **given):
    return pytest.param(*values, marks=() if fast else pytest.mark.slow, **given)


def check_law(found, *, penalised=False):
    assert min(found.p_trees, found.p_joint) > LEVEL, found
    assert found.total_variation <= LARGEST_TV, found
    assert found.worst_z <= LARGEST_Z, found
    assert found.rms_z <= LARGEST_RMS[penalised], found


@pytest.mark.parametrize(
    ("name", "data"), [slow_unless(case in IN_FAST_SUITE, *case) for case in itertools.product(SCHEDULES, "AB")]
)
def test_without_a_penalty(name, data):
    law, _ = law_of(data)
    check_law(agreement(run(sampler_of(data), SCHEDULES[name], N_SWEEPS, 1, law), law))


@pytest.mark.parametrize("name", ["sweep", pytest.param("mh", marks=pytest.mark.slow)])
def test_random_concentrations(name):
    """Golden law and means of all three concentrations under Gamma priors (acceptance 13)."""
    given = golden()["random_hyper"]
    inputs = given["inputs"]
    hyperpriors = np.full((len(VALUE_NAMES), 2), np.nan)
    for place, key in enumerate(("alpha", "gamma", "gamma0")):
        hyperpriors[place] = inputs[f"a_{key}"], inputs[f"b_{key}"]
    law, _ = law_of("B")
    chain = run(sampler_of("B", hyperpriors=hyperpriors), SCHEDULES[name], N_SWEEPS, 2, law)
    series = series_of(chain, law) | {"alpha": chain.values[:, 0], "gamma0": chain.values[:, 2]}
    step = max(1, int(2.0 * memory(series)))
    counts = np.bincount(chain.trees[::step], minlength=60)
    assert g_test(counts, given["posterior"]).p_value > LEVEL
    assert total_variation(np.bincount(chain.trees, minlength=60), given["posterior"]) <= LARGEST_TV
    for place, key in enumerate(("E_alpha", "E_gamma", "E_gamma0")):
        assert abs(mean_z(chain.values[:, place], given[key])) <= LARGEST_Z, key


# With a penalty

STRENGTH = 0.4


def discriminants(update):
    return Step("discriminants", 1, {"update": update})


def penalised(path, update="slice", *, regraft=True, lazy=True):
    first = Step("paths", 1, {"path": path} if lazy else {"path": path, "lazy": False})
    return (first, discriminants(update), WEIGHTS if regraft else PLAIN_WEIGHTS, MEANS)


PENALISED = {
    "sweep": (Step("sweep"),),
    "gibbs": penalised("gibbs", regraft=False),
    "gibbs and regraft": penalised("gibbs"),
    "full evaluation": penalised("gibbs", lazy=False),
    "mh": penalised("mh", regraft=False),
    "mh and regraft": penalised("mh"),
    "split-merge": (paths("mh"), discriminants("slice"), SPLIT_MERGE, MEANS),
}
UPDATES = {"max": "augmented", "sum": "gibbs", "chance": "gibbs"}
"""Moves of the discriminants besides the slice."""


def penalised_cases():
    fast = {("max", "sweep", "A"), ("level-max", "sweep", "B"), ("chance", "sweep", "A")}
    for case in itertools.product(("max", "level-max", "sum", "chance", "chance-max"), PENALISED, "AB"):
        yield slow_unless(case in fast, *case)


def check_penalised(penalty, steps, data, seed, n_sweeps=N_SWEEPS):
    law, error = law_of(data, penalty, STRENGTH)
    chain = run(sampler_of(data, penalty, STRENGTH), steps, n_sweeps, seed, law)
    check_law(agreement(chain, law, error), penalised=True)


@pytest.mark.parametrize(("penalty", "name", "data"), list(penalised_cases()))
def test_with_a_penalty(penalty, name, data):
    """All penalties, path moves and schedules; lazy rejection and full evaluation have the same law."""
    check_penalised(penalty, PENALISED[name], data, 3)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["A", "B"])
@pytest.mark.parametrize("penalty", UPDATES)
def test_other_moves_of_the_discriminants(penalty, data):
    check_penalised(penalty, penalised("gibbs", UPDATES[penalty]), data, 4, 3 * N_SWEEPS)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["A", "B"])
def test_coupled_chains(data):
    """The first of three chains that change places has the law of its own strength."""
    law, error = law_of(data, "max", STRENGTH)
    sampler = tempered_sampler(sampler_of(data, "max", STRENGTH).target, 3)
    steps = (Step("sweep"), Step("swap"))
    chain = run(sampler, steps, 3 * N_SWEEPS, 6, law, first=lambda state: state.states[0])
    check_law(agreement(chain, law, error), penalised=True)


def test_a_penalty_of_no_strength_changes_nothing():
    """The discriminants have a stream of their own: trees, components and weights are those without them."""
    law, _ = law_of("A")
    steps = (paths("gibbs"), WEIGHTS, MEANS)
    without = run(sampler_of("A"), steps, 200, 5, law)
    beside = run(sampler_of("A", "max", 0.0), (steps[0], discriminants("slice"), *steps[1:]), 200, 5, law)
    np.testing.assert_array_equal(without.trees, beside.trees)
    np.testing.assert_array_equal(without.components, beside.components)

"""Compiled moves of nested hierarchies against the exact law of the 60 trees of four data (acceptance 7, 8, 13, 19, 20).

Fixed seeds, no retries. LEVEL is the false-alarm rate of the G-tests of this file together on fresh seeds; bounds on
the total variation, |z| and the root mean square of z are the specification's.
"""

import itertools

import numpy as np
import pytest

from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.target import VALUE_NAMES
from bayesgrove.stats.testing import bonferroni_level, g_test, mean_z, total_variation
from reference.nested_laws import LARGEST_Z, agreement, golden, law_of, memory, run, sampler_of, series_of

pytestmark = pytest.mark.statistical
N_SWEEPS = 20_000
N_TESTS = 100
"""G-tests of all cases, two per case, slow ones included, or more."""
LEVEL = bonferroni_level(1e-3, N_TESTS)
LARGEST_TV = 0.05
LARGEST_RMS = {False: 1.6, True: 2.0}
"""Without and with a penalty."""
WEIGHTS, PLAIN_WEIGHTS, MEANS = Step("weights"), Step("weights", 1, {"regraft": False}), Step("means")


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
}
IN_FAST_SUITE = {("sweep", "A"), ("gibbs", "B"), ("mh and regraft", "A")}


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

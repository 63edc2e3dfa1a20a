"""Runs of the mixture experiments on real samplers: ratios, chains, starts."""

import numpy as np
import pytest
from papers.nrm_cases import PROCESSES, gaussian_case, noisy_start
from papers.nrm_ratios import log_ratio
from papers.nrm_runs import SAMPLERS, run_chain, sampler_of

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step

pytestmark = [pytest.mark.statistical, pytest.mark.slow]


@pytest.fixture(scope="module")
def case():
    """Three groups that touch."""
    rng = generator(4)
    classes = np.repeat([0, 1, 2], 10)
    return gaussian_case("small", rng.normal(size=(30, 2)) + 2.0 * classes[:, None], classes)


@pytest.mark.parametrize("law", ["uniform", "tree", "cluster", "jain-neal"])
def test_ratios_are_those_the_sampler_accepts_by(case, law):
    """Mean min(1, r) of 4,000 proposals against the share accepted of 4,000 moves from the same state.

    Two independent means: |z| > 4.4 has a probability of 1.1e-5.
    """
    n_moves = 4_000
    sampler = sampler_of(case, PROCESSES["DP"], "ours", np.repeat([0, 1], 15))
    start = sampler.pack(sampler.start(generator(0)))
    state, rng = sampler.unpack(start), generator(1)
    found = [log_ratio(rng, sampler, state, law) for _ in range(n_moves)]
    expected = np.exp(np.minimum([value for value in found if value is not None], 0.0))
    proposed = accepted = 0
    for _ in range(n_moves):
        counts = sampler.move(rng, state, Step("anchors", 1, {"laws": [law]}))
        proposed += counts["splits"] + counts["merges"]
        if counts["splits_accepted"] + counts["merges_accepted"]:
            accepted += 1
            state = sampler.unpack(start)
    share = accepted / proposed
    error = np.sqrt(expected.var() / expected.size + share * (1.0 - share) / proposed)
    assert 0.01 < share < 0.99
    assert abs(expected.mean() - share) < 4.4 * error


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_runs_for_its_time(case, process, name):
    first = noisy_start(case, PROCESSES[process], 0)
    run = run_chain(case, PROCESSES[process], name, first, 0, 0.2)
    assert run.seconds[-1] >= 0.2 > run.seconds[-2]
    assert (np.diff(run.seconds) > 0.0).all()
    assert run.labels.shape == (30,)
    assert (run.log_r.size > 0) == (name != "Gibbs")
    assert run.log_joint.max() > run.log_joint[0] - 50.0

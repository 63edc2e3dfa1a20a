"""First states of CrossCat chains that have been tried: of several short runs the best goes on.

A chain can stay for hundreds of sweeps in a state with two views in one, thousands of nats below the best (section 9.6:
one chain in four on a mixed table of 1,000 x 100). Which state a chain starts from is free, so that the choice leaves
its law alone; unlike a restart that looks at other chains, it depends on nothing but the chain's own generator.
"""

import dataclasses
from typing import Any

import numpy as np

from bayesgrove.inference.schedule import Step
from bayesgrove.models.cross.mcmc_schedules import default_steps
from bayesgrove.models.cross.mcmc_state import State, log_joint, make_state

SWEEPS_PER_ROUND = 10
STEPS: tuple[Step, ...] = default_steps(number_share=0.25)


def first_state(rng: np.random.Generator, sampler: Any) -> State:
    """A state from the sampler's start as it is."""
    concentrations = np.array(sampler.concentrations, float)
    of_column, rows = sampler.first(rng, sampler.target, sampler.params, concentrations)
    return make_state(sampler.target, of_column, rows, sampler.params, concentrations)


def raced_state(rng: np.random.Generator, sampler: Any, n_starts: int) -> State:
    """The best of several states: all make ten sweeps, the better half ten more, until one is left."""
    states = [first_state(rng, sampler) for _ in range(n_starts)]
    alone = dataclasses.replace(sampler, betas=(1.0,), n_starts=1)
    while len(states) > 1:
        runs = [alone.coupled([state]) for state in states]
        for run in runs:
            for _ in range(SWEEPS_PER_ROUND):
                for step in STEPS:
                    alone.move(rng, run, step)
        states = [run.chains[0] for run in runs]
        reached = [log_joint(sampler.target, sampler.hyperpriors, state) for state in states]
        best = np.argsort(reached, kind="stable")[::-1][: (len(states) + 1) // 2]
        states = [states[k] for k in best]
    return states[0]

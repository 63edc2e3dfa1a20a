"""Huang et al. on Animals: convergence, sensitivity to C and margin, case trees, F by level."""

from collections.abc import Mapping
from typing import Any

from bayesgrove.inference.result import Result
from papers import nested_claims as judge
from papers.nested_cases import animals
from papers.nested_runs import SAMPLERS, Length, Method, Scores
from papers.nested_stages import (
    CHANCE_DEFAULT,
    CaseFit,
    Plan,
    Study,
    likelihoods_of,
    part_of,
    study,
)
from papers.outcome import Claim, Outcome, Tell

FULL = Plan(
    strengths=(0.001, 0.01, 0.03, 0.1, 0.3, 1.0),
    margins=(0.01, 0.1, 1.0),
    chance_strengths=(0.01, 0.03, 0.1),
    chance_margins=(0.1, 0.2, 1.0),
    pool=Length(10, 300, 100, 8),
    traces=Length(10, 0, 1000, 5),
    grid=Length(10, 500, 75, 10),
    chance=Length(10, 300, 75, 8),
    cases=Length(10, 2000, 300, 10),
)
QUICK = Plan(
    strengths=(0.01, 0.1, 1.0),
    margins=(0.1, 1.0),
    chance_strengths=(0.03,),
    chance_margins=(0.2,),
    pool=Length(3, 60, 30, 4),
    traces=Length(3, 0, 150, 2),
    grid=Length(3, 60, 20, 4),
    chance=Length(3, 60, 20, 4),
    cases=Length(3, 60, 30, 4),
)
CASE = (0.1, 1.0)
"""C and margin of the paper's comparison of F-measures."""


def case_methods() -> list[Method]:
    """BHMC, the paper's penalty with both samplers, and the setting we recommend."""
    return [Method(), *(Method("max", sampler, *CASE) for sampler in SAMPLERS), CHANCE_DEFAULT]


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All stages."""
    plan = QUICK if quick else FULL
    found = study(animals(data_home), plan, case_methods(), seed, tell)
    verdicts = claims(found)
    return Outcome(
        "RBHMC on Animals (Huang, Ng, Laitonjam and Hurley)", found.tables, verdicts, notes(quick), found.figures
    )


def claims(found: Study) -> list[Claim]:
    """Items 1 to 4 for both samplers, then ours."""
    verdicts = []
    for sampler in SAMPLERS:
        verdicts += trace_claims(sampler, found.traces)
        verdicts += grid_claims(sampler, part_of(found.grid, "max", sampler), found.pool.base)
        verdicts += case_claims(sampler, found.cases)
    return verdicts + judge.judge_chance("Animals", found.cases[CHANCE_DEFAULT].draws, found.pool.means)


def trace_claims(sampler: str, traces: Mapping[Method, Result]) -> list[Claim]:
    """Item 1."""
    weak, strong = (likelihoods_of(traces[Method("max", sampler, strength, 1.0)]) for strength in (0.01, 1.0))
    return [
        judge.judge_plateau("1", sampler, weak),
        judge.judge_likeness("1", sampler, weak["cdl"], weak["rcdl"]),
        judge.judge_fluctuation(
            "1: at C = 1 RCDL fluctuates far more", sampler, weak["rcdl"], strong["rcdl"], judge.FAR_MORE
        ),
    ]


def grid_claims(sampler: str, grid: Mapping[Method, Scores], base: Scores) -> list[Claim]:
    """Item 2."""
    return [
        judge.judge_settings(sampler, grid, base),
        judge.judge_setting("2: such a setting is (1, 1)", sampler, grid[Method("max", sampler, 1.0, 1.0)], base),
        judge.judge_bend(sampler, grid),
        judge.judge_influence(sampler, grid),
    ]


def case_claims(sampler: str, cases: Mapping[Method, CaseFit]) -> list[Claim]:
    """Items 3 and 4."""
    own, plain = cases[Method("max", sampler, *CASE)], cases[Method()]
    sizes = [f"{int(found.best['nodes'].mean())} nodes" for found in (own, plain)]
    shown = f"the best trees have {sizes[0]} on average, those of BHMC {sizes[1]}; a matter of taste, not of numbers"
    return [
        Claim(judge.of_sampler(sampler, "3: case trees of the best RCDL and CDL"), shown, None),
        judge.judge_first_level(sampler, own.best, plain.best),
        judge.judge_levels("4: F at levels 2 and 3 is better", sampler, own.best, plain.best, ("f2", "f3")),
    ]


def notes(quick: bool) -> list[str]:
    """What to know."""
    found = [
        "The paper has 50 runs of 15,000 sweeps a setting and looks at the last tree; here scores are means over "
        "draws, 10 chains of 1,250 sweeps a setting (case trees and F-measures: 5,000). Differences are clear from "
        "2.26 standard errors over chains on.",
        "Trees without siblings have neither AID nor AOD and are left out, as in the paper.",
        "Matched: differences from draws of BHMC with as many nodes that have siblings, at alpha x .01 to x 2.",
        "The printed sampler does not leave its law invariant where C > 0; its numbers say nothing about the model.",
    ]
    return [*found, "Quick: 3 short chains, far too few for verdicts."] if quick else found

"""Lee and Choi on their toy data: 1,300 points in the plane, 13 groups, both processes, beside the authors' logs."""

from typing import Any

from papers.nrm_cases import TOY_LOGS, toy
from papers.nrm_claims import judge_law
from papers.nrm_runs import OURS, PRINTED
from papers.nrm_study import Plan, Study, claims, figures, notes, study, tables
from papers.outcome import Claim, Outcome, Tell

FULL, QUICK = Plan(("DP", "NGGP"), 6, 3.0), Plan(("DP", "NGGP"), 2, 0.5)
N_GROUPS = 13


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All samplers under both processes."""
    plan, case = QUICK if quick else FULL, toy(data_home)
    found = study(case, plan, seed, tell)
    return Outcome(
        "Tree-guided samplers of mixtures on 1,300 points (Lee and Choi)",
        tables(case, found, TOY_LOGS),
        [*claims(found), *law_claims(found)],
        [*notes(plan), "Columns logs_*: the authors' published logs, five runs of 10 s each."],
        figures(case, found),
    )


def law_claims(found: Study) -> list[Claim]:
    """The law of K, which the authors' logs show to be wrong."""
    runs = found["DP"]
    return [
        judge_law("DP", PRINTED, runs, "logs: K = 13 in .90 of the sweeps (here: .75 to 1)", N_GROUPS, 0.75, 1.0),
        judge_law("DP", OURS, runs, "ours: K = 13 with probability .54 (here: .45 to .63)", N_GROUPS, 0.45, 0.63),
    ]

"""Lee and Choi on their larger synthetic data: 10,000 points in six dimensions, 119 groups of very different sizes."""

from typing import Any

from papers.nrm_cases import ten_thousand
from papers.nrm_study import Plan, claims, figures, notes, study, tables
from papers.outcome import Outcome, Tell

FULL, QUICK = Plan(("NGGP",), 5, 6.0), Plan(("NGGP",), 1, 2.0)
N_ROWS, QUICK_ROWS = 10_000, 1_000


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All samplers under the normalised generalised gamma process."""
    plan, case = QUICK if quick else FULL, ten_thousand(data_home, QUICK_ROWS if quick else N_ROWS, seed)
    found = study(case, plan, seed, tell)
    about = [f"Quick: {QUICK_ROWS} of the rows, one run: nothing can be decided."] if quick else []
    return Outcome(
        "Tree-guided samplers of mixtures on 10,000 points (Lee and Choi)",
        tables(case, found, {}),
        claims(found),
        [*notes(plan), *about],
        figures(case, found),
    )

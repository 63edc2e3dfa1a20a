"""Lee and Choi on papers of NIPS: counts of words in 1,500 documents."""

from typing import Any

from papers.nrm_cases import papers
from papers.nrm_study import Plan, claims, figures, notes, study, tables
from papers.outcome import Outcome, Tell

FULL, QUICK = Plan(("NGGP",), 5, 20.0), Plan(("NGGP",), 1, 2.0)
SIZE, QUICK_SIZE = (1_500, 7_605), (150, 500)
"""Documents and words; a quick run takes the most frequent words."""


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All samplers under the normalised generalised gamma process."""
    plan, case = QUICK if quick else FULL, papers(data_home, *(QUICK_SIZE if quick else SIZE), seed)
    found = study(case, plan, seed, tell)
    about = ["The paper has 12,419 words, here are the 7,605 seen more than 20 times: log joints are not comparable."]
    if quick:
        about.append(f"Quick: {QUICK_SIZE[0]} documents, {QUICK_SIZE[1]} words, one run: nothing can be decided.")
    return Outcome(
        "Tree-guided samplers of mixtures on 1,500 papers (Lee and Choi)",
        tables(case, found, {}),
        claims(found),
        [*notes(plan), *about],
        figures(case, found),
    )

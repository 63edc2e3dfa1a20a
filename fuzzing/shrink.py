"""A shorter input with the same fault: pieces are cut out as long as the fault stays."""

from fuzzing.cases import Case
from fuzzing.judge import FAULT, Outcome
from fuzzing.runner import Runner

MOST_TRIES = 150


def shrunk(runner: Runner, case: Case, fault: Outcome) -> Case:
    """The case with ever smaller pieces cut out; left as it is where each try would take long."""
    if fault.seconds > 1.0:
        return case
    n_tries, size = 0, len(case.content) // 2
    while size >= 1 and n_tries < MOST_TRIES:
        start = 0
        while start < len(case.content) and n_tries < MOST_TRIES:
            shorter = case._replace(content=case.content[:start] + case.content[start + size :])
            n_tries += 1
            outcome = runner.judge(shorter)
            if outcome.verdict == FAULT and outcome.reason == fault.reason:
                case = shorter
            else:
                start += size
        size //= 2
    return case

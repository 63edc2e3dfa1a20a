"""The process that runs inputs: takes kept cases from its pipe, gives outcomes back; it may die or be ended."""

import contextlib
import resource
from multiprocessing.connection import Connection

from fuzzing.cases import Case, case_from_bytes
from fuzzing.judge import ACCEPTED, TOO_LONG, TOO_MUCH, memory, run_case
from fuzzing.targets import find_target

MOST_ADDRESSES = 16 * 2**30
"""Address space, so that an input that asks for all memory is refused it before the machine suffers."""


def serve(pipe: Connection, names: tuple[str, ...]) -> None:
    """Warm up on the seeds of some targets, then run cases until the pipe closes."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    for name in names:
        warm_up(name)
    pipe.send(memory("VmRSS"))
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            case = case_from_bytes(pipe.recv_bytes())
            pipe.send(run_case(find_target(case.target), case))


def warm_up(name: str) -> None:
    """Run the seeds of a target, which compiles and imports what they need; a valid input has to be accepted."""
    target = find_target(name)
    for kind in target.kinds:
        for content in target.seeds(kind):
            outcome = run_case(target, Case(name, kind, content))
            if outcome.verdict != ACCEPTED and outcome.reason not in (TOO_LONG, TOO_MUCH):  # it may have compiled
                raise RuntimeError(f"a seed of {name}, kind {kind}: {outcome.reason}\n{outcome.detail}")

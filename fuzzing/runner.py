"""Runs inputs one after the other in a process of their own, watched from outside; counts what became of them."""

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from fuzzing import worker
from fuzzing.cases import Case
from fuzzing.judge import ACCEPTED, FAULT, MOST_SECONDS, TOO_LONG, TOO_MUCH, Outcome, memory, most_megabytes

LOOK_SECONDS = 0.05
MOST_CASES, MOST_BYTES = 32, 30_000
"""Cases handed over at once, few enough for the buffer of a pipe."""
MOST_SILENCE = 120.0
"""Seconds on the clock after which a process that takes no CPU time is taken for hung."""
TIMES_ENDED = 12
"""A process is ended only far beyond a limit, as the first use of a kernel compiles it; then it runs once more."""


class Tally(NamedTuple):
    """Counts of a target."""

    verdicts: Counter[str]
    reasons: Counter[str]
    """Refusals and faults by the error's name, or by what else became of the process."""
    faults: list[tuple[Case, Outcome]]


def tally(results: Iterable[tuple[Case, Outcome]]) -> Tally:
    """Count outcomes; of each different fault the shortest case is kept."""
    found = Tally(Counter(), Counter(), [])
    shortest: dict[tuple[str, str], tuple[Case, Outcome]] = {}
    for case, outcome in results:
        found.verdicts[outcome.verdict] += 1
        if outcome.verdict != ACCEPTED:
            found.reasons[outcome.reason] += 1
        if outcome.verdict == FAULT:
            before = shortest.setdefault((case.kind, outcome.reason), (case, outcome))
            if len(case.content) < len(before[0].content):
                shortest[(case.kind, outcome.reason)] = (case, outcome)
    found.faults.extend(shortest.values())
    return found


class Runner:
    """A worker that is replaced when it dies or has to be ended."""

    def __init__(self, targets: tuple[str, ...], times_ended: float = TIMES_ENDED) -> None:
        self.targets, self.times_ended = targets, times_ended
        self._process: BaseProcess | None = None
        self._seconds_of_others = 0.0
        self._pipe: Connection

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Each case with what became of it; they are handed over in bunches, as processes wait for each other long."""
        bunch: list[Case] = []
        for case in cases:
            bunch.append(case)
            if len(bunch) == MOST_CASES or sum(len(held.content) for held in bunch) > MOST_BYTES:
                yield from self._judge_all(bunch)
                bunch = []
        yield from self._judge_all(bunch)

    def _judge_all(self, cases: list[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Outcomes in order; where the process is lost those behind the one it ran go to the next."""
        while cases:
            outcomes = list(self._outcomes(cases))
            for case, outcome in zip(cases, outcomes, strict=False):
                yield case, self._again(case, outcome)
            cases = cases[len(outcomes) :]

    def cpu_seconds(self) -> float:
        """CPU time of all processes so far."""
        return self._seconds_of_others + (0.0 if self._process is None else cpu_seconds(self._process))

    def judge(self, case: Case) -> Outcome:
        """What becomes of one case."""
        return self._again(case, self._one(case))

    def _again(self, case: Case, outcome: Outcome) -> Outcome:
        """The outcome; a case beyond the limits that came back runs once more, its kernels being compiled now."""
        return self._one(case) if outcome.reason in (TOO_LONG, TOO_MUCH) else outcome

    def _one(self, case: Case) -> Outcome:
        (outcome,) = self._outcomes([case])
        return outcome

    def _outcomes(self, cases: list[Case]) -> Iterator[Outcome]:
        """Outcomes up to and with the first case that costs the process."""
        if self._process is None:
            self._start()
        for case in cases:
            self._pipe.send_bytes(case.to_bytes())
        for case in cases:
            yield self._await(case)
            if self._process is None:
                return

    def _await(self, case: Case) -> Outcome:
        process = self._process
        assert process is not None
        base, used = memory("VmRSS", process.pid or 0), cpu_seconds(process)
        silent_since, last = time.monotonic(), used
        while not self._pipe.poll(LOOK_SECONDS):
            now, megabytes = cpu_seconds(process), memory("VmRSS", process.pid or 0) - base
            if now > last:
                silent_since, last = time.monotonic(), now
            if not process.is_alive():
                return self._lost(f"the process died with code {process.exitcode}", now - used, megabytes)
            is_silent = time.monotonic() - silent_since > MOST_SILENCE
            if now - used > self.times_ended * MOST_SECONDS or is_silent:
                return self._lost(f"{TOO_LONG}, ended", now - used, megabytes)
            if megabytes > self.times_ended * most_megabytes(len(case.content)):
                return self._lost(f"{TOO_MUCH}, ended", now - used, megabytes)
        try:
            outcome: Outcome = self._pipe.recv()
        except EOFError:
            process.join()
            return self._lost(f"the process died with code {process.exitcode}", 0.0, 0.0)
        return outcome

    def _lost(self, reason: str, seconds: float, megabytes: float) -> Outcome:
        self._end()
        return Outcome(FAULT, reason, seconds, megabytes)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=worker.serve, args=(theirs, self.targets), daemon=False)
        self._process.start()
        theirs.close()
        try:
            self._pipe.recv()
        except EOFError as error:
            raise RuntimeError("the worker could not start; its words stand above.") from error

    def _end(self) -> None:
        if self._process is not None:
            self._seconds_of_others += cpu_seconds(self._process)
            self._pipe.close()
            self._process.join(0.5)
            self._process.kill()
            self._process.join()
            self._process = None


def cpu_seconds(process: BaseProcess) -> float:
    """CPU time of a process and of the children it has waited for; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11:15]) / 100.0

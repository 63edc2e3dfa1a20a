"""What may become of an input: accepted, refused by a documented error, or a fault."""

import contextlib
import io
import os
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bayesgrove.core.errors import BayesgroveError
from fuzzing.cases import Case, Target

MOST_SECONDS = 5.0
"""CPU time of the process that runs an input; the clock says little on a machine that does other work."""
MOST_TIMES_INPUT, MOST_MEGABYTES = 10, 200
"""Memory above what was in use before: so many times the input and so many megabytes more."""
ACCEPTED, REFUSED, FAULT = "accepted", "refused", "fault"
TOO_LONG, TOO_MUCH = f"over {MOST_SECONDS:g} s", "too much memory"


class Refusal(Exception):
    """A refusal that is no exception of the library: an exit code of the command line."""


class Outcome(NamedTuple):
    """What became of an input.

    Attributes
    ----------
    verdict
        ACCEPTED, REFUSED or FAULT.
    reason
        The error's name; of a fault also where it was raised.
    """

    verdict: str
    reason: str
    seconds: float
    megabytes: float
    detail: str = ""


def run_case(target: Target, case: Case) -> Outcome:
    """Run an input in an empty folder and judge what became of it."""
    before = memory("VmRSS")
    forget_peak()
    start = time.process_time()
    with _set_apart() as folder:
        try:
            target.attempt(case, folder)
            found = (ACCEPTED, "", "")
        except Refusal as refusal:
            found = (REFUSED, str(refusal), "")
        except BayesgroveError as error:
            found = (REFUSED, type(error).__name__, "")
        except BaseException as error:
            found = (REFUSED, f"{type(error).__name__} of scikit-learn", "") if is_validation(error) else fault(error)
    seconds, megabytes = time.process_time() - start, max(memory("VmHWM") - before, 0.0)
    outcome = Outcome(found[0], found[1], seconds, megabytes, found[2])
    return beyond_limits(outcome, len(case.content))


@contextlib.contextmanager
def _set_apart() -> Iterator[Path]:
    """An empty folder as the current one, and no words on the terminal."""
    home = os.getcwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(home)


def is_validation(error: BaseException) -> bool:
    """Whether scikit-learn's own check of arrays refused the input, as its users know it."""
    if type(error) not in (ValueError, TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return Path(last).parts[-3:-1] == ("sklearn", "utils")


def fault(error: BaseException) -> tuple[str, str, str]:
    """An undocumented exception: its kind and the last line of the library that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "bayesgrove" in Path(frame.filename).parts] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return FAULT, f"{type(error).__name__} at {place}", "".join(traceback.format_exception(error))


def beyond_limits(outcome: Outcome, n_bytes: int) -> Outcome:
    """The outcome, or a fault where it took too much time or memory."""
    if outcome.verdict == FAULT:
        return outcome
    if outcome.seconds > MOST_SECONDS:
        return outcome._replace(verdict=FAULT, reason=TOO_LONG)
    if outcome.megabytes > most_megabytes(n_bytes):
        return outcome._replace(verdict=FAULT, reason=TOO_MUCH)
    return outcome


def most_megabytes(n_bytes: int) -> float:
    """Memory that an input of this size may take."""
    return MOST_TIMES_INPUT * n_bytes / 2**20 + MOST_MEGABYTES


def memory(field: str, process: int | str = "self") -> float:
    """Megabytes of a process by a name of the system (VmRSS: now, VmHWM: the peak); 0 where it does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")

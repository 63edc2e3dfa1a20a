"""How a command ends: an exit code, and one line on stderr where something is wrong."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from bayesgrove.core.errors import BayesgroveError, InvalidInputError, MemoryLimitError
from bayesgrove.core.interrupts import CtrlC, hearing_ctrl_c

USER_ERROR, OUR_ERROR, INTERRUPTED = 2, 1, 130
INTERRUPTION = "interrupted before the end."

# typer carries click inside or depends on it, as its version will have it; both share this name.
_CLICK_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def run_app(app: typer.Typer, words: Sequence[str], *, usage: str, prefix: str) -> int:
    """Run a command line; gives the exit code: 0, 2 for the user's fault, 1 for ours, 130 on Ctrl+C.

    Parameters
    ----------
    app : typer.Typer
    words : sequence of str
    usage : str
        What help calls the program.
    prefix : str
        What lines on stderr begin with.
    """
    with hearing_ctrl_c() as pressed:
        code, problem = _run(app, list(words), usage, pressed)
    if problem is not None:
        print(f"{prefix}: {' '.join(problem.split())}", file=sys.stderr)
    return code


def _run(app: typer.Typer, words: list[str], usage: str, pressed: CtrlC) -> tuple[int, str | None]:
    try:
        code = int(app(args=words, prog_name=usage, standalone_mode=False) or 0)
        # Ctrl+C comes as this code or as an exception, as typer's version will have it.
        return code, INTERRUPTION if code == INTERRUPTED else None
    except _CLICK_ERROR as error:
        return USER_ERROR, error.format_message()
    except (InvalidInputError, MemoryLimitError) as error:
        return USER_ERROR, str(error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED, INTERRUPTION
    except BayesgroveError as error:
        is_stop = type(error).__name__ == "InterruptedRunError"
        return INTERRUPTED if is_stop else OUR_ERROR, str(error)
    except Exception as error:
        if pressed.is_set:  # the compiler makes another error of a Ctrl+C that comes while it calls back
            return INTERRUPTED, INTERRUPTION
        if os.environ.get("BAYESGROVE_TRACEBACK"):
            raise
        what = f"internal error, please report it: {type(error).__name__}: {error}"
        return OUR_ERROR, f"{what} (set BAYESGROVE_TRACEBACK=1 to see where)"

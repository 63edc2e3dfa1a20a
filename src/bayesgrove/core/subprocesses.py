"""Work in another process while this one goes on: how kernels are compiled side by side, through the disk cache."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from bayesgrove.core.additions import ADDITIONS
from bayesgrove.core.compilation import COMPILATION
from bayesgrove.core.jit import compile_for, is_compiled

Call = tuple[Any, tuple[Any, ...]]
"""A kernel, and arguments of the types it is called with; their content means nothing."""
Calls = Callable[..., list[Call]]

logger = logging.getLogger("bayesgrove")


@contextlib.contextmanager
def working_in_subprocess(work: Callable[..., None], *arguments: Any) -> Iterator[None]:
    """Do some work in a process of its own while the block runs, and wait for it.

    It only saves time: whatever goes wrong there, this process can do the work when it comes to it. The process is not
    one of joblib's workers, which others may be using. It would not know what is registered beside the package: then
    all work is left to this one.
    """
    if ADDITIONS.names:
        yield
        return
    executor = None
    try:
        from joblib.externals.loky import ProcessPoolExecutor

        executor = ProcessPoolExecutor(max_workers=1)
        made = executor.submit(work, *arguments)
    except Exception as error:  # no processes here, for instance inside another worker
        logger.debug("no process to work in: %s", error)
        yield
        return
    COMPILATION.begin()
    try:
        yield
        made.result()
    except Exception as error:
        if not made.done() or made.exception() is not error:
            raise
        logger.debug("work in another process failed: %s", error)
    finally:
        COMPILATION.end()
        executor.shutdown(wait=False, kill_workers=True)


def compile_in_two(here: Calls, elsewhere: Calls, *arguments: Any, rehearse: Callable[[], None] | None = None) -> None:
    """Have the kernels of some calls compiled, unless they are: some here, the others in another process.

    `rehearse` does what cannot be had by types alone, here, while the other process is at work.
    """
    if all(is_compiled(kernel, *given) for kernel, given in (*here(*arguments), *elsewhere(*arguments))):
        return
    with working_in_subprocess(compile_calls, elsewhere, *arguments):
        compile_calls(here, *arguments)
        if rehearse is not None:
            rehearse()


def compile_calls(calls: Calls, *arguments: Any) -> None:
    """Compile the kernels of some calls."""
    for kernel, given in calls(*arguments):
        compile_for(kernel, *given)

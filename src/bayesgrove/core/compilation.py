"""Compilation that people hear of: a first fit says that kernels are compiled, goes on saying so, and how long it took.

Numba tells when it compiles a kernel and when it is done; kernels that are loaded from the disk are not told of. Ctrl+C
meanwhile may be raised inside a callback of the compiler, which swallows it: it is raised again after the kernel.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from numba.core import event

from bayesgrove.core.interrupts import hearing_ctrl_c
from bayesgrove.core.notices import SECONDS, tell

Method = TypeVar("Method", bound=Callable[..., Any])
FIRST, LAST = 1.0, 3.0
"""Seconds of compilation before anything is said, and without it before it counts as over."""
TICK = 0.1


class Compilation(event.Listener):
    """What is being compiled in this process, or by another one for it, and for whom.

    Attributes
    ----------
    n_active, n_done : int
        Kernels being compiled, callees among them, and those that were.
    what : str
        The model that is fitted; nothing is told where there is none.
    """

    def __init__(self) -> None:
        self.n_active = self.n_done = 0
        self.what = ""
        self.is_interrupted: Callable[[], bool] = lambda: False
        self._reporter: threading.Thread | None = None
        self._is_over = threading.Event()

    def on_start(self, event: Any) -> None:
        """A kernel is about to be compiled."""
        self.begin()

    def on_end(self, event: Any) -> None:
        """A kernel is compiled, or the attempt has failed."""
        self.n_done += 1
        self.end()
        if self.is_interrupted() and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    def begin(self) -> None:
        """Something is compiled from now on."""
        self.n_active += 1
        if self.what and self._reporter is None:
            self._is_over.clear()
            self._reporter = threading.Thread(target=self._report, name="bayesgrove-compilation", daemon=True)
            self._reporter.start()

    def end(self) -> None:
        """It is done."""
        self.n_active -= 1

    def stop(self) -> None:
        """The fit is over: so is what is told of it."""
        self.what = ""
        self._is_over.set()
        if self._reporter is not None:
            self._reporter.join()

    def _report(self) -> None:
        start = busy = time.monotonic()
        what, n_before, told = self.what, self.n_done, 0.0
        while not self._is_over.wait(TICK):
            now = time.monotonic()
            busy = now if self.n_active else busy
            if now - busy >= LAST:
                break
            if now - start >= FIRST and not told:
                tell(f"compiling {what} for this kind of data, which may take a minute; later fits need not.")
            elif now - told < SECONDS or not told:
                continue
            else:
                tell(f"compiling {what}: {self.n_done - n_before} kernels so far, {now - start:.0f} s")
            told = now
        self._reporter = None
        if told:
            tell(f"compiled {self.n_done - n_before} kernels of {what} in {busy - start:.0f} s")


COMPILATION = Compilation()
event.register("numba:compile", COMPILATION)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def telling_of_compilation(what: str) -> Iterator[None]:
    """While the block runs, say what is compiled for `what`, and let Ctrl+C end it; blocks within others do nothing."""
    if COMPILATION.what or threading.current_thread() is not threading.main_thread():
        yield
        return
    with hearing_ctrl_c() as pressed:
        COMPILATION.what, COMPILATION.is_interrupted = what, lambda: pressed.is_set
        try:
            yield
        except Exception as error:
            if pressed.is_set:  # the compiler makes another error of it
                raise KeyboardInterrupt from error
            raise
        finally:
            COMPILATION.is_interrupted = lambda: False
            COMPILATION.stop()


def tells_of_compilation(method: Method) -> Method:
    """A method of an estimator that says what it compiles."""

    @functools.wraps(method)
    def telling(self: Any, *arguments: Any, **named: Any) -> Any:
        with telling_of_compilation(type(self).__name__):
            return method(self, *arguments, **named)

    return telling  # type: ignore[return-value]

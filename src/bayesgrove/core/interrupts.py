"""Ctrl+C while kernels may be compiled: whether it was pressed, whatever became of the exception."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


class CtrlC:
    """Whether Ctrl+C was pressed; the handler of its signal."""

    def __init__(self) -> None:
        self.is_set = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note it and raise KeyboardInterrupt."""
        self.is_set = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def hearing_ctrl_c() -> Iterator[CtrlC]:
    """Note a Ctrl+C and raise KeyboardInterrupt as usual.

    While kernels are compiled it may be raised inside a callback of the compiler, which cannot pass it on: Python
    writes it to stderr and goes on, and the compiler fails with an error of its own. The note tells both apart from
    our faults. Only the main thread of a process can listen; where another handler is in place, it stays.
    """
    present = signal.getsignal(signal.SIGINT)
    pressed = present if isinstance(present, CtrlC) else CtrlC()
    if threading.current_thread() is not threading.main_thread() or present is not signal.default_int_handler:
        yield pressed
        return

    def on_unraisable(problem: Any) -> None:
        if not issubclass(problem.exc_type, KeyboardInterrupt):
            before_hook(problem)

    before_hook, sys.unraisablehook = sys.unraisablehook, on_unraisable
    signal.signal(signal.SIGINT, pressed)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = before_hook

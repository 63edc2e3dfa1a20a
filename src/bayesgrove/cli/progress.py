"""Progress and log lines on stderr while a model is fitted."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bayesgrove.core.notices import StderrHandler, telling
from bayesgrove.inference.board import ChainView
from bayesgrove.inference.monitors import Monitor, default_monitor

Hooks = tuple[Callable[[int, int], None], Callable[[], None]]
"""What to call with the steps done and all steps, and when chains begin."""
WAITING = "getting ready (the first fit of a model compiles it)"


@contextlib.contextmanager
def log_to_stderr(verbose: int) -> Iterator[None]:
    """Show the package's warnings, and with `verbose` its news, as single lines."""
    logger = logging.getLogger("bayesgrove")
    handler, old_level = StderrHandler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(old_level)


class AfterWaiting(Monitor):
    """Another monitor, and until its chains begin a line that says why nothing moves yet."""

    def __init__(self, inner: Monitor, end_waiting: Callable[[], None]) -> None:
        self.seconds, self._inner, self._end_waiting = inner.seconds, inner, end_waiting

    def start(self, views: list[ChainView]) -> None:
        """The chains begin."""
        self._end_waiting()
        self._inner.start(views)

    def update(self, views: list[ChainView]) -> None:
        """What the chains are at."""
        self._inner.update(views)

    def stop(self, views: list[ChainView]) -> None:
        """The chains are over."""
        self._inner.stop(views)


@contextlib.contextmanager
def progress_of(model: Any, title: str) -> Iterator[None]:
    """A bar, or a line per chain; where stderr is no terminal, a line every ten seconds."""
    has_chains, console = hasattr(model, "run_dir"), Console(stderr=True)
    showing = _on_terminal(console, title, has_chains) if console.is_terminal else _in_lines(title)
    with showing as (update, end_waiting):
        hook = "_monitor" if has_chains else "_progress"
        setattr(model, hook, AfterWaiting(default_monitor(), end_waiting) if has_chains else update)
        try:
            yield
        finally:
            delattr(model, hook)


@contextlib.contextmanager
def _on_terminal(console: Console, title: str, has_chains: bool) -> Iterator[Hooks]:
    line = (
        (SpinnerColumn(), TextColumn("{task.description}"))
        if has_chains
        else (TextColumn("{task.description}"), BarColumn())
    )
    columns = (*line, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(WAITING if has_chains else title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total), bar.stop


@contextlib.contextmanager
def _in_lines(title: str) -> Iterator[Hooks]:
    start, shares = time.monotonic(), [""]

    def update(done: int, total: int) -> None:
        shares[0] = f", {done:,} of {total:,} steps done"

    with telling(lambda: f"{title}: {time.monotonic() - start:.0f} s{shares[0]}") as end_waiting:
        yield update, end_waiting

"""Progress and log lines on stderr while a model is fitted."""

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bayesgrove.inference.board import ChainView
from bayesgrove.inference.monitors import Monitor, default_monitor

WAITING = "getting ready (the first fit of a model compiles it)"


@contextlib.contextmanager
def log_to_stderr(verbose: int) -> Iterator[None]:
    """Show the package's warnings, and with `verbose` its news, as single lines."""
    logger = logging.getLogger("bayesgrove")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("bayesgrove: %(message)s"))
    old_level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(old_level)


class AfterWaiting(Monitor):
    """Another monitor, and until its chains begin a line that says why nothing moves yet."""

    def __init__(self, inner: Monitor, waiting: Progress) -> None:
        self.seconds, self._inner, self._waiting = inner.seconds, inner, waiting

    def start(self, views: list[ChainView]) -> None:
        """The chains begin."""
        self._waiting.stop()
        self._inner.start(views)

    def update(self, views: list[ChainView]) -> None:
        """What the chains are at."""
        self._inner.update(views)

    def stop(self, views: list[ChainView]) -> None:
        """The chains are over."""
        self._inner.stop(views)


@contextlib.contextmanager
def progress_of(model: Any, title: str) -> Iterator[None]:
    """A bar fed by the model's `_progress(done, total)` hook, or a line per chain; only where stderr is a terminal."""
    console = Console(stderr=True)
    if hasattr(model, "run_dir"):
        line = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*line, console=console, transient=True, disable=not console.is_terminal) as bar:
            bar.add_task(WAITING, total=None)
            model._monitor = AfterWaiting(default_monitor(), bar)
            try:
                yield
            finally:
                del model._monitor
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        model._progress = lambda done, total: bar.update(task, completed=done, total=total)
        try:
            yield
        finally:
            del model._progress

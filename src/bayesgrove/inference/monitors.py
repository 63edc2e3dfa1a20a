"""Who watches a run: progress on a terminal or in the log, and Ctrl+C."""

import contextlib
import logging
import math
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from bayesgrove.core.notices import SECONDS, tell
from bayesgrove.inference.board import DRAWING, PHASES, TUNING, WAITING, Board, ChainView

logger = logging.getLogger("bayesgrove")
COLUMNS = ("phase", "sweep", "draws", "draws/s", "log joint", "clusters", "left")


class Monitor:
    """Does nothing. Others override what they need; `update` comes from a thread of its own."""

    seconds = 0.5
    """Between two updates."""

    def start(self, views: list[ChainView]) -> None:
        """The run begins."""

    def update(self, views: list[ChainView]) -> None:
        """What the chains are at, every so many seconds, and once more at the end."""

    def stop(self, views: list[ChainView]) -> None:
        """The run is over, well or not."""


class PlainMonitor(Monitor):
    """One line for each running chain, now and then."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._last: list[ChainView] = []

    def update(self, views: list[ChainView]) -> None:
        """Tell of chains that have moved since the last line."""
        before = self._last or [ChainView()] * len(views)
        for chain, (view, old) in enumerate(zip(views, before, strict=True)):
            if (view.sweep, view.phase) != (old.sweep, old.phase):
                tell(f"chain {chain}: " + ", ".join(f"{name} {text}" for name, text in describe(view).items() if text))
        self._last = views


class RichMonitor(Monitor):
    """A table on stderr that is drawn again and again, one line per chain."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(console=console or Console(stderr=True), auto_refresh=False)

    def start(self, views: list[ChainView]) -> None:
        """Draw it for the first time."""
        self._live.start()
        self.update(views)

    def update(self, views: list[ChainView]) -> None:
        """Draw it again."""
        self._live.update(_table(views), refresh=True)

    def stop(self, views: list[ChainView]) -> None:
        """Leave the last one standing."""
        self._live.stop()


def default_monitor() -> Monitor:
    """A table where stderr is a terminal, else lines."""
    return RichMonitor() if sys.stderr is not None and sys.stderr.isatty() else PlainMonitor()


def describe(view: ChainView) -> dict[str, str]:
    """What people want to know of a chain, as short texts by name."""
    running = view.phase in (TUNING, DRAWING)
    if view.phase == WAITING:
        return dict.fromkeys(COLUMNS, "") | {"phase": PHASES[view.phase]}
    return {
        "phase": PHASES[view.phase],
        "sweep": f"{view.sweep:,}/{view.n_sweeps:,}",
        "draws": f"{view.n_draws:,}",
        "draws/s": f"{view.draws_per_second:,.4g}",
        "log joint": "" if math.isnan(view.log_joint) else f"{view.log_joint:,.6g}",
        "clusters": "" if math.isnan(view.n_clusters) else f"{view.n_clusters:g}",
        "left": _duration(view.seconds_left) if running else "",
    }


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _table(views: list[ChainView]) -> Any:
    from rich.table import Table

    table = Table("chain", *describe(ChainView()), box=None)
    for chain, view in enumerate(views):
        table.add_row(str(chain), *describe(view).values())
    return table


@contextlib.contextmanager
def watching(monitor: Monitor | None, board: Board) -> Iterator[None]:
    """Keep a monitor, if any, informed while the block runs; what goes wrong in it is logged and harms no chain."""
    if monitor is None:
        yield
        return
    over = threading.Event()

    def poll() -> None:
        with _harmless():
            while not over.wait(monitor.seconds):
                monitor.update(board.views())

    with _harmless():
        monitor.start(board.views())
    thread = threading.Thread(target=poll, name="bayesgrove-monitor", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with _harmless():
            monitor.update(board.views())
            monitor.stop(board.views())


@contextlib.contextmanager
def _harmless() -> Iterator[None]:
    try:
        yield
    except Exception:
        logger.exception("the monitor of the run failed; the run goes on without it")


class Interrupted:
    """Whether Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.is_set = False


@contextlib.contextmanager
def heeding_ctrl_c(board: Board) -> Iterator[Interrupted]:
    """The first Ctrl+C asks chains to stop after their sweep, a second one interrupts at once.

    Only the main thread of a process can listen; elsewhere Ctrl+C does what it does.
    """
    interrupted = Interrupted()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        board.stop()
        if interrupted.is_set:
            raise KeyboardInterrupt
        interrupted.is_set = True
        logger.warning("Ctrl+C: chains finish their sweep and save; press it again to stop at once")

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)

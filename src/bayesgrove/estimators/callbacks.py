"""scikit-learn's callbacks, where it has them (1.9 and later), for estimators that run chains.

The task "fit" has a subtask for each chain, and a chain one for each block of its sweeps. Callbacks are called from the
thread that watches the chains: they change no draw, an error in one is logged and harms no chain, and what they return
does not stop the chains (`time_limit` does).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from bayesgrove.inference.board import FAILED, FINISHED, STOPPED, WAITING, ChainView
from bayesgrove.inference.monitors import Monitor

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method itself."""
        return method


MOST_BLOCKS = 100
"""Subtasks of one chain at most."""


class CallbackMonitor(Monitor):
    """Tells an estimator's callbacks what its chains are at."""

    def __init__(self, estimator: Any, n_chains: int) -> None:
        self.estimator = estimator
        self.context = estimator._init_callback_context(max_subtasks=n_chains, sequential_subtasks=False)
        self._chains: dict[int, Any] = {}
        self._n_blocks: dict[int, int] = {}

    def start(self, views: list[ChainView]) -> None:
        """The task begins."""
        self.context.call_on_fit_task_begin(estimator=self.estimator)

    def update(self, views: list[ChainView]) -> None:
        """Tell of chains that began, blocks that were made since the last time, chains that ended."""
        for chain, view in enumerate(views):
            if view.phase == WAITING or view.n_sweeps == 0 or self._n_blocks.get(chain) == -1:
                continue
            self._tell_blocks(chain, view)
            if view.phase in (FINISHED, STOPPED, FAILED):
                self._end(chain)

    def stop(self, views: list[ChainView]) -> None:
        """The task ends, and with it what was left open."""
        for chain, told in self._n_blocks.items():
            if told >= 0:
                self._end(chain)
        self.context.call_on_fit_task_end(estimator=self.estimator)

    def _tell_blocks(self, chain: int, view: ChainView) -> None:
        n_blocks = min(MOST_BLOCKS, view.n_sweeps)
        if chain not in self._chains:
            self._chains[chain] = self.context.subcontext(task_name="chain", task_id=chain, max_subtasks=n_blocks)
            self._chains[chain].call_on_fit_task_begin(estimator=self.estimator)
            self._n_blocks[chain] = 0
        n_made = math.floor(min(1.0, view.sweep / view.n_sweeps) * n_blocks)
        for _ in range(self._n_blocks[chain], n_made):
            block = self._chains[chain].subcontext(task_name="sweeps")
            block.call_on_fit_task_begin(estimator=self.estimator)
            block.call_on_fit_task_end(estimator=self.estimator)
        self._n_blocks[chain] = max(n_made, self._n_blocks[chain])

    def _end(self, chain: int) -> None:
        self._chains[chain].call_on_fit_task_end(estimator=self.estimator)
        self._n_blocks[chain] = -1


class SeveralMonitors(Monitor):
    """Keeps several monitors informed."""

    def __init__(self, monitors: Sequence[Monitor]) -> None:
        self.monitors = monitors
        self.seconds = min(monitor.seconds for monitor in monitors)

    def start(self, views: list[ChainView]) -> None:
        """The run begins."""
        for monitor in self.monitors:
            monitor.start(views)

    def update(self, views: list[ChainView]) -> None:
        """What the chains are at."""
        for monitor in self.monitors:
            monitor.update(views)

    def stop(self, views: list[ChainView]) -> None:
        """The run is over."""
        for monitor in self.monitors:
            monitor.stop(views)


def add_callbacks(estimator: Any, n_chains: int, monitor: Monitor | None) -> Monitor | None:
    """A monitor that also tells the estimator's callbacks, if it has any."""
    if not getattr(estimator, "_skl_callbacks", None) and not hasattr(estimator, "_parent_callback_ctx"):
        return monitor
    told = CallbackMonitor(estimator, n_chains)
    return told if monitor is None else SeveralMonitors((told, monitor))

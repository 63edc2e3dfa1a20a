"""Work on a Dask cluster: what all tasks need travels once, and a task whose workers die is done again."""

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bayesgrove.core.errors import RunStoppedError

BACKEND = "DaskDistributedBackend"
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError")
"""What Dask raises when the workers of a task are gone; by name, for this floor does not import it."""
MOST_LOSSES = 10
"""Dask gives a task up after four workers that died with it; here it is given up after this many times that."""
POLL_SECONDS = 0.05


def active_client() -> Any | None:
    """The client of the cluster that `joblib.parallel_config(backend="dask")` chose, or None."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == BACKEND else None


def map_on_cluster(
    client: Any, function: Callable[..., Any], shared: Any, calls: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """`function(shared, *call)` of each call, in order; as `as_done_on_cluster`."""
    found = dict(as_done_on_cluster(client, function, shared, calls))
    return [found[number] for number in range(len(calls))]


def as_done_on_cluster(
    client: Any, function: Callable[..., Any], shared: Any, calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """The number of each call with `function(shared, *call)`, as they are done; `shared` is sent to the cluster once.

    Calls must give the same, or go on, when made again: that is what happens to those whose worker dies.
    """
    # A task, not scattered data: what a dead worker held is then made again from what the scheduler has.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        sent = client.submit(itself, shared, pure=False)

    def submit(number: int) -> Any:
        return client.submit(function, sent, *calls[number], pure=False)

    running = {number: submit(number) for number in range(len(calls))}
    n_losses = [0] * len(calls)
    while running:
        for number in [number for number, future in running.items() if future.done()]:
            future = running.pop(number)
            try:
                result = future.result()
            except Exception as error:
                if type(error).__name__ not in LOST:
                    raise
                n_losses[number] += 1
                refuse_deadly(number, n_losses[number], error)
                running[number] = submit(number)
            else:
                yield number, result
        time.sleep(POLL_SECONDS)


def itself(shared: Any) -> Any:
    """What is sent, as the result of a task."""
    return shared


def refuse_deadly(number: int, n_losses: int, error: Exception) -> None:
    """Raise where a task has lost its workers too often for chance."""
    logging.getLogger("bayesgrove").warning("the workers of task %d died; it is done again", number)
    if n_losses > MOST_LOSSES:
        raise RunStoppedError(
            f"the workers of task {number} died {n_losses} times over. Look at their logs: they may have too little "
            "memory. What was written to a folder is safe: resume=True continues from there.",
            task=number,
        ) from error

"""Chains on a Dask cluster: the sampler travels once, and a chain whose workers die is run again."""

import logging
import time
import warnings
from collections.abc import Iterator
from typing import Any

from bayesgrove.core.errors import RunStoppedError
from bayesgrove.inference.board import Board
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.worker import Ending, Task, run_chain

BACKEND = "DaskDistributedBackend"
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError")
"""What Dask raises when the workers of a task are gone; by name, for this floor does not import it."""
MOST_LOSSES = 10
"""Dask gives a task up after four workers that died with it; a chain is given up after this many times that."""
POLL_SECONDS = 0.05


def active_client() -> Any | None:
    """The client of the cluster that `joblib.parallel_config(backend="dask")` chose, or None."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == BACKEND else None


def run_on_cluster(
    client: Any, sampler: Sampler, schedule: Schedule, tasks: list[Task], board: Board
) -> Iterator[Ending]:
    """Endings of all chains, in their order; each chain is one task of the cluster."""
    # A task, not scattered data: what a dead worker held is then made again from what the scheduler has.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        shared = client.submit(itself, sampler, pure=False)
    endings: dict[int, Ending] = {}
    running = {task.chain: submit(client, shared, schedule, task, board) for task in tasks}
    losses = dict.fromkeys(running, 0)
    while running:
        for task in [task for task in tasks if task.chain in running and running[task.chain].done()]:
            future = running.pop(task.chain)
            try:
                endings[task.chain] = future.result()
            except Exception as error:
                if type(error).__name__ not in LOST:
                    raise
                losses[task.chain] += 1
                refuse_deadly(task.chain, losses[task.chain], error)
                running[task.chain] = submit(client, shared, schedule, task, board)
        time.sleep(POLL_SECONDS)
    return (endings[task.chain] for task in tasks)


def itself(sampler: Sampler) -> Sampler:
    """What is sent, as the result of a task."""
    return sampler


def submit(client: Any, shared: Any, schedule: Schedule, task: Task, board: Board) -> Any:
    """The future of a chain's ending."""
    return client.submit(run_chain, shared, schedule, task, board, pure=False)


def refuse_deadly(chain: int, n_losses: int, error: Exception) -> None:
    """Raise where a chain has lost its workers too often for chance."""
    logging.getLogger("bayesgrove").warning("the workers of chain %d died; it is run again", chain)
    if n_losses > MOST_LOSSES:
        raise RunStoppedError(
            f"the workers of chain {chain} died {n_losses} times over. Look at their logs: they may have too little "
            "memory. With run_dir, what was drawn is in the folder, and resume=True goes on from there.",
            chain=chain,
        ) from error

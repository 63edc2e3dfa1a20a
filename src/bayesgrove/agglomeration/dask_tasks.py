"""Calls on a Dask cluster, for work on rows that stand there in parts."""

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

LOST = "KilledWorker"
"""What Dask raises, after four workers that died with a task; by name, for this floor does not import it."""
MOST_LOSSES = 10
"""So many times a task is handed out again after that."""


def submit(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The future of a call.

    No call is tied to a worker, not even loosely: where that one is gone while all others are starting, Dask 2026.8
    never takes the call up again.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(function, *arguments, pure=False)


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The results of calls, straight from the workers unless the client was told to ask the scheduler for them.

    By way of the scheduler, as Dask does if nothing is said, all that comes back is copied once more. What a dead
    worker held is made again by Dask; calls it gives up because too many died are made again here.
    """
    n_losses, found = 0, None
    while found is None:
        try:
            found = client.gather(list(futures), direct=client.direct_to_workers is not False)
        except Exception as error:
            n_losses += 1
            if type(error).__name__ != LOST or n_losses > MOST_LOSSES:
                raise
            logging.getLogger("bayesgrove").warning("the workers of a call on rows died; it is made again")
            client.retry(list(futures))
    return list(found)

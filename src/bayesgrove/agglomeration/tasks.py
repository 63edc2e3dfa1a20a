"""Calls on a Dask cluster, for work on rows that stand there in parts."""

import itertools
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LOST = "KilledWorker"
"""What Dask raises, after four workers that died with a task; by name, for this floor does not import it."""
MOST_LOSSES = 10
"""So many times a task is handed out again after that."""


def submit(client: Any, function: Callable[..., Any], *arguments: Any, at: str | None = None) -> Any:
    """The future of a call, made by the worker of address `at` if it is there when its turn comes."""
    place = {} if at is None else {"workers": [at], "allow_other_workers": True}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(function, *arguments, pure=False, **place)


def turns(client: Any) -> Iterator[str | None]:
    """Addresses of workers in turn, for ever, each as often as it has threads; None where there is none.

    Dask itself puts work where most of its rows are, which left six parts of ten to one worker of two.
    """
    threads = client.nthreads()
    rounds = range(max(threads.values(), default=0))
    return itertools.cycle([at for done in rounds for at, n in sorted(threads.items()) if n > done] or [None])


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

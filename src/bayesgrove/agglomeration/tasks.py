"""Calls on a Dask cluster, for work on rows that stand there in parts."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any


def submit(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The future of a call."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(function, *arguments, pure=False)


def gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The results of calls, straight from the workers unless the client was told to ask the scheduler for them.

    By way of the scheduler, as Dask does if nothing is said, all that comes back is copied once more.
    """
    found: list[Any] = client.gather(list(futures), direct=client.direct_to_workers is not False)
    return found

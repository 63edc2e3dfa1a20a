"""`--cluster ADDRESS`: the commands' work on a Dask cluster."""

import contextlib
from collections.abc import Iterator

from bayesgrove.core.errors import InvalidSettingError, MissingExtraError

CONNECT_SECONDS = 10


@contextlib.contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Parallel work goes to the cluster whose scheduler has this address; without one all stays on this machine."""
    if address is None:
        yield
        return
    import joblib

    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(
            "--cluster needs dask and distributed, which are not installed (pip install 'bayesgrove[dask]')."
        ) from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidSettingError(
            f"--cluster {address}: no scheduler answers there. Give its address, such as tcp://127.0.0.1:8786.",
            address=address,
        ) from error
    with client, joblib.parallel_config(backend="dask"):
        yield

"""Mending a damaged run: what stands before the damage is kept, the damaged files are set aside, the rest is redrawn.

Chains are deterministic, so a run that goes on from a shorter log ends with the same bits.
"""

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bayesgrove.core.errors import InvalidFileError, RunStoppedError
from bayesgrove.inference.folder import NAME, read_run
from bayesgrove.inference.store import log_path, scan_log
from bayesgrove.io.atomic import replacing
from bayesgrove.io.lock import release_lock, take_lock
from bayesgrove.io.record_log import good_length, read_header

logger = logging.getLogger("bayesgrove")


def repair_run(folder: Path, n_chains: int) -> None:
    """Cut the logs of a run before their first damage; whatever loses bytes is copied to `<name>.damaged-1` first."""
    if os.path.exists(folder / NAME):
        with _mending(folder / NAME):
            read_run(folder)
    for path in (log_path(folder, chain) for chain in range(n_chains)):
        if os.path.exists(path):
            lock = take_lock(path)
            try:
                _repair_log(path)
            finally:
                release_lock(lock)


def known_seed(folder: Path) -> int:
    """The seed of a run, from its description or else from a log."""
    try:
        return int(read_run(folder)["seed"])
    except InvalidFileError:
        for path in sorted(folder.glob("chain-*.log")):
            with contextlib.suppress(InvalidFileError, KeyError, TypeError, ValueError):
                return int(read_header(path)["seed"])
        raise


def _repair_log(path: Path) -> None:
    with _mending(path):
        end = good_length(path)
        if end < path.stat().st_size:
            with open(path, "rb") as stream:
                kept = stream.read(end)
            _set_aside(path)
            with replacing(path) as stream:
                stream.write(kept)
        scan_log(path)


@contextlib.contextmanager
def _mending(path: Path) -> Iterator[None]:
    """Where the block finds a file unreadable, set it aside and take it away; files of later versions are refused."""
    try:
        yield
    except InvalidFileError as error:
        if hasattr(error, "version"):
            raise
        _set_aside(path)
        path.unlink()


def _set_aside(path: Path) -> None:
    """Copy a file to a new name beside it."""
    place = next(other for k in count(1) if not os.path.lexists(other := path.with_name(f"{path.name}.damaged-{k}")))
    try:
        shutil.copyfile(path, place)
    except OSError as error:
        raise RunStoppedError(f"cannot write {place}: {error.strerror}. Nothing was changed.", path=place) from error
    logger.warning("%s is damaged; it was copied to %s, and what is lost is drawn again", path, place.name)

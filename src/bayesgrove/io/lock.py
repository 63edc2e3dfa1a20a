"""One writer per file: a lock that the system takes back when its process dies."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from bayesgrove.core.errors import InvalidFileError


def take_lock(path: Path) -> int:
    """Descriptor of the lock file of this log, locked, with this process's number in it."""
    place = path.with_name(path.name + ".lock")
    try:
        lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InvalidFileError(f"cannot write {place}: {error.strerror}.", path=path) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        write_all(lock, b"%d\n" % os.getpid())
    except BlockingIOError as error:
        holder = os.read(lock, 20).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise InvalidFileError(
            f"{path} is being written by another run (process {holder}). Wait for it, end it, or use another folder.",
            path=path,
            holder=holder,
        ) from error
    except OSError as error:
        os.close(lock)
        raise InvalidFileError(f"cannot lock {place}: {error.strerror}.", path=path) from error
    return lock


def release_lock(lock: int) -> None:
    """Give a lock back."""
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_UN)  # closing alone is not enough while a forked child has a copy
    os.close(lock)


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock of this file."""
    try:
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        holder = os.read(lock, 20).strip()
        if not holder.isdigit() or not is_alive(int(holder)):  # asked first: trying a lock is in a new writer's way
            return False
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def is_alive(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def write_all(file: int, data: bytes) -> None:
    """Write all bytes in one go, or in as many as the system needs."""
    written = os.write(file, data)
    while written < len(data):  # a short write: the disk is nearly full, or more than 2 GiB were asked for
        more = os.write(file, memoryview(data)[written:])
        if not more:
            raise OSError(errno.EIO, "nothing could be written")
        written += more

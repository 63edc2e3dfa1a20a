"""Writing files so that a failure never costs what was there before."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bayesgrove.core.errors import InvalidFileError

OPEN_FILES = "/proc/self/fd"


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Raise when `path` cannot be written: a folder, a device, without a folder, or there to stay."""
    if os.path.isdir(path):
        raise InvalidFileError(f"{path} is a folder; give the name of a file.", path=path)
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe would be replaced
        raise InvalidFileError(f"{path} is no ordinary file; give another name.", path=path)
    if not os.path.isdir(path.parent):
        raise InvalidFileError(f"there is no folder {path.parent} to write {path.name} into.", path=path)
    if os.path.lexists(path) and not overwrite:
        raise InvalidFileError(f"{path} exists already; choose another name or allow overwriting.", path=path)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` when the block ends well, and vanishes when it fails."""
    target = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    refuse_existing(target, overwrite)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with os.fdopen(open_new(temporary), "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            give_name(stream.fileno(), temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise InvalidFileError(f"cannot write {target}: {error.strerror or error}.", path=target) from error
    finally:
        with contextlib.suppress(OSError):  # gone already, or never made
            temporary.unlink()


def open_new(path: Path) -> int:
    """A new file to write to, without a name where the system has such files: a process that is killed leaves none.

    0o666 is narrowed by the user's umask, unlike the 0o600 of the tempfile module.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir(OPEN_FILES):
        with contextlib.suppress(OSError):  # a file system without them, or a folder where nothing can be made
            return os.open(path.parent, os.O_RDWR | os.O_TMPFILE, 0o666)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)


def give_name(descriptor: int, path: Path) -> None:
    """Give the whole file its name, unless it has it; a copy gets it where the system does not allow that."""
    if os.fstat(descriptor).st_nlink > 0:
        return
    folder = os.open(OPEN_FILES, os.O_RDONLY)
    try:  # from a folder, because Python follows the link to the file only then
        os.link(str(descriptor), path, src_dir_fd=folder, follow_symlinks=True)
    except OSError:
        shutil.copyfile(f"{OPEN_FILES}/{descriptor}", path)
    finally:
        os.close(folder)


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = True) -> None:
    """Write a whole UTF-8 text, or leave the old file as it was."""
    with replacing(path, overwrite=overwrite) as stream:
        stream.write(text.encode("utf-8"))

"""The folder of a run: `run.json` for people and for `status`, one log per chain, and the rules of who may write."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayesgrove.core.errors import InvalidFileError, RunStoppedError
from bayesgrove.core.provenance import package_versions
from bayesgrove.inference.store import log_path
from bayesgrove.io.atomic import write_text
from bayesgrove.io.json_files import read_small_json
from bayesgrove.io.lock import release_lock, take_lock

NAME = "run.json"
VERSION = 1
MAX_BYTES = 64 * 2**20
MOST_CHAINS = 100_000


@contextlib.contextmanager
def writing(folder: Path, *, resume: bool, repair: Callable[[], None] | None = None) -> Iterator[None]:
    """The folder, made where it is missing and locked for this process; a run in it is touched only to resume it.

    `repair` is called once the folder is locked and before anything of the run is read.
    """
    try:
        folder.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:  # a name that holds a NUL
        reason = getattr(error, "strerror", None) or error
        raise InvalidFileError(f"cannot make the folder {str(folder)!r}: {reason}.", path=folder) from error
    if has_run(folder) and not resume:
        raise InvalidFileError(
            f"{folder} holds a run already. Give resume=True to continue it, or another run_dir for a new one.",
            path=folder,
        )
    lock = take_lock(folder / NAME)
    try:
        if repair is not None:
            repair()
        if os.path.exists(folder / NAME):
            read_run(folder)  # what is damaged or newer is not written over
        yield
    finally:
        release_lock(lock)


def has_run(folder: Path) -> bool:
    """Whether a run was begun here."""
    return os.path.exists(folder / NAME) or os.path.exists(log_path(folder, 0))


def write_run(folder: Path, document: Mapping[str, Any]) -> None:
    """Write or replace `run.json` in one step."""
    content = {
        "format": "bayesgrove run",
        "version": VERSION,
        "bayesgrove": package_versions()["bayesgrove"],
        **document,
    }
    try:
        text = json.dumps({**content, "sha256": _checksum(content)}, indent=2, allow_nan=False) + "\n"
        write_text(folder / NAME, text)
    except InvalidFileError as error:
        raise RunStoppedError(f"{error} The run was not started.", path=folder) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise RunStoppedError(f"run.json holds JSON's types and finite numbers: {error}.", path=folder) from error


def read_run(folder: Path) -> dict[str, Any]:
    """What `write_run` wrote, checked."""
    path = folder / NAME
    if not os.path.isfile(path):
        raise InvalidFileError(f"{folder} holds no run of chains: it has no {NAME}.", path=path)
    return _check(path, read_small_json(path, MAX_BYTES))


def _check(path: Path, document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != "bayesgrove run":
        raise InvalidFileError(f"{path} is damaged, or no run of bayesgrove.", path=path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise InvalidFileError(
            f"{path} has format version {version}; this bayesgrove reads up to {VERSION}. Upgrade it.",
            path=path,
            version=version,
        )
    if document.pop("sha256", None) != _checksum_read(document):
        raise InvalidFileError(
            f"{path}: the checksum does not match; it is damaged or was edited. Restore it from a copy, or delete it: "
            "resuming with the same settings writes it anew.",
            path=path,
        )
    _check_fields(path, document)
    return document


def _check_fields(path: Path, document: Mapping[str, Any]) -> None:
    """Refuse a document that lacks what every run has; a right checksum may stand on a wrong one."""
    rules = (("n_chains", int, 1, MOST_CHAINS), ("n_draws", int, 0, 2**53), ("seed", int, 0, 2**128))
    for name, kind, least, most in rules:
        value = document.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
            raise InvalidFileError(f"{path} is damaged: {name} is {value!r:.80}, no number of a run.", path=path)
    if not isinstance(document.get("model"), str):
        raise InvalidFileError(f"{path} is damaged: it names no model.", path=path)
    about = document.get("about", {})
    if not isinstance(about, dict) or not isinstance(about.get("settings", {}), dict):
        raise InvalidFileError(
            f"{path} is damaged: what it tells of the run, and its settings, are objects.", path=path
        )


def _checksum_read(document: Mapping[str, Any]) -> str | None:
    """The checksum of what was read; None for numbers that are never written."""
    try:
        return _checksum(document)
    except ValueError:
        return None


def _checksum(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, allow_nan=False).encode()).hexdigest()

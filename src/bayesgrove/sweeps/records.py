"""The folder of a sweep: what it is of, one finished record per fit, and the logs of fits that are under way."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.provenance import package_versions
from bayesgrove.io.atomic import write_text
from bayesgrove.io.json_files import read_small_json
from bayesgrove.io.lock import release_lock, take_lock

NAME, FITS, RUNS = "sweep.json", "fits", "runs"
FORMAT = "bayesgrove sweep"
MAX_BYTES = 2**20


@contextlib.contextmanager
def sweep_folder(folder: Path, about: Mapping[str, Any]) -> Iterator[None]:
    """The folder, made where it is missing and locked; one of another model, data or fixed settings is refused."""
    try:
        for place in (folder, folder / FITS, folder / RUNS):
            place.mkdir(exist_ok=True)
    except OSError as error:
        raise InvalidFileError(f"cannot make the folder {folder}: {error.strerror}.", path=folder) from error
    lock = take_lock(folder / NAME)
    try:
        if (folder / NAME).exists():
            refuse_another(folder, read_object(folder / NAME), about)
        else:
            write_json(folder / NAME, {"format": FORMAT, **package_versions(), **about})
        yield
    finally:
        release_lock(lock)


def refuse_another(folder: Path, found: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Raise where the folder's sweep differs in what all its fits share."""
    wanted = json.loads(json.dumps(dict(about), default=repr))
    other = [name for name in wanted if found.get(name) != wanted[name]]
    if found.get("format") != FORMAT or other:
        raise InvalidFileError(
            f"{folder} holds another sweep: it differs in {', '.join(other) or 'its format'}. Choose another folder; "
            "more settings or repeats of the same sweep may go on in it.",
            path=folder,
        )


def data_digest(values: Any) -> str:
    """A short hash of a table's cells and their shape."""
    cells = np.ascontiguousarray(values)
    return hashlib.sha256(str((cells.shape, cells.dtype.str)).encode() + cells.tobytes()).hexdigest()[:16]


def record_path(folder: Path, key: str) -> Path:
    """The record of a fit that is done."""
    return folder / FITS / f"{key}.json"


def logs_path(folder: Path, key: str) -> Path:
    """The folder of a fit's chains while they run."""
    return folder / RUNS / key


def finish_record(folder: Path, key: str, record: Mapping[str, Any]) -> None:
    """Keep a fit's record, whole or not at all; its logs are not needed any more."""
    write_json(record_path(folder, key), record)
    shutil.rmtree(logs_path(folder, key), ignore_errors=True)


def read_record(folder: Path, key: str) -> dict[str, Any] | None:
    """The record of a fit, None where it is not done; what is damaged is done again."""
    path = record_path(folder, key)
    if not path.exists():
        return None
    try:
        return read_object(path)
    except InvalidFileError:
        return None


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document in one step."""
    write_text(path, json.dumps(document, indent=1, default=repr) + "\n")


def read_object(path: Path) -> dict[str, Any]:
    """A small JSON object from a file."""
    document = read_small_json(path, MAX_BYTES)
    if not isinstance(document, dict):
        raise InvalidFileError(f"{path} is damaged: it is no JSON object.", path=path)
    return document

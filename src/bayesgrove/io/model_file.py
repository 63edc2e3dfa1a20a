"""Model files: a plain zip of `model.json` and one .npy per array, every byte of content under a checksum.

Members are stored, not compressed, so that no small file can ask for much memory; names are fixed;
nothing is extracted to disk and nothing is unpickled.

    model.json         format, version, kind, document, arrays: {name: sha256}
    model.sha256       checksum of model.json
    arrays/NAME.npy    one per array
"""

import hashlib
import io
import json
import os
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.io.arrays import NUMBER_KINDS, array_from_npy
from bayesgrove.io.atomic import replacing

FORMAT = "bayesgrove-model"
VERSION = 1
MAX_BYTES = 4 * 2**30
MAX_MEMBERS = 1000
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes
_ARRAY_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
# All that zipfile is known to raise on hostile bytes.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    KeyError,
    ValueError,
    OverflowError,
    struct.error,
)


class ModelFile(NamedTuple):
    """What a model file holds: the kind of model, its document in JSON's types, its arrays."""

    kind: str
    document: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write_model(
    path: str | os.PathLike[str],
    kind: str,
    document: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    overwrite: bool = True,
) -> None:
    """Write a model file; an existing file is replaced only when all is written."""
    members = {f"arrays/{name}.npy": _npy_bytes(name, array) for name, array in sorted(arrays.items())}
    content = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "document": dict(document),
        "arrays": {name: _sha256(members[f"arrays/{name}.npy"]) for name in arrays},
    }
    header = json.dumps(content, default=_plain_number, ensure_ascii=True, sort_keys=True).encode()
    members = {"model.json": header, "model.sha256": _sha256(header).encode(), **members}
    with replacing(path, overwrite=overwrite) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), data)


def read_model(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> ModelFile:
    """Read a model file; anything damaged, hostile or newer raises InvalidFileError."""
    source = Path(path)
    if not os.path.isfile(source):  # opening a pipe would wait for ever
        raise InvalidFileError(f"there is no model file {source}.", path=source)
    try:
        with open(source, "rb") as stream, zipfile.ZipFile(stream) as archive:
            _check_directory(archive, source, os.fstat(stream.fileno()).st_size, max_bytes)
            return _read_members(archive, source)
    except InvalidFileError:
        raise
    except _ZIP_ERRORS as error:
        raise InvalidFileError(
            f"{source} is damaged or not a bayesgrove model file ({error}). Save the model again.",
            path=source,
        ) from error


def _npy_bytes(name: str, array: np.ndarray) -> bytes:
    if not _ARRAY_NAME.fullmatch(name):
        raise InvalidSettingError(f"an array's name is letters, digits and underscores, got {name!r}.")
    array = np.asarray(array)
    if array.dtype.kind not in NUMBER_KINDS:
        raise InvalidSettingError(f"array {name!r} must hold numbers, got {array.dtype}. Put texts in the document.")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array, order="C"), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _plain_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidSettingError(f"a model's document holds JSON's types only, got {type(value).__name__}.")


def _check_directory(archive: zipfile.ZipFile, source: Path, file_bytes: int, max_bytes: int) -> None:
    members = archive.infolist()
    promised = sum(info.file_size for info in members)
    if len(members) > MAX_MEMBERS or promised > min(file_bytes, max_bytes):
        raise InvalidFileError(
            f"{source} promises {promised} bytes in {len(members)} parts, more than the file "
            f"({file_bytes} bytes) or the limit ({max_bytes} bytes, {MAX_MEMBERS} parts) allows: damaged.",
            path=source,
        )
    for info in members:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise InvalidFileError(f"{source}: part {info.filename!r} is compressed; model files never are.")
        if info.flag_bits & 0x1:
            raise InvalidFileError(f"{source}: part {info.filename!r} is encrypted; model files never are.")


def _read_members(archive: zipfile.ZipFile, source: Path) -> ModelFile:
    names = archive.namelist()
    header = archive.read("model.json")
    if archive.read("model.sha256") != _sha256(header).encode():
        raise InvalidFileError(f"{source}: the checksum of model.json does not match; the file is damaged.")
    content = _parse_header(header, source)
    checksums = content["arrays"]
    expected = {"model.json", "model.sha256", *(f"arrays/{name}.npy" for name in checksums)}
    if len(names) != len(expected) or set(names) != expected:
        surprise = sorted(set(names) ^ expected) or ["a part twice"]
        raise InvalidFileError(f"{source} holds other parts than it lists: {surprise[0]!r}; it is damaged.")
    arrays = {name: _read_array(archive, source, name, checksums[name]) for name in checksums}
    return ModelFile(content["kind"], content["document"], arrays)


def _parse_header(header: bytes, source: Path) -> dict[str, Any]:
    try:
        content = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{source}: model.json is not valid JSON; the file is damaged.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidFileError(f"{source} is a zip file but not a bayesgrove model file.", path=source)
    version = content.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidFileError(f"{source} has the format version {version!r}, which is no version.", path=source)
    if version > VERSION:
        raise InvalidFileError(
            f"{source} has format version {version}; this bayesgrove reads up to {VERSION}. Upgrade it.",
            path=source,
            version=version,
        )
    _check_header_types(content, source)
    return content


def _check_header_types(content: dict[str, Any], source: Path) -> None:
    for field, kind in (("kind", str), ("document", dict), ("arrays", dict)):
        if not isinstance(content.get(field), kind):
            raise InvalidFileError(f"{source}: {field!r} is missing from model.json or of a wrong type.")
    if not all(_ARRAY_NAME.fullmatch(name) for name in content["arrays"]):
        raise InvalidFileError(f"{source}: model.json lists an array with a forbidden name.")


def _read_array(archive: zipfile.ZipFile, source: Path, name: str, checksum: Any) -> np.ndarray:
    data = archive.read(f"arrays/{name}.npy")
    if _sha256(data) != checksum:
        raise InvalidFileError(f"{source}: the checksum of array {name!r} does not match; the file is damaged.")
    return array_from_npy(data, f"{source}: array {name!r}")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

"""The append-only log of a run: a file that can be cut off at any byte and goes on from its last whole record.

    file      magic 8s, version u32, length u64, crc32 u32 of all that and the JSON; header as JSON; records
    record    marker 4s, kind u8, length u64, index u64, crc32 u32 of the payload, crc32 u32 of the head; payload

Numbers are little-endian. The head has a checksum of its own because a flipped bit in a length would otherwise look
like a torn tail and cost all records behind it. Checksums of records start from the header's, so that a block of
another log, left on the disk or pasted in, is never taken for one of this.
"""

import contextlib
import json
import logging
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError, RunStoppedError
from bayesgrove.io.atomic import refuse_existing, replacing
from bayesgrove.io.lock import release_lock, take_lock, write_all

VERSION = 1
MAX_HEADER_BYTES = 16 * 2**20
_MAGIC = b"BGRVLOG\n"
_MARKER = b"\x9eRec"
_START = struct.Struct("<8sIQ")
_HEAD = struct.Struct("<4sBQQI")
_CHECKSUM = struct.Struct("<I")
_HEAD_BYTES = _HEAD.size + _CHECKSUM.size
_CHUNK_BYTES = 2**20
_data_sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync

logger = logging.getLogger("bayesgrove")


@dataclass(frozen=True, slots=True)  # a NamedTuple has a method `index` already
class Record:
    """One record: what it is (the caller's number), its place from 0 on, its bytes."""

    kind: int
    index: int
    payload: bytes


class _Position(NamedTuple):
    """A place between two records."""

    end: int
    n_records: int


class _Header(NamedTuple):
    document: dict[str, Any]
    checksum: int


class RecordWriter:
    """The only writer of a log, which is made if there is none and continued if there is.

    Parameters
    ----------
    path : path-like
        The log. Beside it, `<path>.lock` is held while the writer lives, and free when its process dies.
    header : mapping
        What the log belongs to, in JSON's types. An existing log must have the same.
    sync_seconds : float
        Records are forced to the disk when one is appended this long after the last time, and at the end.

    Notes
    -----
    What a killed process left unfinished behind the last whole record is cut off. Damage before the last record
    raises `InvalidFileError` and changes nothing. When a record cannot be written the log is cut back to the last
    good one, the writer closes itself and `RunStoppedError` is raised.
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any], *, sync_seconds: float = 1.0) -> None:
        if not sync_seconds >= 0:
            raise InvalidSettingError(f"sync_seconds must be 0 or more, got {sync_seconds}.", value=sync_seconds)
        text = _header_text(header)
        self.path = Path(os.path.realpath(path))  # one log, one lock, whatever links lead there
        self._sync_seconds = sync_seconds
        refuse_existing(self.path, overwrite=True)
        with contextlib.ExitStack() as held:
            held.callback(release_lock, take_lock(self.path))
            if not self.path.exists():
                _create(self.path, text)
            self._checksum, self._good = _check_log(self.path, text)
            self._file = _open_for_appending(self.path, self._good)
            held.callback(os.close, self._file)
            self._held = held.pop_all()
        self._closed = False
        self._unfinished = False
        self._synced = self._good
        self._sync_time = time.monotonic()

    @property
    def n_records(self) -> int:
        """Records in the log, which is the index of the next one."""
        return self._good.n_records

    @property
    def n_synced(self) -> int:
        """Records that have been forced to the disk and outlive a loss of power."""
        return self._synced.n_records

    def append(self, kind: int, payload: bytes) -> int:
        """Write one record and give its index; it outlives the process now and a loss of power once synced."""
        self._make_ready()
        index = self._good.n_records
        record = _encode(Record(kind, index, payload), self._checksum)
        self._unfinished = True
        try:
            write_all(self._file, record)
        except OSError as error:
            raise self._stop(self._good, error) from error
        self._good = _Position(self._good.end + len(record), index + 1)
        self._unfinished = False
        if time.monotonic() - self._sync_time >= self._sync_seconds:
            self.sync()
        return index

    def sync(self) -> None:
        """Force all records to the disk."""
        self._make_ready()
        try:
            _data_sync(self._file)
        except OSError as error:  # which of the pages were lost is unknown, also to a second attempt
            raise self._stop(self._synced, error) from error
        self._synced = self._good
        self._sync_time = time.monotonic()

    def close(self) -> None:
        """Force all records to the disk and give the lock back; a second call does nothing."""
        if self._closed:
            return
        try:
            self.sync()
        finally:
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _make_ready(self) -> None:
        if self._closed:
            raise RunStoppedError(f"the log {self.path} is closed; open it again to append.", path=self.path)
        if self._unfinished:  # Ctrl+C came between the first byte of a record and the last
            try:
                os.ftruncate(self._file, self._good.end)
            except OSError as error:
                raise self._stop(self._good, error) from error
            self._unfinished = False

    def _stop(self, keep: _Position, error: OSError) -> RunStoppedError:
        with contextlib.suppress(OSError):  # what cannot be cut now is cut when the log is opened again
            os.ftruncate(self._file, keep.end)
            _data_sync(self._file)
        self._let_go()
        return RunStoppedError(
            f"cannot write {self.path}: {error.strerror or error}. The run has stopped and its log ends with the last "
            f"good record ({keep.n_records} in all). Mend the cause and start the run again to go on from there.",
            path=self.path,
            n_records=keep.n_records,
        )

    def _let_go(self) -> None:
        if not self._closed:
            self._closed = True
            self._held.close()


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the log belongs to, as its writer said."""
    with _open_log(path) as stream:
        return _read_header(stream, Path(path)).document


def read_records(path: str | os.PathLike[str], *, start: int = 0) -> Iterator[Record]:
    """Records from index `start` on, also while a writer adds more; an unfinished last one is left out."""
    with _open_log(path) as stream:
        checksum = _read_header(stream, Path(path)).checksum
        for record in _walk(stream, Path(path), checksum):
            if record.index >= start:
                yield record


def good_length(path: str | os.PathLike[str]) -> int:
    """Bytes of a log before its first record that is damaged or unfinished."""
    with _open_log(path) as stream:
        checksum = _read_header(stream, Path(path)).checksum
        end = stream.tell()
        try:
            for record in _walk(stream, Path(path), checksum):
                end += _HEAD_BYTES + len(record.payload)
        except InvalidFileError as error:
            if not hasattr(error, "offset"):
                raise
    return end


def refuse_other_header(path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
    """Raise InvalidFileError, with all differences named, where a log belongs to something else."""
    _refuse_other_header(Path(path), read_header(path), json.loads(_header_text(header)))


# ---- Writing


def _header_text(header: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(dict(header), allow_nan=False, ensure_ascii=True, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSettingError(f"the header of a log holds JSON's types and finite numbers: {error}.") from error
    if len(text) > MAX_HEADER_BYTES:
        raise InvalidSettingError(
            f"the header of a log has at most {MAX_HEADER_BYTES} bytes, got {len(text)}. Put arrays into records."
        )
    return text


def _create(path: Path, text: bytes) -> None:
    """A log without records; it appears whole or not at all."""
    start = _START.pack(_MAGIC, VERSION, len(text))
    with replacing(path, overwrite=False) as stream:
        stream.write(start + _CHECKSUM.pack(zlib.crc32(text, zlib.crc32(start))) + text)
    folder = os.open(path.parent, os.O_RDONLY)
    with contextlib.suppress(OSError):  # some file systems cannot, and need not
        os.fsync(folder)
    os.close(folder)


def _check_log(path: Path, text: bytes) -> tuple[int, _Position]:
    """The header's checksum and the place behind the last good record."""
    with _open_log(path) as stream:
        document, checksum = _read_header(stream, path)
        _refuse_other_header(path, document, json.loads(text))
        good = _Position(stream.tell(), 0)
        for record in _walk(stream, path, checksum):
            good = _Position(good.end + _HEAD_BYTES + len(record.payload), record.index + 1)
    return checksum, good


def _open_for_appending(path: Path, good: _Position) -> int:
    """Descriptor of the log, cut behind its last good record and all of it on the disk."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
    except OSError as error:
        raise InvalidFileError(f"cannot write {path}: {error.strerror}.", path=path) from error
    try:
        torn = os.fstat(file).st_size - good.end
        if torn:
            logger.warning("%s: cut %d bytes of an unfinished record after record %d", path, torn, good.n_records - 1)
            os.ftruncate(file, good.end)
        _data_sync(file)
    except OSError as error:
        os.close(file)
        raise InvalidFileError(f"cannot write {path}: {error.strerror}.", path=path) from error
    return file


def _encode(record: Record, checksum: int) -> bytes:
    if not 0 <= record.kind <= 255:
        raise InvalidSettingError(f"the kind of a record is 0 to 255, got {record.kind}.", kind=record.kind)
    body_checksum = zlib.crc32(record.payload, checksum)
    head = _HEAD.pack(_MARKER, record.kind, len(record.payload), record.index, body_checksum)
    return b"".join((head, _CHECKSUM.pack(zlib.crc32(head, checksum)), record.payload))


# ---- Reading


@contextlib.contextmanager
def _open_log(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file for reading; what the system refuses becomes InvalidFileError."""
    if not os.path.isfile(path):  # opening a pipe would wait for ever
        raise InvalidFileError(f"there is no log {path}.", path=path)
    try:
        with open(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise InvalidFileError(f"cannot read {path}: {error.strerror or error}.", path=path) from error


def _size(stream: IO[bytes]) -> int:
    return os.fstat(stream.fileno()).st_size


def _read_header(stream: IO[bytes], path: Path) -> _Header:
    start = stream.read(_START.size + _CHECKSUM.size)
    if len(start) < _START.size + _CHECKSUM.size or not start.startswith(_MAGIC):
        raise InvalidFileError(f"{path} is not a bayesgrove log, or its beginning is damaged.", path=path)
    _, version, length = _START.unpack_from(start)
    if version > VERSION:
        raise InvalidFileError(
            f"{path} has format version {version}; this bayesgrove reads up to {VERSION}. Upgrade it.",
            path=path,
            version=version,
        )
    text = stream.read(length) if length <= min(MAX_HEADER_BYTES, _size(stream)) else b""
    checksum = zlib.crc32(text, zlib.crc32(start[: _START.size]))
    if len(text) != length or start[_START.size :] != _CHECKSUM.pack(checksum):
        raise InvalidFileError(
            f"{path}: the checksum of the header does not match; the log is damaged. "
            'Restore it from a copy, or draw it again: resume="repair" in Python, bayesgrove resume RUN --repair in a '
            "shell.",
            path=path,
        )
    return _Header(_parse(text, path), checksum)


def _parse(text: bytes, path: Path) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{path}: the header is not valid JSON; the log is damaged.", path=path) from error
    if not isinstance(document, dict):
        raise InvalidFileError(f"{path}: the header is not a JSON object; the log is damaged.", path=path)
    return document


def _refuse_other_header(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    there, here = _leaves(theirs), _leaves(ours)
    differences = [
        f"{'.'.join(name) or 'the header'} is {there.get(name, 'absent')} there and {here.get(name, 'absent')} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name) != here.get(name)
    ]
    if differences:
        raise InvalidFileError(
            f"{path} belongs to another run: {'; '.join(differences)}. Use the same settings, or another folder.",
            path=path,
            differences=differences,
        )


def _leaves(document: dict[str, Any]) -> dict[tuple[str, ...], str]:
    """JSON text of all that is no (filled) object, by the names that lead to it."""
    found = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend(((*name, key), inner) for key, inner in value.items())
        else:
            found[name] = json.dumps(value, sort_keys=True)
    return found


def _walk(stream: IO[bytes], path: Path, checksum: int) -> Iterator[Record]:
    """Whole records from here to the end or to a torn tail; damage that is no torn tail raises."""
    offset, index = stream.tell(), 0
    while len(head := stream.read(_HEAD_BYTES)) == _HEAD_BYTES:
        if not _is_head(head, checksum):
            if _has_head_after(stream, offset, checksum):
                raise _damaged(path, offset, index)
            return
        _, kind, length, own_index, body_checksum = _HEAD.unpack_from(head)
        if own_index != index:
            raise _damaged(path, offset, index)
        end = offset + _HEAD_BYTES + length
        if end > _size(stream):  # asked before reading: a length that lies must not allocate
            return
        payload = stream.read(length)
        if len(payload) != length or zlib.crc32(payload, checksum) != body_checksum:
            if end < _size(stream):
                raise _damaged(path, offset, index)
            return
        yield Record(kind, index, payload)
        offset, index = end, index + 1


def _is_head(head: bytes, checksum: int) -> bool:
    return head.startswith(_MARKER) and head[_HEAD.size :] == _CHECKSUM.pack(zlib.crc32(head[: _HEAD.size], checksum))


def _has_head_after(stream: IO[bytes], offset: int, checksum: int) -> bool:
    """Whether a record begins anywhere behind `offset`, which tells damage in the middle from a torn tail."""
    start = offset + 1
    while True:
        stream.seek(start)
        chunk = stream.read(_CHUNK_BYTES)
        if len(chunk) < _HEAD_BYTES:
            return False
        found = chunk.find(_MARKER)
        while found >= 0:
            if _is_head(chunk[found : found + _HEAD_BYTES], checksum):
                return True
            found = chunk.find(_MARKER, found + 1)
        start += len(chunk) - _HEAD_BYTES + 1  # a head may lie across two chunks


def _damaged(path: Path, offset: int, index: int) -> InvalidFileError:
    return InvalidFileError(
        f"{path} is damaged at byte {offset}, where record {index} should be; nothing was changed. "
        'Restore the log from a copy, or draw what is lost again: resume="repair" in Python, bayesgrove resume RUN '
        "--repair in a shell.",
        path=path,
        offset=offset,
        index=index,
    )

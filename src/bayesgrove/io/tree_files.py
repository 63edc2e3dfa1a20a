"""Where trees are read from: files, folders, patterns, and archives, which are never extracted."""

import contextlib
import glob
import gzip
import os
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from bayesgrove.core.errors import InvalidFileError, TreeLimitError
from bayesgrove.io.tree_documents import Document, ReaderOptions

ENDINGS = {
    ".xml": "xml", ".xhtml": "xml", ".xsd": "xml", ".svg": "xml", ".rdf": "xml", ".kml": "xml", ".gpx": "xml",
    ".json": "json", ".geojson": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".py": "python", ".pyi": "python",
    ".nwk": "newick", ".newick": "newick", ".nw": "newick", ".tre": "newick",
    ".sexpr": "sexpr", ".sexp": "sexpr", ".mrg": "sexpr", ".ptb": "sexpr",
    ".tree": "inex",
}  # fmt: skip
FORMATS = ("xml", "json", "jsonl", "python", "newick", "sexpr", "inex")
BY_LINE = frozenset({"jsonl", "inex"})
"""Formats with a document on every line."""
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_LARGEST_HEADER = 2**20
_BLOCK = 2**20
_BYTES_OF_ZIP_ENTRY = 4096
"""Room for a name in the list of an archive's members."""
_DAMAGE = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
    NotImplementedError,
    UnicodeDecodeError,  # a name in an archive
)
"""RuntimeError: a password is asked for, or headers nested without end."""
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class Entry(NamedTuple):
    """A file to be read, in a folder or in an archive; the stream is good until the next entry is asked for."""

    name: str
    format: str
    stream: IO[bytes]


def find_paths(paths: Paths) -> list[Path]:
    """Files that are named, or found by patterns and in folders, in the order asked for and then by name."""
    wanted = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [path for name in wanted for path in _find(os.fspath(name))]
    if not found:
        raise InvalidFileError(f"no file that can be read as trees in {wanted!r}. Look at the names and their endings.")
    return found


def _find(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if os.path.isdir(path):
        return _in_folder(path)
    if os.path.exists(path) or not glob.has_magic(name):
        return [path]
    found = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    return [file for file in found if os.path.isfile(file)]


def _in_folder(folder: Path) -> list[Path]:
    """Files of known endings below a folder."""
    return [path for path in _below(folder) if _is_known(path.name)]


def _below(folder: Path) -> Iterator[Path]:
    """Files below a folder; links to folders are not followed, hidden names passed over."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


def other_endings(folder: Path) -> Counter[str]:
    """Endings of the files below a folder that no reader is for, and how many files have each."""
    names = [path for path in _below(folder) if not _is_known(path.name)]
    return Counter(path.suffix.lower() or "without an ending" for path in names)


def _is_known(name: str) -> bool:
    return archive_kind(name) is not None or format_of(name) is not None


def archive_kind(name: str) -> str | None:
    """The ending of an archive; None for other files."""
    return next((ending for ending in _ARCHIVES if name.lower().endswith(ending)), None)


def format_of(name: str) -> str | None:
    """The format a name's ending stands for, a last .gz apart; None for others."""
    plain = name.lower().removesuffix(".gz")
    return ENDINGS.get(os.path.splitext(plain)[1])


def entries(path: Path, wanted: str, options: ReaderOptions) -> Iterator[Entry]:
    """What is to be read of a path: itself, or the members of an archive that have the format wanted."""
    with _naming_damage(path):
        if not os.path.isfile(path):
            raise InvalidFileError(f"there is no file {path}.", path=path)
        kind = archive_kind(path.name)
        if kind == ".zip":
            yield from _zip_entries(path, wanted, options)
        elif kind is not None:
            yield from _tar_entries(path, wanted, options, is_packed=kind != ".tar")
        else:
            chosen = format_of(path.name) if wanted == "auto" else wanted
            if chosen is None:
                raise InvalidFileError(
                    f"{path}: the ending says nothing about its format. Give format=, one of {', '.join(FORMATS)}.",
                    path=path,
                )
            with _opened(path, is_packed=path.name.lower().endswith(".gz")) as stream:
                yield Entry(str(path), chosen, stream)


@contextlib.contextmanager
def _opened(path: Path, is_packed: bool) -> Iterator[Any]:
    with gzip.open(path) if is_packed else open(path, "rb") as stream:
        yield stream


@contextlib.contextmanager
def _naming_damage(path: Path | str) -> Iterator[None]:
    """Turn what readers of archives raise into one kind of error."""
    try:
        yield
    except _DAMAGE as error:
        raise InvalidFileError(f"{path} cannot be read or is damaged ({error}).", path=path) from error


def _zip_entries(path: Path, wanted: str, options: ReaderOptions) -> Iterator[Entry]:
    _check_zip_list(path, options)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check_members(path, len(members), options)
        total = sum(member.file_size for member in members)
        if total > options.max_total_bytes:
            raise _beyond(path, "max_total_bytes", options)
        for member in members:
            chosen = _chosen(member.filename, wanted)
            if chosen is None or member.is_dir():
                continue
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InvalidFileError(f"{path}: {member.filename!r} is packed in an unusual way. Pack it anew.")
            with archive.open(member) as stream:
                yield Entry(f"{path}/{member.filename}", chosen, _unpacked(member.filename, stream))


def _check_zip_list(path: Path, options: ReaderOptions) -> None:
    """Refuse a list of members too long to be held, before it is read: each becomes an object of a kilobyte."""
    with open(path, "rb") as stream:
        stream.seek(max(path.stat().st_size - 2**16 - 1024, 0))
        tail = stream.read()
    sizes: list[int] = []
    for mark, place, form in ((b"PK\x05\x06", 12, "<I"), (b"PK\x06\x06", 40, "<Q")):
        at = tail.rfind(mark)
        if 0 <= at <= len(tail) - place - 8:
            sizes += struct.unpack_from(form, tail, at + place)
    if max(sizes, default=0) > _BYTES_OF_ZIP_ENTRY * options.max_members and max(sizes) != 2**32 - 1:
        raise _beyond(path, "max_members", options)


def _tar_entries(path: Path, wanted: str, options: ReaderOptions, is_packed: bool) -> Iterator[Entry]:
    with _opened(path, is_packed) as packed:
        bounded: Any = _Bounded(packed, path, options)
        with tarfile.open(fileobj=bounded, mode="r|", tarinfo=_BoundedInfo) as archive:
            for count, member in enumerate(archive, 1):
                _check_members(path, count, options)
                chosen = _chosen(member.name, wanted)
                stream = archive.extractfile(member) if member.isreg() and chosen is not None else None
                if stream is not None and chosen is not None:
                    yield Entry(f"{path}/{member.name}", chosen, _unpacked(member.name, stream))
                archive.members = []  # type: ignore[attr-defined]  # else it keeps them all


class _BoundedInfo(tarfile.TarInfo):
    """A member of an archive whose headers are not read whole when they are large."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if not self.isreg() and self.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc]


class _Bounded:
    """A stream that counts what is read."""

    def __init__(self, stream: IO[bytes], path: Path, options: ReaderOptions) -> None:
        self.stream, self.path, self.options, self.n_read = stream, path, options, 0

    def read(self, size: int) -> bytes:
        """The next bytes, unless they are beyond the limit."""
        content = self.stream.read(size)
        self.n_read += len(content)
        if self.n_read > self.options.max_total_bytes:
            raise _beyond(self.path, "max_total_bytes", self.options)
        return content


def _chosen(name: str, wanted: str) -> str | None:
    """The format of an archive's member; None where it is not wanted."""
    found = format_of(name)
    return found if wanted in ("auto", found) else None


def _unpacked(name: str, stream: IO[bytes]) -> IO[bytes]:
    return gzip.GzipFile(fileobj=stream) if name.lower().endswith(".gz") else stream  # type: ignore[return-value]


def _check_members(path: Path, count: int, options: ReaderOptions) -> None:
    if count > options.max_members:
        raise _beyond(path, "max_members", options)


def _beyond(path: Path, limit: str, options: ReaderOptions) -> TreeLimitError:
    allowed = getattr(options, limit)
    return TreeLimitError(
        f"{path}: {limit} is {allowed} and the archive is beyond it. Raise {limit} if you trust the archive.",
        source=str(path),
        limit=limit,
        allowed=allowed,
    )


def documents(entry: Entry, allowed: int) -> Iterator[Document]:
    """The documents of a file: one, or one for every line that is not blank."""
    by_line = entry.format in BY_LINE
    number = 0
    while True:
        number += 1
        with _naming_damage(entry.name):
            content = entry.stream.readline(allowed + 1) if by_line else _read(entry.stream, allowed + 1)
        document = Document(entry.name, content, first_line=number)
        if len(content) > allowed:
            raise document.beyond(number, "max_bytes", allowed)
        if content.strip() or not by_line:
            yield document
        if not by_line or not content:
            return


def _read(stream: IO[bytes], size: int) -> bytes:
    """At most so many bytes; in blocks, as streams of archives take twice the memory for large pieces."""
    blocks, n_read = [], 0
    while n_read < size and (block := stream.read(min(_BLOCK, size - n_read))):
        blocks.append(block)
        n_read += len(block)
    return b"".join(blocks)

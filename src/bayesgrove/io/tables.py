"""Tables from files (text, .xlsx, .parquet, .feather, .npy, .npz): all become a `Table` of named float columns."""

import contextlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import BayesgroveError, InvalidFileError, InvalidSettingError, InvalidTableError
from bayesgrove.core.table import DATE, Table, check_columns
from bayesgrove.io.arrays import array_from_npy, map_npy
from bayesgrove.io.columns import Column, assemble, code_labels, from_numbers
from bayesgrove.io.delimited import category_column, infer_column, read_text_table
from bayesgrove.io.dialect import PLAIN, Dialect
from bayesgrove.io.excel import read_sheet, sheet_category, sheet_column
from bayesgrove.io.texts import column_from_texts, days_of

MAX_ARCHIVE_BYTES = 8 * 2**30
TEXTS = (".csv", ".tsv", ".txt")
_LARGEST_INFLATION = 1100  # deflate cannot do better than about 1,032


class LabelledTable(NamedTuple):
    """A table and, where an index column was named, one label per row."""

    table: Table
    labels: tuple[str, ...] | None


class _Source(NamedTuple):
    """A file taken apart: raw columns; how to make one a column of the type it looks like, categories, row labels."""

    names: Sequence[str]
    columns: Sequence[Any]
    to_column: Callable[[Any, str], Column]
    to_category: Callable[[Any, str], Column]
    to_labels: Callable[[Any], list[str]]


def read_table(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    drop: Sequence[str] = (),
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Table:
    """The table in a file; its kind is told by the name's ending.

    Parameters
    ----------
    path : str or path
        .csv, .tsv, .txt, .xlsx, .parquet, .feather, .arrow, .npy or .npz.
    header : bool, optional
        Whether the first line of a text or the first row of a sheet holds names; by default it is looked at.
    drop : sequence of str
        Columns to leave out, whatever they hold.
    sep : str, optional
        The character between the cells of a text; detected by default.
    decimal : {".", ","}, optional
        The decimal mark of a text; detected by default.
    encoding : str, optional
        Encoding of a text, such as "utf-8" or "cp1252"; detected by default.
    sheet : str, optional
        Name of the sheet of an .xlsx file; by default the first.
    """
    dialect = Dialect(sep, decimal, encoding, sheet)
    return read_labelled_table(path, header=header, drop=drop, dialect=dialect).table


def read_labelled_table(
    path: str | os.PathLike[str],
    *,
    index: str | None = None,
    header: bool | None = None,
    require_index: bool = True,
    texts: Sequence[str] = (),
    drop: Sequence[str] = (),
    only: Sequence[str] | None = None,
    dialect: Dialect = PLAIN,
) -> LabelledTable:
    """The table in a file without its `index` column, whose cells become the rows' labels.

    Without `require_index` a file that lacks the column has no labels; else it is refused. Columns named in `texts`
    hold categories even where all cells of a .csv or .tsv look like numbers. Columns to `drop`, and those that are not
    among `only`, may hold anything: they are not looked at.
    """
    source_path = Path(path)
    source = _open(source_path, header, dialect)
    names, columns, labels = list(source.names), list(source.columns), None
    if index is not None and (require_index or index in names):
        place = _find(index, names, source_path)
        labels = tuple(source.to_labels(columns.pop(place)))
        names.pop(place)
    _check_choice(source_path, source.names, names, drop, only)
    kept = [j for j, name in enumerate(names) if name not in drop and (only is None or name in only)]
    typed = [
        (source.to_category if names[j] in texts else source.to_column)(
            columns[j], f"{source_path}, column {names[j]!r}"
        )
        for j in kept
    ]
    return LabelledTable(assemble([names[j] for j in kept], typed, str(source_path)), labels)


def _open(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    if path.suffix.lower() not in _READERS:
        raise InvalidFileError(
            f"{path}: a table's name ends in {', '.join(_READERS)}, got {path.suffix or 'no ending'!r}. "
            "Convert or rename the file.",
            path=path,
        )
    if not os.path.isfile(path):
        raise InvalidFileError(f"there is no file {path}.", path=path)
    ending = path.suffix.lower()
    _check_dialect(path, dialect, ending)
    return _READERS[ending](path, header, dialect)


def _check_dialect(path: Path, dialect: Dialect, ending: str) -> None:
    """Refuse options of other kinds of files."""
    for name, value in dialect._asdict().items():
        if value is not None and (ending != ".xlsx" if name == "sheet" else ending not in TEXTS):
            kinds = ".xlsx" if name == "sheet" else ", ".join(TEXTS)
            raise InvalidSettingError(f"{name} is an option of {kinds} files, got {path.name}; leave it out.")


def _find(index: str, names: list[str], path: Path) -> int:
    if index not in names:
        raise InvalidTableError(
            f"{path} has no column {index!r} to use as index; it has {_shown(names)}.", column=index
        )
    return names.index(index)


def _check_choice(
    path: Path, there: Sequence[str], names: Sequence[str], drop: Sequence[str], only: Sequence[str] | None
) -> None:
    """Refuse to drop what is not there or all there is, and to go without columns that are asked for."""
    if isinstance(drop, str):  # else its letters would count as names
        raise InvalidTableError(f"drop is a list of names of columns, got {drop!r}. Write drop=[{drop!r}].")
    for name in drop:
        if name not in there:
            raise InvalidTableError(f"{path} has no column {name!r} to drop; it has {_shown(there)}.", column=name)
    if drop and all(name in drop for name in names):
        raise InvalidTableError(f"{path}: no column is left when {_shown(drop)} are dropped; keep at least one.")
    if only is not None:
        check_columns(names, only)


def _shown(names: Sequence[str]) -> str:
    """The first names."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _read_delimited(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    text = read_text_table(path, "," if path.suffix.lower() == ".csv" else "\t", header, dialect)
    return _Source(
        text.names,
        text.columns,
        lambda cells, where: infer_column(cells, text.lines, where),
        lambda cells, where: category_column(cells),
        _texts,
    )


def _read_sheet(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    sheet = read_sheet(path, dialect.sheet, header)
    return _Source(
        sheet.names,
        sheet.columns,
        lambda cells, where: sheet_column(cells, sheet.lines, where),
        lambda cells, where: sheet_category(cells),
        _texts,
    )


def _read_npy(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    return _array_source(map_npy(path), str(path))


def _read_npz(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    try:
        with zipfile.ZipFile(path) as archive:
            member = _only_member(archive, path)
            _check_inflation(member, path)
            content = archive.read(member)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        OSError,
        EOFError,
        zlib.error,
        UnicodeDecodeError,
    ) as error:
        raise InvalidFileError(f"{path} is damaged or not a .npz file ({error}).", path=path) from error
    return _array_source(array_from_npy(content, f"{path}: {member.filename}"), str(path))


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = {info.filename: info for info in archive.infolist()}
    if "X.npy" in members:
        return members["X.npy"]
    if len(members) != 1:
        shown = ", ".join(sorted(members)[:5])
        raise InvalidTableError(f"{path} must hold one array or one named 'X', got {shown or 'none'}.", path=path)
    return next(iter(members.values()))


def _check_inflation(member: zipfile.ZipInfo, path: Path) -> None:
    allowed = min(MAX_ARCHIVE_BYTES, _LARGEST_INFLATION * member.compress_size + 1024)
    if member.file_size > allowed or member.compress_size > path.stat().st_size:
        raise InvalidFileError(
            f"{path}: {member.filename!r} promises {member.file_size} bytes, more than the limit "
            f"of {allowed}; it is damaged or hostile.",
            path=path,
        )


def _array_source(array: np.ndarray, where: str) -> _Source:
    if array.ndim != 2:
        raise InvalidTableError(
            f"{where} holds an array of {array.ndim} dimension(s); a table has two, rows and columns."
        )
    names = [f"x{j}" for j in range(array.shape[1])]
    columns = [array[:, j] for j in range(array.shape[1])]
    return _Source(names, columns, from_numbers, from_numbers, lambda column: _texts(column.tolist()))


def _read_parquet(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    source = open_parquet(path)
    with parquet_errors(path):
        return _arrow_source(source.read(), path)


def _read_feather(path: Path, header: bool | None, dialect: Dialect) -> _Source:
    _, feather = _pyarrow(path)
    with parquet_errors(path, "Feather"):
        return _arrow_source(feather.read_table(path, memory_map=False), path)


def _arrow_source(table: Any, path: Path) -> _Source:
    columns = [table.column(j) for j in range(table.num_columns)]

    # Texts are decoded only when a column is converted, so damage may show as late as that.
    def to_column(column: Any, where: str) -> Column:
        with parquet_errors(path):
            return arrow_column(column, where)

    def to_labels(column: Any) -> list[str]:
        with parquet_errors(path):
            return _texts(column.to_pylist())

    return _Source(table.column_names, columns, to_column, to_column, to_labels)


def open_parquet(path: Path) -> Any:
    """The file as pyarrow's ParquetFile."""
    parquet, _ = _pyarrow(path)
    with parquet_errors(path):
        return parquet.ParquetFile(path)


def _pyarrow(path: Path) -> tuple[Any, Any]:
    """pyarrow's modules of Parquet and of Feather files."""
    try:
        from pyarrow import feather, parquet
    except ImportError as error:
        raise InvalidFileError(
            f"reading {path} needs pyarrow; install it with: pip install 'bayesgrove[tables]'.", path=path
        ) from error
    return parquet, feather


@contextlib.contextmanager
def parquet_errors(path: Path, kind: str = "Parquet") -> Iterator[None]:
    """Turn what pyarrow raises on a damaged file into one kind of error."""
    import pyarrow as pa

    try:
        yield
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        if isinstance(error, BayesgroveError):
            raise
        reason = str(error).split("\n")[0]
        raise InvalidFileError(f"{path} is damaged or not a {kind} file ({reason}).", path=path) from error


def arrow_column(column: Any, where: str) -> Column:
    """A column from an Arrow column of booleans, numbers, texts or a dictionary of texts."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.unify_dictionaries()
        labels = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
        return code_labels(column.cast(kind.value_type).to_pylist(), map(str, labels))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        cells = column.to_pylist()
        texts = column_from_texts(cells, where)
        return code_labels(cells) if texts is None else texts
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return Column(days_of(np.asarray(column.to_numpy())), DATE)
    if pa.types.is_time(kind):
        return Column(np.array([np.nan if cell is None else cell.hour / 24 for cell in column.to_pylist()]), DATE)
    if pa.types.is_boolean(kind):
        return Column(_arrow_floats(column.cast(pa.int8())), "bool")
    if pa.types.is_decimal(kind):
        return Column(_arrow_floats(column.cast(pa.float64())), "float")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        checked = from_numbers(column.drop_null().to_numpy(), where)
        return Column(_arrow_floats(column), checked.kind)
    if pa.types.is_null(kind):
        return Column(np.full(len(column), np.nan), "float")
    raise InvalidTableError(
        f"{where} holds {kind}; columns are booleans, integers, floats or texts. Convert it or drop it."
    )


def _arrow_floats(column: Any) -> np.ndarray:
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _texts(cells: Sequence[Any]) -> list[str]:
    """Row labels; a row without one is called by its number."""
    return [f"row {i}" if cell is None or cell == "" else str(cell) for i, cell in enumerate(cells)]


_READERS: dict[str, Callable[[Path, bool | None, Dialect], _Source]] = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".txt": _read_delimited,
    ".xlsx": _read_sheet,
    ".parquet": _read_parquet,
    ".feather": _read_feather,
    ".arrow": _read_feather,
    ".npy": _read_npy,
    ".npz": _read_npz,
}

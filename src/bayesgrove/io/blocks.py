"""Data that come in blocks of rows: arrays, memory maps, lists or iterators of blocks, files."""

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.core.table import Table
from bayesgrove.io.arrays import map_npy
from bayesgrove.io.columns import unmasked
from bayesgrove.io.frames import is_frame, table_from_frame
from bayesgrove.io.tables import arrow_column, open_parquet, parquet_errors, read_table

BLOCK_ROWS = 65_536


def iterate_row_blocks(source: Any, block_rows: int = BLOCK_ROWS) -> Iterator[np.ndarray]:
    """Blocks of rows, each a C-contiguous float64 array of shape (rows, columns), in order.

    Parameters
    ----------
    source : array, memory map, Table, frame, dask array, path, or iterable of 2-d blocks
        A path ends in .npy (mapped), .parquet (read by row groups), is a folder of .parquet files, which are read in
        the order of their names, or is a table `read_table` knows.
    block_rows : int
        Rows of a block where the source has no blocks of its own.
    """
    n_columns = None
    for number, block in enumerate(_raw_blocks(source, block_rows)):
        checked = _as_block(block, number)
        if n_columns is not None and checked.shape[1] != n_columns:
            raise InvalidTableError(
                f"block {number} has {checked.shape[1]} columns where the first has {n_columns}; "
                "all blocks need the same columns.",
                block=number,
            )
        n_columns = checked.shape[1]
        yield checked


def is_block_source(source: Any) -> bool:
    """Whether rows come piece by piece: a path, a dask array, an iterator, or a list of 2-d blocks."""
    if isinstance(source, str | os.PathLike | Iterator) or is_dask_array(source):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(_is_matrix(block) for block in source)


def _is_matrix(block: Any) -> bool:
    """Whether this has two dimensions; lists of unequal lengths have none."""
    try:
        return np.ndim(block) == 2
    except ValueError:
        return False


def is_dask_array(source: Any) -> bool:
    """Whether this is a dask array, told without dask."""
    return hasattr(source, "compute") and hasattr(source, "chunks")


def parquet_files(path: str | os.PathLike[str]) -> list[Path]:
    """The Parquet files of a folder by their names, or the one of a path; none where it is something else."""
    place = Path(path)
    if os.path.isdir(place):
        return sorted(inner for inner in place.iterdir() if inner.suffix.lower() == ".parquet")
    return [place] if place.suffix.lower() == ".parquet" else []


def parquet_lengths(files: Iterable[Path]) -> list[int]:
    """Rows of each file, from their ends alone."""
    return [int(open_parquet(path).metadata.num_rows) for path in files]


def read_parquet_rows(files: Iterable[Path], lengths: Iterable[int], low: int, high: int) -> np.ndarray:
    """Rows low .. high - 1 of several files in a row; only row groups that hold some of them are read."""
    pieces, first = [], 0
    for path, length in zip(files, lengths, strict=True):
        if first < high and first + length > low:
            start, stop = max(low - first, 0), min(high - first, length)
            pieces.append(_parquet_range(path, start, stop))
        first += length
    return np.concatenate(pieces)


def _parquet_range(path: Path, low: int, high: int) -> np.ndarray:
    opened, first, pieces = open_parquet(path), 0, []
    for number in range(opened.metadata.num_row_groups):
        length = int(opened.metadata.row_group(number).num_rows)
        if first < high and first + length > low:
            with parquet_errors(path):
                group = opened.read_row_group(number).combine_chunks()
            columns = [
                _number_values(column.chunk(0), f"{path}, column {name!r}")
                for name, column in zip(group.schema.names, group.columns, strict=True)
            ]
            pieces.append(np.column_stack(columns)[max(low - first, 0) : high - first])
        first += length
    return np.concatenate(pieces)


def gather_blocks(source: Any) -> np.ndarray:
    """All rows as one float64 array (n, d); a float64 array comes back as it is, blocks are copied once."""
    if isinstance(source, Table):
        return source.values
    if isinstance(source, np.ndarray) and not isinstance(source, np.memmap):
        return _as_block(source, 0)
    blocks = iterate_row_blocks(source)
    first = next(blocks, None)
    if first is None:
        raise InvalidTableError("the source of rows is empty; at least one block is needed.")
    rows = np.empty((known_length(source) or 2 * len(first), first.shape[1]))
    n_rows = 0
    while first is not None:
        if n_rows + len(first) > len(rows):
            # realloc: pages not yet written cost no memory, so doubling is no second copy
            rows.resize((2 * (n_rows + len(first)), rows.shape[1]), refcheck=False)
        rows[n_rows : n_rows + len(first)] = first
        n_rows += len(first)
        first = next(blocks, None)
    rows.resize((n_rows, rows.shape[1]), refcheck=False)
    return rows


def known_length(source: Any) -> int | None:
    """Number of rows of a source that knows it without being read, else None."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        files = parquet_files(path)
        if files:
            return sum(parquet_lengths(files))
        return len(map_npy(path)) if path.suffix.lower() == ".npy" else None
    if hasattr(source, "shape"):
        return int(source.shape[0])
    if isinstance(source, list | tuple):
        return sum(len(block) for block in source)
    return None


def _raw_blocks(source: Any, block_rows: int) -> Iterable[Any]:
    if isinstance(source, str | os.PathLike):
        return _file_blocks(Path(source), block_rows)
    if is_frame(source):
        source = table_from_frame(source)
    if isinstance(source, Table):
        source = source.values
    if is_dask_array(source):
        return _chunks(source)
    if hasattr(source, "shape"):
        return _slices(source, block_rows)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return source
    raise InvalidTableError(
        f"rows come from an array, a file or an iterable of 2-d blocks, got {type(source).__name__}."
    )


def _file_blocks(path: Path, block_rows: int) -> Iterable[Any]:
    if path.suffix.lower() == ".npy":
        return _slices(map_npy(path), block_rows)
    files = parquet_files(path)
    if files:
        return itertools.chain.from_iterable(_parquet_blocks(file, block_rows) for file in files)
    if os.path.isdir(path):
        raise InvalidFileError(f"{path} is a folder without .parquet files.", path=path)
    return _slices(read_table(path).values, block_rows)


def _parquet_blocks(path: Path, block_rows: int) -> Iterator[np.ndarray]:
    batches = open_parquet(path).iter_batches(batch_size=block_rows)
    while True:
        with parquet_errors(path):
            batch = next(batches, None)
        if batch is None:
            return
        columns = [
            _number_values(column, f"{path}, column {name!r}")
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield np.column_stack(columns)


def _number_values(column: Any, where: str) -> np.ndarray:
    import pyarrow as pa

    typed = arrow_column(pa.chunked_array([column]), where)
    if typed.kind == "category":
        # Codes are known only after the last block, so blocks hold numbers.
        raise InvalidTableError(f"{where} holds texts; blocks of rows must be numbers. Drop the column.")
    return typed.values


def _slices(array: Any, block_rows: int) -> Iterator[Any]:
    if array.ndim != 2:
        raise InvalidTableError(f"rows and columns are needed, got an array of {array.ndim} dimension(s).")
    for start in range(0, array.shape[0], block_rows):
        yield array[start : start + block_rows]


def _chunks(array: Any) -> Iterator[np.ndarray]:
    start = 0
    for size in array.chunks[0]:
        yield np.asarray(array[start : start + size].compute())
        start += size


def _as_block(block: Any, number: int) -> np.ndarray:
    array = np.asarray(unmasked(block))
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InvalidTableError(
            f"block {number} must be a 2-d array of numbers, got {array.ndim} dimension(s) of {array.dtype}.",
            block=number,
        )
    return np.ascontiguousarray(array, dtype=np.float64)

"""One .npy array from untrusted bytes: the header is checked before anything is allocated."""

import io
import math
import os
import sys
import tokenize
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError

NUMBER_KINDS = "biuf"
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def array_from_npy(content: bytes, where: str) -> np.ndarray:
    """The array of booleans, integers or floats in `content`; never unpickles."""
    stream = io.BytesIO(content)
    shape, is_fortran, dtype = _read_header(stream, where)
    start = stream.tell()
    _check_header(shape, dtype, len(content) - start, where)
    flat = np.frombuffer(content, dtype=dtype, offset=start)
    return flat.reshape(shape, order="F" if is_fortran else "C").copy(order="C")


def map_npy(path: Path) -> np.ndarray:
    """The array in a .npy file, mapped into memory rather than read."""
    try:
        with open(path, "rb") as stream:
            shape, is_fortran, dtype = _read_header(stream, str(path))
            start = stream.tell()
            _check_header(shape, dtype, os.fstat(stream.fileno()).st_size - start, str(path))
    except OSError as error:
        raise InvalidFileError(f"cannot read {path}: {error.strerror}.", path=path) from error
    if math.prod(shape) == 0:  # the system refuses to map nothing
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", start, shape, "F" if is_fortran else "C")


def _check_header(shape: tuple[int, ...], dtype: np.dtype[Any], n_bytes: int, where: str) -> None:
    if dtype.kind not in NUMBER_KINDS or dtype.hasobject:
        raise InvalidFileError(f"{where} holds {dtype}; only booleans, integers and floats are read.")
    # with a zero in the shape, no number of bytes tells that the other sizes are beyond what an array can have
    if any(size < 0 for size in shape) or math.prod(max(size, 1) for size in shape) * dtype.itemsize > sys.maxsize:
        raise InvalidFileError(f"{where} promises the impossible shape {shape}; it is damaged.")
    if math.prod(shape) * dtype.itemsize != n_bytes:
        raise InvalidFileError(f"{where} promises shape {shape} of {dtype} but holds {n_bytes} bytes: damaged.")


def _read_header(stream: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        shape, is_fortran, dtype = _HEADER_READERS[np.lib.format.read_magic(stream)](stream)
    except (
        ValueError,
        KeyError,
        TypeError,
        SyntaxError,
        RecursionError,
        MemoryError,
        tokenize.TokenError,
    ) as error:
        raise InvalidFileError(f"{where} has no valid .npy header; it is damaged or of another kind.") from error
    return shape, is_fortran, dtype

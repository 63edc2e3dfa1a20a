"""Records of a chain's log as bytes, and back with every size checked.

    LAYOUT    JSON: names, types and numbers of dimensions of a draw's arrays; names of its scalars
    DRAW      number u64; bytes per element of each array u8; all dimensions u32; scalars f64; then the arrays' bytes
    STATE     length u32; JSON: sweep, generator, counts, names, types and shapes of arrays; then the arrays' bytes

Numbers are little-endian, arrays in C order. Integers of draws take as few bytes as hold them where none is negative:
labels of 10,000 items in fewer than 128 clusters take 10 kB, not 80.
"""

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.inference.chain import Checkpoint, Draw
from bayesgrove.inference.trace import other_names

LAYOUT, DRAW, STATE = 1, 2, 3
_TYPES = "biuf"
_LENGTH = struct.Struct("<I")
_WORTH_NARROWING = 32
_UNSIGNED = {width: np.dtype(f"u{width}") for width in (2, 4, 8)}
_NARROWER = {
    np.dtype(f"{sign}{width}"): [
        (int(np.iinfo(f"{sign}{less}").max), np.dtype(f"{sign}{less}")) for less in (1, 2, 4) if less < width
    ]
    for sign in "iu"
    for width in (2, 4, 8)
}


class DrawFormat:
    """How the draws of one log are laid out.

    Parameters
    ----------
    columns : tuple of (name, type, number of dimensions)
        Types as numpy writes them, such as "<i8".
    scalar_names : tuple of str
        In the order of storage.
    """

    def __init__(self, columns: tuple[tuple[str, str, int], ...], scalar_names: tuple[str, ...]) -> None:
        self.columns = columns
        self.scalar_names = scalar_names
        self._names = tuple(name for name, _, _ in columns)
        self._types = [np.dtype(kind) for _, kind, _ in columns]
        self._n_dimensions = [n for _, _, n in columns]
        self._start = struct.Struct(f"<Q{len(columns)}B{sum(self._n_dimensions)}I{len(scalar_names)}d")

    @classmethod
    def of(cls, draw: Draw) -> "DrawFormat":
        """The layout of a first draw."""
        arrays = {name: np.asarray(values) for name, values in draw.arrays.items()}
        columns = tuple((name, type_text(name, values), values.ndim) for name, values in arrays.items())
        return cls(columns, tuple(draw.scalars))

    def to_bytes(self) -> bytes:
        """Payload of a LAYOUT record."""
        return json.dumps({"arrays": self.columns, "scalars": self.scalar_names}).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "DrawFormat":
        """What `to_bytes` gave."""
        try:
            document = json.loads(payload)
            columns = tuple((str(name), str(kind), int(n)) for name, kind, n in document["arrays"])
            if not all(_is_plain(kind) and 0 <= n <= 32 for _, kind, n in columns):
                raise ValueError("a type or number of dimensions that cannot be")
            return cls(columns, tuple(str(name) for name in document["scalars"]))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InvalidFileError(f"the layout of draws cannot be read: {error}.") from error

    def encode(self, draw: Draw) -> bytes:
        """Payload of a DRAW record."""
        number, arrays, scalars = draw
        if tuple(arrays) != self._names or tuple(scalars) != self.scalar_names:
            raise other_names(number, (*self._names, *self.scalar_names), (*arrays, *scalars))
        widths: list[int] = []
        dimensions: tuple[int, ...] = ()
        parts = [b""]
        for values, kind, n in zip(arrays.values(), self._types, self._n_dimensions, strict=True):
            if values.dtype != kind or values.ndim != n:
                raise InvalidSettingError(
                    f"all draws of a run have the same types and numbers of dimensions: draw {number} has an array of "
                    f"{values.ndim} dimensions of {values.dtype} where {n} of {kind} are expected."
                )
            stored = _narrowed(values) if values.size >= _WORTH_NARROWING and kind in _NARROWER else values
            widths.append(stored.itemsize)
            dimensions += values.shape
            parts.append(stored.tobytes())
        parts[0] = self._start.pack(number, *widths, *dimensions, *scalars.values())
        return b"".join(parts)

    def number(self, payload: bytes) -> int:
        """Which draw a DRAW record holds."""
        if len(payload) < self._start.size:
            raise InvalidFileError("a draw's record is too short; the log is damaged.")
        return int.from_bytes(payload[:8], "little")

    def decode(self, payload: bytes) -> Draw:
        """The draw of a DRAW record; its arrays may be read-only views of the payload."""
        number = self.number(payload)
        numbers = self._start.unpack_from(payload)[1:]
        first, second = len(self.columns), len(self.columns) + sum(self._n_dimensions)
        types = [_stored_type(kind, width) for kind, width in zip(self._types, numbers[:first], strict=True)]
        shapes, taken = [], first
        for n in self._n_dimensions:
            shapes.append(numbers[taken : taken + n])
            taken += n
        arrays = _split(payload, self._start.size, self._names, types, shapes)
        whole = {
            name: arrays[name].astype(kind, copy=False) for name, kind in zip(self._names, self._types, strict=True)
        }
        return Draw(number, whole, dict(zip(self.scalar_names, numbers[second:], strict=True)))


def _narrowed(values: np.ndarray) -> np.ndarray:
    """The same numbers in fewer bytes where none is negative, which read as unsigned would be huge."""
    largest = int(np.maximum.reduce(values.view(_UNSIGNED[values.itemsize]), axis=None))
    for most, kind in _NARROWER[values.dtype]:
        if largest <= most:
            return values.astype(kind)
    return values


def _stored_type(kind: np.dtype[Any], width: int) -> np.dtype[Any]:
    if width == kind.itemsize:
        return kind
    for _, narrower in _NARROWER.get(kind, ()):
        if narrower.itemsize == width:
            return narrower
    raise InvalidFileError(f"a draw's record has {width} bytes per element where {kind} is kept; the log is damaged.")


def encode_state(checkpoint: Checkpoint) -> bytes:
    """Payload of a STATE record."""
    arrays = checkpoint.arrays
    head = json.dumps(
        {
            "sweep": checkpoint.sweep,
            "rng": checkpoint.rng,
            "counts": checkpoint.counts,
            "arrays": [[name, type_text(name, values), values.shape] for name, values in arrays.items()],
        },
    ).encode()
    return b"".join((_LENGTH.pack(len(head)), head, *(values.tobytes() for values in arrays.values())))


def decode_state(payload: bytes) -> Checkpoint:
    """What `encode_state` was given; the arrays can be written to."""
    try:
        (length,) = _LENGTH.unpack_from(payload)
        document = json.loads(payload[_LENGTH.size : _LENGTH.size + length])
        columns: list[tuple[str, str, list[int]]] = document["arrays"]
        if not all(_is_plain(kind) for _, kind, _ in columns):
            raise ValueError("a type that cannot be")
        names, kinds, shapes = zip(*columns, strict=True) if columns else ((), (), ())
        types = [np.dtype(kind) for kind in kinds]
        arrays = _split(payload, _LENGTH.size + length, names, types, [tuple(shape) for shape in shapes])
        copies = {name: values.copy() for name, values in arrays.items()}
        return Checkpoint(int(document["sweep"]), copies, document["rng"], document["counts"])
    except (ValueError, TypeError, KeyError, RecursionError, struct.error) as error:
        raise InvalidFileError(f"a state's record cannot be read: {error}.") from error


def type_text(name: str, values: np.ndarray) -> str:
    """The array's type as little-endian text; kinds that raw bytes cannot hold are refused."""
    if values.dtype.kind not in _TYPES or not values.dtype.isnative:
        raise InvalidSettingError(
            f"what a run stores are booleans, integers and floats in the machine's order; {name} is {values.dtype}."
        )
    return str(values.dtype.newbyteorder("<").str)


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, str) and len(kind) <= 4 and kind[:1] in "<|" and np.dtype(kind).kind in _TYPES


def _split(
    payload: bytes, start: int, names: tuple[str, ...], types: list[np.dtype[Any]], shapes: list[tuple[int, ...]]
) -> Mapping[str, np.ndarray]:
    """Arrays that lie one behind the other and fill the payload to its end."""
    sizes = [math.prod(shape) * kind.itemsize for shape, kind in zip(shapes, types, strict=True)]
    if min((n for shape in shapes for n in shape), default=0) < 0 or start + sum(sizes) != len(payload):
        raise InvalidFileError("the arrays of a record do not fill it; the log is damaged.")
    arrays = {}
    for name, kind, shape, size in zip(names, types, shapes, sizes, strict=True):
        arrays[name] = np.frombuffer(payload, kind, math.prod(shape), start).reshape(shape)
        start += size
    return arrays

"""What model files hold, declared: fields with their kinds and checks, one writer, one reader that checks all it reads.

A layout is a tuple of fields, checks and optional parts. The writer takes values from a fitted estimator; the reader
gives them back by name, in the order of the layout, so that each entry may rely on those before it. Lengths of arrays
have names: the first array of a file that has one fixes it, all others must agree. Nothing is computed from a value
before its type, shape and range were checked.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.trees import Tree

UNFIT, NOT_FINITE = "arrays do not fit together", "a number is not finite"
TREE_ARRAYS = ("parent", "item", "height")
Dim = str | int
"""A length, or a name of one such as "draws" or "draws+1"."""


class Parts(NamedTuple):
    """What a file holds: a document in JSON's types, and arrays."""

    document: dict[str, Any]
    arrays: dict[str, np.ndarray]


@dataclass
class Reading:
    """A file that is being read, by an estimator that has its settings and nothing else."""

    parts: Parts
    model: Any
    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def has(self, name: str) -> bool:
        """Whether the file holds this."""
        return name in self.parts.document or name in self.parts.arrays

    def length(self, dim: Dim, found: int | None = None) -> int:
        """The length that a name stands for; one that is new gets the length found."""
        if isinstance(dim, int):
            return dim
        name, _, more = dim.partition("+")
        if found is not None:
            self.sizes.setdefault(name, found - int(more or 0))
        return self.sizes[name] + int(more or 0)

    def fits(self, shape: tuple[int, ...], dims: tuple[Dim, ...]) -> bool:
        """Whether lengths agree with the names they have."""
        return len(shape) == len(dims) and all(
            self.length(dim, found) == found for dim, found in zip(dims, shape, strict=True)
        )


class Kind(NamedTuple):
    """How a value is written under a name, and how it is read and checked."""

    write: Callable[[str, Any], Parts]
    read: Callable[[str, Reading], Any]


class Field(NamedTuple):
    """One value of a fitted estimator."""

    name: str
    kind: Kind
    source: str | Callable[[Any], Any]
    """Attribute that has it, and gets it back unless there is a dot in it; or a function of the estimator."""

    def value_of(self, model: Any) -> Any:
        """The value to write."""
        return self.source(model) if callable(self.source) else operator.attrgetter(self.source)(model)


class Check(NamedTuple):
    """What must hold of values read so far."""

    words: str
    holds: Callable[[Reading], Any]


class Size(NamedTuple):
    """A length that follows from values read so far."""

    name: str
    of: Callable[[Reading], int]


class Part(NamedTuple):
    """Entries that not every file has."""

    key: str | Callable[[Reading], Any]
    """What tells that a file has them: a name it then holds, or a function of what was read so far."""
    is_in: Callable[[Any], Any]
    """Whether an estimator has them."""
    entries: "Layout"


Layout = tuple[Field | Check | Size | Part, ...]


def write_parts(layout: Layout, model: Any) -> Parts:
    """What a layout says of a fitted estimator."""
    parts = Parts({}, {})
    for entry in layout:
        if isinstance(entry, Field):
            add(parts, entry.kind.write(entry.name, entry.value_of(model)))
        elif isinstance(entry, Part) and entry.is_in(model):
            add(parts, write_parts(entry.entries, model))
    return parts


def read_parts(layout: Layout, reading: Reading) -> dict[str, Any]:
    """Values by name into the reading, in order, each checked; those that are attributes of the estimator come back."""
    attributes: dict[str, Any] = {}
    for entry in layout:
        if isinstance(entry, Check):
            require(entry.holds(reading), entry.words)
        elif isinstance(entry, Size):
            reading.sizes[entry.name] = entry.of(reading)
        elif isinstance(entry, Part):
            if entry.key(reading) if callable(entry.key) else reading.has(entry.key):
                attributes |= read_parts(entry.entries, reading)
        else:
            reading.values[entry.name] = entry.kind.read(entry.name, reading)
            if isinstance(entry.source, str) and "." not in entry.source:
                attributes[entry.source] = reading.values[entry.name]
    return attributes


def add(parts: Parts, more: Parts) -> None:
    """More parts of the same file."""
    parts.document.update(more.document)
    parts.arrays.update(more.arrays)


def require(holds: Any, words: str) -> None:
    """Refuse what would make a kernel read out of bounds, or an answer that is no number."""
    if not holds:
        raise InvalidFileError(words)


# ---- values in the document


def json_value(made_of: Callable[[Any], Any], plain: Callable[[Any], Any] = lambda value: value) -> Kind:
    """A value in JSON's types: what makes it of what is plain, and what makes it plain."""
    return Kind(
        lambda name, value: Parts({name: plain(value)}, {}),
        lambda name, reading: made_of(reading.parts.document[name]),
    )


def to_hex(value: Any) -> str:
    """All bits of a number."""
    return float(value).hex()


WHOLE, FLAG, TEXT = json_value(int, int), json_value(bool, bool), json_value(str)
NUMBER = json_value(float.fromhex, to_hex)
NUMBERS = json_value(lambda given: tuple(float.fromhex(n) for n in given), lambda given: [to_hex(n) for n in given])
NAMED_NUMBERS = json_value(
    lambda given: {str(name): float.fromhex(value) for name, value in given.items()},
    lambda given: {name: to_hex(value) for name, value in given.items()},
)
TEXTS = json_value(lambda given: tuple(str(text) for text in given), list)
PERHAPS_TEXTS = json_value(
    lambda given: None if given is None else tuple(str(text) for text in given),
    lambda given: None if given is None else list(given),
)
COUNTS = json_value(
    lambda given: {str(move): {str(name): int(n) for name, n in own.items()} for move, own in given.items()}
)
"""By move and name."""


# ---- arrays


def write_array(name: str, value: Any) -> Parts:
    """An array by itself."""
    return Parts({}, {name: np.asarray(value)})


def array(
    dtype: Any,
    *dims: Dim,
    words: str = UNFIT,
    below: str = "",
    least: float = -np.inf,
    out_of_range: str = "",
    finite: bool = True,
) -> Kind:
    """An array of a type, a shape, and numbers in a range.

    Parameters
    ----------
    dtype : type or str
        Exactly this; a string of numpy's kinds, such as "iu", for any of them.
    *dims : str or int
        The shape.
    words : str
        What is said of another type or shape.
    below : str
        Name of the length that whole numbers from 0 on stay below.
    least : float
        The smallest number allowed.
    out_of_range : str
        What is said of others.
    finite : bool
        Whether infinite numbers and NaN are refused.
    """

    def read(name: str, reading: Reading) -> np.ndarray:
        found = reading.parts.arrays[name]
        is_typed = found.dtype.kind in dtype if isinstance(dtype, str) else found.dtype == dtype
        require(is_typed and reading.fits(found.shape, dims), words)
        require(not finite or np.isfinite(found).all(), NOT_FINITE)
        is_outside = (found < (0 if below else least)).any() or (below and (found >= reading.length(below)).any())
        require(not is_outside, out_of_range or words)
        return np.ascontiguousarray(found)

    return Kind(write_array, read)


def floats(*dims: Dim, words: str = UNFIT, finite: bool = True) -> Kind:
    """Numbers."""
    return array(np.float64, *dims, words=words, finite=finite)


def probabilities(*dims: Dim) -> Kind:
    """Numbers that are not negative."""
    return array(np.float64, *dims, least=0.0, out_of_range="a probability is negative")


def starts(groups: str, members: str, *, may_be_empty: bool = False, words: str = "") -> Kind:
    """Where the members of each group begin, one group after another, and where the last one ends."""

    def read(name: str, reading: Reading) -> np.ndarray:
        found: np.ndarray = array(np.int64, f"{groups}+1").read(name, reading)
        rises = found.size > 0 and found[0] == 0 and np.all(np.diff(found) >= (0 if may_be_empty else 1))
        require(rises, words or f"{name.partition('_')[2]} does not rise from 0")
        require(reading.fits((int(found[-1]),), (members,)), f"{name} does not end at the {members}")
        return found

    return Kind(write_array, read)


def label_array(dim: str, words: str, gap: str) -> Kind:
    """Clusters 0, 1, ... of some items, each of which is used."""

    def read(name: str, reading: Reading) -> np.ndarray:
        found: np.ndarray = array(np.int64, dim, words=words).read(name, reading)
        used = np.unique(found)  # needs no more memory than the labels do, however large one is
        require(used.size and int(used[0]) == 0 and int(used[-1]) == used.size - 1, gap)
        return found

    return Kind(write_array, read)


def shares(groups: str, clusters: str) -> Kind:
    """For each of some groups, the parts of it that clusters have; they sum to 1."""

    def read(name: str, reading: Reading) -> np.ndarray:
        found: np.ndarray = floats(groups, clusters).read(name, reading)
        require(np.allclose(found.sum(axis=1), 1.0) and found.min(initial=0.0) >= 0.0, "shares do not sum to 1")
        return found

    return Kind(write_array, read)


# ---- several values in one


def record(make: Callable[..., Any], prefix: str, fields: Mapping[str, Kind], numbers: Sequence[str] = ()) -> Kind:
    """A NamedTuple: its arrays behind a prefix, single numbers under their own names."""
    kinds = {name: (f"{prefix}{name}", kind) for name, kind in fields.items()}
    kinds |= {name: (name, NUMBER) for name in numbers}

    def write(_: str, value: Any) -> Parts:
        parts = Parts({}, {})
        for own, (place, kind) in kinds.items():
            add(parts, kind.write(place, getattr(value, own)))
        return parts

    return Kind(write, lambda _, reading: make(**{own: kind.read(at, reading) for own, (at, kind) in kinds.items()}))


def tree_table(
    prefix: str,
    leaves: Dim,
    *,
    columns: Mapping[str, str] | None = None,
    needs: tuple[str, ...] = ("log_merge_odds",),
    leaf_labels: str = "",
    make: Callable[..., Tree] = Tree,
    words: str = "the tree does not fit",
) -> Kind:
    """A tree: its own constructor checks every invariant.

    Parameters
    ----------
    prefix : str
        Of its arrays.
    leaves : str or int
        How many there are.
    columns : mapping, optional
        Names of columns in the file and in the tree; by default all that are there, behind "column_".
    needs : tuple of str
        Columns of the tree that must be there.
    leaf_labels : str
        Name in the document of the names of the leaves, if there are any.
    make : type
        Of the tree.
    words : str
        What is said of another number of leaves.
    """
    start = f"{prefix}column_"

    def write(_: str, tree: Tree) -> Parts:
        own = {f"column_{column}": column for column in tree.columns} if columns is None else columns
        arrays = {f"{prefix}{part}": getattr(tree, part) for part in TREE_ARRAYS}
        arrays |= {f"{prefix}{place}": tree.columns[column] for place, column in own.items()}
        names = None if tree.leaf_labels is None else list(tree.leaf_labels)
        return Parts({leaf_labels: names} if leaf_labels else {}, arrays)

    def read(_: str, reading: Reading) -> Tree:
        arrays = reading.parts.arrays
        found = [place.removeprefix(start) for place in arrays if place.startswith(start)]
        own = columns or {f"column_{column}": column for column in found}
        values = {column: arrays[f"{prefix}{place}"] for place, column in own.items()}
        names = PERHAPS_TEXTS.read(leaf_labels, reading) if leaf_labels else None
        tree = make(*(arrays[f"{prefix}{part}"] for part in TREE_ARRAYS), values, names)
        require(set(needs) <= set(values), "the tree lacks a column")
        require(not any(np.isnan(column).any() for column in values.values()), "a column of the tree has no number")
        require(reading.fits((tree.n_leaves,), (leaves,)), words)
        return tree

    return Kind(write, read)


def scalar_arrays(needs: Callable[[Reading], Sequence[str]]) -> Kind:
    """Numbers of each draw by name, their arrays by number: names such as log_factor_bernoulli.a are none of arrays."""

    def write(name: str, value: Mapping[str, np.ndarray]) -> Parts:
        return Parts({name: list(value)}, {f"scalar_{k}": part for k, part in enumerate(value.values())})

    def read(name: str, reading: Reading) -> dict[str, np.ndarray]:
        names, each = [str(own) for own in reading.parts.document[name]], floats("chains", "draws")
        found = {own: each.read(f"scalar_{k}", reading) for k, own in enumerate(names)}
        require(found.keys() >= set(needs(reading)), "scalars are missing")
        return found

    return Kind(write, read)

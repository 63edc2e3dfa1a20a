"""Draws in memory: one growing array for each name."""

import copy
from array import array
from typing import Self

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, RunStoppedError
from bayesgrove.inference.chain import Checkpoint, Draw

FIRST_CAPACITY = 1024


class Column:
    """All draws of one array: stacked while shapes are equal, a list of arrays once they are not."""

    def __init__(self, first: np.ndarray, expected: int) -> None:
        self.expected = expected
        self._stack = np.empty((min(expected, FIRST_CAPACITY), *first.shape), first.dtype)
        self._list: list[np.ndarray] | None = None

    def put(self, number: int, values: np.ndarray) -> None:
        """Set the next draw."""
        if values.dtype != self._stack.dtype:
            raise InvalidSettingError(
                f"a draw keeps its type, {self._stack.dtype}, got {values.dtype} in draw {number}; "
                "the sampler's draw() must give the same types each time."
            )
        if self._list is None and values.shape != self._stack.shape[1:]:
            self._list = [row.copy() for row in self._stack[:number]]
        if self._list is not None:
            self._list.append(values.copy())
            return
        if number == len(self._stack):
            self._grow()
        self._stack[number] = values

    def _grow(self) -> None:
        """Double, but not beyond what was asked for."""
        size = len(self._stack)
        larger = np.empty((max(size + 1, min(2 * size, self.expected)), *self._stack.shape[1:]), self._stack.dtype)
        larger[:size] = self._stack
        self._stack = larger

    def __getitem__(self, number: int) -> np.ndarray:
        return np.asarray(self._stack[number] if self._list is None else self._list[number])

    def first(self, n_draws: int) -> np.ndarray:
        """Array (draw, ...), or (draw,) of arrays where their shapes vary."""
        if self._list is None:
            return self._stack[:n_draws]
        rows = np.empty(n_draws, object)
        for number in range(n_draws):
            rows[number] = self._list[number]
        return rows


class MemoryTrace:
    """Draws and scalars by name, and the latest checkpoint.

    Parameters
    ----------
    expected : int
        Draws that will come; more or fewer may.
    """

    def __init__(self, expected: int) -> None:
        self.n_draws = 0
        self.checkpoint: Checkpoint | None = None
        self._expected = max(1, expected)
        self._columns: dict[str, Column] = {}
        self._scalar_names: tuple[str, ...] = ()
        self._scalars = array("d")

    def append(self, draw: Draw) -> None:
        """Keep a copy of a draw; one that is there already must be equal."""
        number, arrays, scalars = draw
        if number == 0 and not self.n_draws:
            self._columns = {name: Column(np.asarray(values), self._expected) for name, values in arrays.items()}
            self._scalar_names = tuple(scalars)
        if arrays.keys() != self._columns.keys() or tuple(scalars) != self._scalar_names:
            raise other_names(number, (*self._columns, *self._scalar_names), (*arrays, *scalars))
        if number < self.n_draws:
            self._compare(draw)
            return
        for name, values in arrays.items():
            self._columns[name].put(number, np.asarray(values))
        self._scalars.extend(scalars.values())
        self.n_draws = number + 1

    def _compare(self, draw: Draw) -> None:
        width = len(self._scalar_names)
        ours = self._scalars[draw.number * width : (draw.number + 1) * width]
        same = ours.tobytes() == array("d", draw.scalars.values()).tobytes()
        for name, values in draw.arrays.items():
            kept, new = self._columns[name][draw.number], np.asarray(values)
            same = same and kept.shape == new.shape and kept.tobytes() == new.tobytes()
        if not same:
            raise other_draw(draw.number)

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep where the chain can go on from."""
        self.checkpoint = checkpoint

    def close(self) -> None:
        """Nothing to do: what is in memory needs no closing."""

    def arrays(self, n_draws: int | None = None) -> dict[str, np.ndarray]:
        """The first draws: array (draw, ...) by name."""
        n_draws = self.n_draws if n_draws is None else min(n_draws, self.n_draws)
        return {name: column.first(n_draws) for name, column in self._columns.items()}

    def scalars(self, n_draws: int | None = None) -> dict[str, np.ndarray]:
        """The first draws' scalars: float array (draw,) by name."""
        n_draws = self.n_draws if n_draws is None else min(n_draws, self.n_draws)
        width = len(self._scalar_names)
        table = np.array(self._scalars[: n_draws * width], float).reshape(n_draws, width)
        return {name: np.ascontiguousarray(table[:, column]) for column, name in enumerate(self._scalar_names)}

    def copy(self, expected: int) -> Self:
        """The same draws in arrays of their own, with room for as many as are expected."""
        other = copy.deepcopy(self)
        for column in other._columns.values():
            column.expected = expected
        return other


def other_names(number: int, expected: tuple[str, ...], got: tuple[str, ...]) -> InvalidSettingError:
    """The error for a sampler that names things otherwise than before."""
    return InvalidSettingError(
        f"all draws of a run have the same names, here {', '.join(expected)}; draw {number} has {', '.join(got)}. "
        "The sampler's draw() and scalars() must give the same names, in the same order, each time."
    )


def other_draw(number: int, place: object = "memory") -> RunStoppedError:
    """The error for a draw that, made again, differs from the stored one."""
    return RunStoppedError(
        f"draw {number} in {place}, made again to go on from there, came out differently: the run was made by another "
        "version or on another kind of machine. Nothing was overwritten. Go on where it was made, or start a new run.",
        number=number,
    )

"""Draws of any sampler in the form they are compared in, read from CSV or NPZ files."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posteriors.codes import DIGITS

CHAIN, STATE = "chain", "state"


class Draws(NamedTuple):
    """Partitions and numbers by name, each draw of each chain."""

    partitions: dict[str, np.ndarray]
    """Labels of any kind, (n_chains, n_draws, n_items)."""
    scalars: dict[str, np.ndarray]
    """(n_chains, n_draws)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws of each."""
        first = next(iter(self.partitions.values()))
        return first.shape[0], first.shape[1]


def read_draws(path: Path, document: Mapping[str, Any]) -> Draws:
    """Draws of the document's partitions from a file.

    A CSV file has one draw per line: a column "state" with labels of the document's partitions in their order, one
    character per item or labels with blanks between, "|" between partitions; optionally "chain" and columns of numbers.
    An NPZ file has an array (chains, draws, items), or (draws, items), for every partition, under its name, and arrays
    (chains, draws) of numbers.
    """
    found = _read_npz(path, document) if path.suffix == ".npz" else _read_csv(path, document)
    check(found, document)
    return found


def check(draws: Draws, document: Mapping[str, Any]) -> None:
    """Refuse draws that are not of this problem."""
    shapes = {array.shape[:2] for array in (*draws.partitions.values(), *draws.scalars.values())}
    if len(shapes) != 1:
        raise ValueError(f"all arrays have the same chains and draws, got {sorted(shapes)}.")
    for name in document["partitions"]:
        wanted, items = n_items(document, name), draws.partitions[name].shape[2]
        if items != wanted:
            raise ValueError(f"{name!r} of {document['name']} has {wanted} items, the draws have {items}.")


def n_items(document: Mapping[str, Any], name: str) -> int:
    """How many items a partition is of."""
    return len(document["quantities"]["together"][name]["value"])


def _read_npz(path: Path, document: Mapping[str, Any]) -> Draws:
    with np.load(path, allow_pickle=False) as arrays:
        missing = [name for name in document["partitions"] if name not in arrays]
        if missing:
            raise ValueError(
                f"an NPZ file has an array for each of {list(document['partitions'])}, got {sorted(arrays)}. "
                f"Add {', '.join(missing)}."
            )
        partitions = {name: arrays[name] for name in document["partitions"]}
        scalars = {
            name: np.atleast_2d(arrays[name]) for name in arrays if name in document["quantities"]["expectations"]
        }
    return Draws({name: labels[None] if labels.ndim == 2 else labels for name, labels in partitions.items()}, scalars)


def _read_csv(path: Path, document: Mapping[str, Any]) -> Draws:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or STATE not in rows[0]:
        raise ValueError(f"a CSV file of draws has a column {STATE!r} and at least one line, {path.name} has not.")
    names = list(document["partitions"])
    chains: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        chains.setdefault(row.get(CHAIN) or "", []).append(row)
    if len({len(own) for own in chains.values()}) != 1:
        raise ValueError(f"all chains have as many draws, got {[len(own) for own in chains.values()]}.")
    states = [[_split(row[STATE], len(names)) for row in own] for own in chains.values()]
    partitions = {name: np.array([[state[k] for state in own] for own in states]) for k, name in enumerate(names)}
    numbers = [name for name in rows[0] if name in document["quantities"]["expectations"]]
    scalars = {name: np.array([[float(row[name]) for row in own] for own in chains.values()]) for name in numbers}
    return Draws(partitions, scalars)


def _split(state: str, n_partitions: int) -> list[list[int]]:
    """Labels of every partition of a state."""
    parts = state.split("|")
    if len(parts) != n_partitions:
        raise ValueError(f'a state has {n_partitions} partitions with "|" between them, got {state!r}.')
    return [
        [int(x) for x in part.split()] if " " in part.strip() else [DIGITS.index(x) for x in part] for part in parts
    ]

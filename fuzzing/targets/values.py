"""What several targets share: hostile settings, arrays as JSON and back, JSON with some values replaced."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzing.mutations import VALUES

WORK = (
    "n_draws", "n_tune", "n_chains", "n_init", "max_iter", "thin", "n_starts", "n_temperatures", "refine", "polish",
)  # fmt: skip
"""Settings that ask for work: a large one is no fault, it only takes long."""
MOST_WORK = 3
ODD = st.one_of(st.sampled_from(VALUES), st.integers(-3, 5), st.floats(), st.text(max_size=4))
"""Values a setting hardly expects."""


def decoded(content: bytes) -> Any:
    """The JSON of an input; one that is none stands for nothing."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def encoded(document: Any) -> bytes:
    """As an input; numbers beyond JSON's are written as Python does."""
    return json.dumps(document).encode()


def harmless(settings: Any) -> dict[str, Any]:
    """Settings without long work, other processes or places outside the current folder."""
    found = dict(settings) if isinstance(settings, dict) else {}
    for name, value in found.items():
        if name in WORK and isinstance(value, int | float) and value > MOST_WORK:
            found[name] = MOST_WORK
    if isinstance(found.get("n_jobs"), int | float) and found["n_jobs"]:
        found["n_jobs"] = 1
    if isinstance(found.get("run_dir"), str):
        found["run_dir"] = inside(found["run_dir"])
    return found


def inside(name: str) -> str:
    """A name that stays in the current folder."""
    return name.replace("/", "_").replace("..", "__").replace("~", "_")


def plain_array(array: np.ndarray) -> dict[str, Any]:
    """An array in JSON's types."""
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": array.ravel().tolist()}


def array_of(document: Any) -> np.ndarray | None:
    """The array of `plain_array`; None for what is none, which is numpy's to refuse and not ours."""
    try:
        return np.array(document["data"], document["dtype"]).reshape(document["shape"])
    except (TypeError, ValueError, KeyError, OverflowError, MemoryError, SyntaxError):  # the last: of a dtype's name
        return None


def with_changes(seeds: Sequence[bytes]) -> SearchStrategy[bytes]:
    """A seed of JSON with a few of its values replaced by odd ones."""
    changes = st.lists(st.tuples(st.integers(0, 2**30), ODD), min_size=1, max_size=3)
    return st.builds(_changed, st.sampled_from(seeds), changes)


def _changed(seed: bytes, changes: list[tuple[int, Any]]) -> bytes:
    document = json.loads(seed)
    for number, value in changes:
        places = _places(document)
        holder, key = places[number % len(places)]
        holder[key] = copy.deepcopy(value)
    return encoded(document)


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every place in a document that holds a value; of long lists of values the first few."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        held = waiting.pop()
        keys = list(held) if isinstance(held, dict) else range(min(len(held), 4))
        found += [(held, key) for key in keys]
        waiting += [held[key] for key in keys if isinstance(held[key], dict | list)]
    return found or [([None], 0)]

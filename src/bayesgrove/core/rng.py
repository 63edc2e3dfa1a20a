"""Random numbers: Philox generators keyed by a seed and a path, whose state goes through JSON."""

import secrets
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError

SAMPLE_PATH = 0x5A3B
"""Path of the generator of fixed samples."""


def generator(seed: int, *path: int) -> np.random.Generator:
    """A generator that depends on the seed and the path only (a chain's number, a node's place in a tree).

    Steps of the path lie below 2**32: numpy splits larger ones into two, so that (2**32,) would equal (0, 1).

    Examples
    --------
    >>> float(generator(7, 0).random()) == float(generator(7, 0).random())
    True
    >>> float(generator(7, 0).random()) == float(generator(7, 1).random())
    False
    """
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(entropy=seed, spawn_key=path)))


def fixed_sample(n: int, most: int) -> np.ndarray:
    """All of 0 .. n - 1, or `most` of them at random and in order, the same in every call.

    Rows at even distances would miss clusters that recur with a period in a table.

    Examples
    --------
    >>> fixed_sample(3, 10).tolist()
    [0, 1, 2]
    >>> bool((fixed_sample(1000, 50) == fixed_sample(1000, 50)).all())
    True
    """
    return np.arange(n) if n <= most else np.sort(generator(0, SAMPLE_PATH).choice(n, most, replace=False))


def resolve_seed(random_state: Any) -> int:
    """One integer seed from what scikit-learn users pass: None, an integer, a generator."""
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if hasattr(random_state, "randint"):  # the older generators of numpy
        return int(random_state.randint(2**31))
    raise InvalidSettingError(
        f"random_state must be None, a whole number of at least 0 or a generator of numpy, got {random_state!r}."
    )


def state_to_json(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's whole state in JSON's types."""
    return _plain(rng.bit_generator.state)


def state_from_json(state: dict[str, Any]) -> np.random.Generator:
    """A generator that continues exactly where `state_to_json` was taken."""
    rng = generator(0)
    arrays = {name: np.array(state["state"][name], np.uint64) for name in ("counter", "key")}
    rng.bit_generator.state = {**state, "state": arrays, "buffer": np.array(state["buffer"], np.uint64)}
    return rng


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return [int(number) for number in value]
    return value

"""The inputs of a target: drawn by hypothesis from strategies, and mutated from valid ones; all from one seed."""

import json
import zlib
from collections.abc import Iterator, Sequence

import hypothesis
import numpy as np
from hypothesis.strategies import SearchStrategy

from bayesgrove.core.rng import generator
from fuzzing.cases import Case, Target
from fuzzing.mutations import mutated, mutated_json

BATCH, DRAWN = 200, 50
"""Inputs made at a time, and how many of them are drawn by hypothesis, which takes longer than running them."""


def cases_of(target: Target, n_inputs: int, seed: int) -> Iterator[Case]:
    """As many inputs, kinds in turn: a quarter from strategies, the others mutated from seeds and from drawn ones."""
    streams = [_inputs(target, kind, seed) for kind in target.kinds]
    for number in range(n_inputs):
        kind = number % len(streams)
        yield Case(target.name, target.kinds[kind], next(streams[kind]))


def _inputs(target: Target, kind: str, seed: int) -> Iterator[bytes]:
    """Inputs of one kind without end."""
    strategy, seeds = target.structured(kind), list(target.seeds(kind))
    own = zlib.crc32(f"{target.name} {kind}".encode())  # hash() differs between processes
    for batch in range(10**9):
        rng = generator(seed, own, batch)
        found = drawn(strategy, DRAWN, int(rng.integers(2**32)))
        yield from found
        sources = [*seeds, *found[:: 1 + len(found) // 20]]
        for number in range(BATCH - len(found)):
            pool = seeds if seeds and number % 3 else sources
            yield changed(rng, pool[int(rng.integers(len(pool)))], sources)


def changed(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    """A mutation; JSON is changed by values half of the time."""
    if content[:1] in (b"{", b"[") and rng.random() < 0.5 and _is_json(content):
        return mutated_json(rng, content)
    return mutated(rng, content, others)


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def drawn(strategy: SearchStrategy[bytes], n: int, seed: int) -> list[bytes]:
    """About n examples of a strategy, the same for the same seed."""
    found: list[bytes] = []

    @hypothesis.settings(
        max_examples=n,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.seed(seed)
    @hypothesis.given(strategy)
    def collect(content: bytes) -> None:
        found.append(content)

    collect()
    return found

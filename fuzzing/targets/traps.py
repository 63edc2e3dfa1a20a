"""A target whose inputs do what none should: by it the watching itself is tested."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.core.errors import InvalidTableError
from fuzzing.cases import Case, Target

KINDS = ("fine", "refused", "error", "memory", "death", "hang")
MEGABYTES = 300


def attempt(case: Case, folder: Path) -> None:
    """Fall into the trap that the kind names, if the content says so."""
    if b"!" not in case.content:
        return
    if case.kind == "refused":
        raise InvalidTableError("as documented")
    if case.kind == "error":
        raise KeyError("undocumented")
    if case.kind == "memory":
        _ = b"x" * (MEGABYTES * 2**20)  # zeros would be promised, not taken
    if case.kind == "death":
        os._exit(9)
    if case.kind == "hang":
        start = time.process_time()
        while time.process_time() - start < 600:
            pass


def structured(kind: str) -> SearchStrategy[bytes]:
    """Any bytes."""
    return st.binary(max_size=5)


def seeds(kind: str) -> Sequence[bytes]:
    """No trap."""
    return [b"."]


TARGET = Target("traps", KINDS, structured, seeds, attempt)

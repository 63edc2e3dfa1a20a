"""What is fuzzed: targets, and cases, each a few bytes that can be kept in a file and run again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

_HEAD = b"bayesgrove fuzz case: "


class Case(NamedTuple):
    """One input: for which target, of which kind, and its bytes."""

    target: str
    kind: str
    content: bytes

    def to_bytes(self) -> bytes:
        """As it is kept in a file: one line that names it, then the content as it is."""
        return _HEAD + f"{self.target} {self.kind}\n".encode() + self.content


def case_from_bytes(kept: bytes) -> Case:
    """The case that `Case.to_bytes` kept."""
    head, newline, content = kept.partition(b"\n")
    words = head.removeprefix(_HEAD).decode().split()
    if not head.startswith(_HEAD) or not newline or len(words) != 2:
        raise ValueError("this file is no kept case: it begins with 'bayesgrove fuzz case: TARGET KIND'.")
    return Case(words[0], words[1], content)


class Target(NamedTuple):
    """Something that takes input from outside.

    Attributes
    ----------
    kinds
        Forms of input, each with strategies and seeds of its own.
    structured
        Kind -> a strategy of hypothesis for inputs that are nearly well formed, as bytes.
    seeds
        Kind -> valid inputs, which are mutated; every one of them has to be accepted.
    attempt
        Runs a case in an empty folder of its own; returns, or raises what the library raised.
    """

    name: str
    kinds: tuple[str, ...]
    structured: Callable[[str], SearchStrategy[bytes]]
    seeds: Callable[[str], Sequence[bytes]]
    attempt: Callable[[Case, Path], None]

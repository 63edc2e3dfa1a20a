"""Valid inputs made invalid: bytes flipped, cut, doubled and spliced; values of JSON replaced by others."""

import copy
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

LONGEST = 20_000
NUMBERS = (b"-1", b"0", b"1e999", b"NaN", b"-0", b"99999999999999999999", b"2147483648", b"1e-320", b"0.5", b"")
TOKENS = (
    *NUMBERS, b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"(", b")", b"[", b"]", b"{", b"}", b"'", b'"', b",",
    b":", b";", b"\n", b"\r", b"\t", b"<", b"</", b"/>", b"<!--", b"]]>", b"&amp;", b"&#0;", b"null", b"true",
    b"\\u0000", b"\\ud800", b"=", b"../", b"%s", "é".encode(), "\u2028".encode(), b"1_000", b"0x10", b"inf",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, 1e-320, float("nan"),
    float("inf"), "", "a", "0", "nan", "\x00", "\ud800", "../x", "auto", [], {}, [[]], [0], [1, 2], {"a": 1}, [None],
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+\.?\d*")


def mutated(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    """A few random changes of a valid input; `others` lend pieces."""
    for _ in range(int(rng.geometric(0.5))):
        change = _CHANGES[int(rng.integers(len(_CHANGES)))]
        content = change(rng, content, others)
    return content[:LONGEST]


def _place(rng: np.random.Generator, content: bytes) -> int:
    return int(rng.integers(len(content) + 1))


def _piece(rng: np.random.Generator, content: bytes) -> tuple[int, int]:
    start = _place(rng, content)
    return start, min(len(content), start + int(rng.geometric(0.1)))


def _flip(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    if not content:
        return content
    damaged = bytearray(content)
    damaged[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _cut_out(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _piece(rng, content)
    return content[:start] + content[end:]


def _double(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _piece(rng, content)
    return content[:end] + content[start:end] * int(rng.geometric(0.2)) + content[end:]


def _truncate(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    return content[: _place(rng, content)]


def _insert(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    at = _place(rng, content)
    return content[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + content[at:]


def _overwrite(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _piece(rng, content)
    return content[:start] + rng.bytes(end - start) + content[end:]


def _splice(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    other = others[int(rng.integers(len(others)))]
    return content[: _place(rng, content)] + other[_place(rng, other) :]


def _replace_number(rng: np.random.Generator, content: bytes, others: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _insert(rng, content, others)
    chosen = found[int(rng.integers(len(found)))]
    return content[: chosen.start()] + NUMBERS[int(rng.integers(len(NUMBERS)))] + content[chosen.end() :]


_CHANGES = (_flip, _cut_out, _double, _truncate, _insert, _overwrite, _splice, _replace_number)


def mutated_json(rng: np.random.Generator, content: bytes) -> bytes:
    """A few values of a JSON document replaced, dropped, doubled or renamed."""
    document = json.loads(content)
    for _ in range(int(rng.geometric(0.6))):
        holders = _holders(document)
        if not holders:
            break
        _change_one(rng, holders[int(rng.integers(len(holders)))])
    return json.dumps(document).encode()


def _holders(document: Any) -> list[Any]:
    """All lists and objects in a document that are not empty; large lists of numbers count once like others."""
    found, waiting = [], [document]
    while waiting:
        held = waiting.pop()
        if isinstance(held, dict | list) and held:
            found.append(held)
            waiting += list(held.values()) if isinstance(held, dict) else held
    return found


def _change_one(rng: np.random.Generator, holder: Any) -> None:
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = keys[int(rng.integers(len(keys)))]
    choice = int(rng.integers(6))
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(holder, list):
        holder.append(holder[key])
    elif choice == 1:
        holder[str(key) + "x"] = holder[key]
    elif choice == 2 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = holder[key] * (-1, 2, 0.5, 1e9)[int(rng.integers(4))]
    elif choice == 3:
        holder[key] = holder[keys[int(rng.integers(len(keys)))]]
    else:
        holder[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])

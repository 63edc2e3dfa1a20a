"""A compiled scanner of JSON text: an explicit stack, limits looked at as it goes, no value converted."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel

OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NULL_VALUE = range(7)
FINE, BAD_CHARACTER, TEXT_ENDS, TOO_MANY, TOO_DEEP, TEXT_AFTER, BAD_STRING, BAD_NUMBER = range(8)
_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _COLON, _AFTER = range(6)
_NO_KEY = -1


class Scan(NamedTuple):
    """Values of a JSON text in the order of the text, or how and where it failed."""

    status: int
    at: int
    """Byte of the failure."""
    kinds: np.ndarray
    depths: np.ndarray
    key_starts: np.ndarray
    """First byte of a member's key, its quote; -1 for values that are no members."""
    key_ends: np.ndarray
    starts: np.ndarray
    """First byte of a value."""
    ends: np.ndarray
    """Byte after a scalar value; of objects and arrays, after their bracket opens."""


def scan_json(content: bytes, max_nodes: int, max_depth: int) -> Scan:
    """All values of a JSON text in UTF-8, which ends at the last byte."""
    text = np.frombuffer(content, np.uint8)
    capacity = min(max_nodes, text.size) + 1
    columns = np.empty((6, capacity), np.int32)
    status, at, count = _scan(text, columns, np.empty(min(max_depth, text.size) + 1, np.uint8), max_nodes, max_depth)
    kinds, depths, key_starts, key_ends, starts, ends = columns[:, :count]
    return Scan(status, at, kinds, depths, key_starts, key_ends, starts, ends)


@kernel
def _scan(
    text: np.ndarray, columns: np.ndarray, containers: np.ndarray, max_nodes: int, max_depth: int
) -> tuple[int, int, int]:
    """Fill the columns; status, the byte it stopped at, and the number of values."""
    count, depth, at, expected = 0, 0, 0, _VALUE
    key_start, key_end = _NO_KEY, _NO_KEY
    while True:
        at = _skip_white(text, at)
        if at == text.size:
            done = expected == _AFTER and depth == 0
            return (FINE if done else TEXT_ENDS), at, count
        letter = text[at]
        is_end = (letter == 125 and expected == _KEY_OR_END) or (letter == 93 and expected == _VALUE_OR_END)  # } or ]
        if is_end:
            depth, at, expected = depth - 1, at + 1, _AFTER
        elif expected == _AFTER:
            if depth == 0:
                return TEXT_AFTER, at, count
            is_object = containers[depth - 1] == OBJECT
            if letter == 44:  # ,
                expected = _KEY if is_object else _VALUE
            elif letter == (125 if is_object else 93):  # } or ]
                depth -= 1
            else:
                return BAD_CHARACTER, at, count
            at += 1
        elif expected == _COLON:
            if letter != 58:  # :
                return BAD_CHARACTER, at, count
            at, expected = at + 1, _VALUE
        elif expected in (_KEY, _KEY_OR_END):
            if letter != 34:  # "
                return BAD_CHARACTER, at, count
            status, end = _string_end(text, at)
            if status != FINE:
                return status, end, count
            key_start, key_end, at, expected = at, end, end, _COLON
        else:
            status, kind, end = _value_end(text, at)
            if status != FINE:
                return status, end, count
            if count >= max_nodes:
                return TOO_MANY, at, count
            if depth >= max_depth:
                return TOO_DEEP, at, count
            columns[0, count], columns[1, count] = kind, depth
            columns[2, count], columns[3, count] = key_start, key_end
            columns[4, count], columns[5, count] = at, end
            count += 1
            key_start, key_end, at, expected = _NO_KEY, _NO_KEY, end, _AFTER
            if kind <= ARRAY:
                containers[depth] = kind
                depth += 1
                expected = _KEY_OR_END if kind == OBJECT else _VALUE_OR_END


@kernel
def _skip_white(text: np.ndarray, at: int) -> int:
    while at < text.size and (text[at] == 32 or text[at] == 10 or text[at] == 13 or text[at] == 9):
        at += 1
    return at


@kernel
def _value_end(text: np.ndarray, at: int) -> tuple[int, int, int]:
    """Status, kind and the byte after a value that begins here; of objects and arrays, after their bracket."""
    letter = text[at]
    if letter == 123:  # {
        return FINE, OBJECT, at + 1
    if letter == 91:  # [
        return FINE, ARRAY, at + 1
    if letter == 34:
        status, end = _string_end(text, at)
        return status, STRING, end
    if letter == 116:
        return _word_end(text, at, b"true", TRUE)
    if letter == 102:
        return _word_end(text, at, b"false", FALSE)
    if letter == 110:
        return _word_end(text, at, b"null", NULL_VALUE)
    status, end = _number_end(text, at)
    return status, NUMBER, end


@kernel
def _word_end(text: np.ndarray, at: int, word: bytes, kind: int) -> tuple[int, int, int]:
    for place in range(len(word)):
        if at + place >= text.size:
            return TEXT_ENDS, kind, text.size
        if text[at + place] != word[place]:
            return BAD_CHARACTER, kind, at + place
    return FINE, kind, at + len(word)


@kernel
def _string_end(text: np.ndarray, at: int) -> tuple[int, int]:
    """Status and the byte after the closing quote of a string whose opening quote is here."""
    at += 1
    while at < text.size:
        letter = text[at]
        if letter == 34:
            return FINE, at + 1
        if letter < 32:
            return BAD_STRING, at
        at += 1
        if letter == 92:  # backslash
            if at == text.size:
                return TEXT_ENDS, at
            escaped = text[at]
            at += 1
            if escaped == 117:  # u and four hexadecimal digits
                for _ in range(4):
                    if at == text.size:
                        return TEXT_ENDS, at
                    if not _is_hexadecimal(text[at]):
                        return BAD_STRING, at
                    at += 1
            elif not _is_escape(escaped):
                return BAD_STRING, at - 1
    return TEXT_ENDS, at


@kernel
def _is_escape(letter: int) -> bool:
    """One of the letters " / backslash b f n r t."""
    return letter in (34, 47, 92, 98, 102, 110, 114, 116)


@kernel
def _is_digit(letter: int) -> bool:
    return 48 <= letter <= 57


@kernel
def _is_hexadecimal(letter: int) -> bool:
    return _is_digit(letter) or 97 <= letter <= 102 or 65 <= letter <= 70


@kernel
def _digits_end(text: np.ndarray, at: int) -> int:
    while at < text.size and _is_digit(text[at]):
        at += 1
    return at


@kernel
def _number_end(text: np.ndarray, at: int) -> tuple[int, int]:
    """Status and the byte after a number: sign, digits without leading zeros, fraction, exponent."""
    start = at
    if text[at] == 45:  # -
        at += 1
    end = _digits_end(text, at)
    if end == at:
        is_cut = at == text.size
        return (TEXT_ENDS if is_cut else BAD_CHARACTER if at == start else BAD_NUMBER), at
    if text[at] == 48 and end > at + 1:
        return BAD_NUMBER, at + 1
    at = end
    if at < text.size and text[at] == 46:  # .
        end = _digits_end(text, at + 1)
        if end == at + 1:
            return (TEXT_ENDS if end == text.size else BAD_NUMBER), end
        at = end
    if at < text.size and (text[at] == 101 or text[at] == 69):  # e or E
        at += 1
        if at < text.size and (text[at] == 43 or text[at] == 45):
            at += 1
        end = _digits_end(text, at)
        if end == at:
            return (TEXT_ENDS if end == text.size else BAD_NUMBER), end
        at = end
    return FINE, at

"""Arrays and texts in the form a page carries them: base64 of little-endian numbers, JSON that is safe inside HTML."""

import base64
import json
import math
from typing import Any

import numpy as np

TYPES = {"f4": "<f4", "i4": "<i4", "u1": "|u1"}
HARMLESS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""JSON leaves these as they are, but a browser reads `</script>` and line separators before it reads JSON."""


def pack(values: Any, kind: str) -> dict[str, Any]:
    """An array as a document: its type ("f4", "i4" or "u1"), shape and bytes in base64."""
    array = np.ascontiguousarray(values)
    if kind == "f4":
        with np.errstate(over="ignore"):  # what is too large for single precision is infinite
            array = array.astype(TYPES[kind])
    return {
        "type": kind,
        "shape": list(array.shape),
        "data": base64.b64encode(array.astype(TYPES[kind]).tobytes()).decode("ascii"),
    }


def number(value: float) -> float | None:
    """A number that JSON can hold; None for one that it cannot."""
    return float(value) if math.isfinite(value) else None


def safe_json(document: Any) -> str:
    """JSON text without any character that means something to HTML."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, harmless in HARMLESS.items():
        text = text.replace(character, harmless)
    # Half a surrogate pair, which a name may hold, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")

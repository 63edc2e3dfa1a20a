"""Documents on disk: one JSON object each, lists of numbers on one line."""

import json
from pathlib import Path
from typing import Any

from posteriors import DOCUMENTS

LARGEST = 200_000
"""Bytes of a document."""


def names() -> list[str]:
    """Names of all documents, sorted."""
    return sorted(path.stem for path in DOCUMENTS.glob("*.json"))


def path_of(name: str) -> Path:
    """Where a document lies or is written."""
    return DOCUMENTS / f"{name}.json"


def load(name: str) -> dict[str, Any]:
    """The document of this name."""
    if name not in names():
        raise ValueError(f"there is no document {name!r}; known are {', '.join(names())}.")
    return json.loads(path_of(name).read_text(encoding="utf-8"))


def save(document: dict[str, Any]) -> int:
    """Write a document under its own name; the number of its bytes."""
    text = text_of(document) + "\n"
    if len(text) > LARGEST:
        raise ValueError(
            f"a document has at most {LARGEST} bytes, {document['name']!r} has {len(text)}. Leave a law out."
        )
    path_of(document["name"]).write_text(text, encoding="utf-8")
    return len(text)


def text_of(value: Any, depth: int = 0) -> str:
    """JSON with an object's members on lines of their own and everything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    inner = " " * (depth + 1)
    members = [f"{inner}{json.dumps(key)}: {text_of(own, depth + 1)}" for key, own in value.items()]
    return "{\n" + ",\n".join(members) + "\n" + " " * depth + "}"

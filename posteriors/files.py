"""Documents on disk: one JSON object each, lists of numbers on one line."""

import json
from typing import Any

from posteriors import DOCUMENTS

LARGEST = 200_000
"""Bytes of a document."""


def names() -> list[str]:
    """Names of all documents, sorted."""
    return sorted(path.stem for path in DOCUMENTS.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """The document of this name."""
    path = DOCUMENTS / f"{name}.json"
    if not path.exists():
        raise ValueError(
            f"there is a document {name!r} in {DOCUMENTS.name}/, got no such file. Known: {', '.join(names())}."
        )
    return json.loads(path.read_text(encoding="utf-8"))


def save(document: dict[str, Any]) -> int:
    """Write a document under its own name; the number of its bytes."""
    text = text_of(document) + "\n"
    if len(text) > LARGEST:
        raise ValueError(
            f"a document has at most {LARGEST} bytes, {document['name']!r} has {len(text)}. Leave a law out."
        )
    (DOCUMENTS / f"{document['name']}.json").write_text(text, encoding="utf-8")
    return len(text)


def text_of(value: Any, depth: int = 0) -> str:
    """JSON with an object's members on lines of their own and everything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    inner = " " * (depth + 1)
    members = [f"{inner}{json.dumps(key)}: {text_of(own, depth + 1)}" for key, own in value.items()]
    return "{\n" + ",\n".join(members) + "\n" + " " * depth + "}"

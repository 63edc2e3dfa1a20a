"""The part of JSON Schema that `schema.json` uses: enough to check documents without another dependency.

Known keywords: type, properties, required, additionalProperties, items, enum, pattern, minimum, maximum, minItems, $ref
to "#/$defs/...", and the annotations. Any other keyword in a schema is an error, so that nothing is passed over.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from posteriors import FOLDER

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
    "boolean": (bool,),
}
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}


@cache
def schema() -> dict[str, Any]:
    """The schema of documents."""
    return json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))


def faults(document: Any, part: Mapping[str, Any] | None = None, place: str = "document") -> list[str]:
    """What breaks the schema, one sentence each; empty if all is well."""
    return list(_faults(document, schema() if part is None else part, place))


def _faults(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if "$ref" in part:
        part = schema()["$defs"][part["$ref"].removeprefix("#/$defs/")]
    unknown = set(part) - set(CHECKS) - ANNOTATIONS
    if unknown:
        raise ValueError(f"the checker knows the keywords of the schema, got {sorted(unknown)}. Add them to CHECKS.")
    if "type" in part and not is_of_type(value, part["type"]):
        yield f"{place} is of type {part['type']}, got {type(value).__name__}"
        return
    for keyword, check in CHECKS.items():
        if keyword in part:
            yield from check(value, part, place)


def is_of_type(value: Any, wanted: str | list[str]) -> bool:
    """Whether a value is of one of the types; True and False are no numbers."""
    names = [wanted] if isinstance(wanted, str) else wanted
    return any(isinstance(value, TYPES[name]) and (not isinstance(value, bool) or name == "boolean") for name in names)


def _properties(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    for name, own in part["properties"].items():
        if name in value:
            yield from _faults(value[name], own, f"{place}.{name}")


def _required(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    yield from (f"{place} has {name!r}" for name in part["required"] if name not in value)


def _additional(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    rule = part["additionalProperties"]
    for name in value.keys() - part.get("properties", {}).keys():
        if rule is False:
            yield f"{place} has no {name!r}"
        elif isinstance(rule, dict):
            yield from _faults(value[name], rule, f"{place}.{name}")


def _items(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    for k, own in enumerate(value):
        yield from _faults(own, part["items"], f"{place}[{k}]")


def _enum(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if value not in part["enum"]:
        yield f"{place} is one of {part['enum']}, got {value!r}"


def _pattern(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if not re.search(part["pattern"], value):
        yield f"{place} matches {part['pattern']}, got {value!r}"


def _minimum(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if value is not None and value < part["minimum"]:
        yield f"{place} is at least {part['minimum']}, got {value}"


def _maximum(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if value is not None and value > part["maximum"]:
        yield f"{place} is at most {part['maximum']}, got {value}"


def _min_items(value: Any, part: Mapping[str, Any], place: str) -> Iterator[str]:
    if len(value) < part["minItems"]:
        yield f"{place} has at least {part['minItems']} items, got {len(value)}"


CHECKS: dict[str, Any] = {
    "type": lambda value, part, place: iter(()),
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _minimum,
    "maximum": _maximum,
    "minItems": _min_items,
}

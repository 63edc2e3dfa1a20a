"""Documents held to the schema and to themselves: laws sum to one, and what follows from a law follows from it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from posteriors.codes import canonical, labels_of
from posteriors.quantities import State, describe
from posteriors.schema import faults

ROUNDING = {"exact": 1e-10, "long-run": 3e-5}
"""How far sums may be off, digits having been cut."""


def problems_of(document: Mapping[str, Any]) -> list[str]:
    """What is wrong with a document, one sentence each."""
    return faults(document) or [*total_faults(document), *code_faults(document), *consequence_faults(document)]


def total_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """Laws sum to 1, and their mean is the expectation."""
    close, quantities = ROUNDING[document["kind"]], document["quantities"]
    for kind in ("laws", "counts"):
        for name, law in quantities[kind].items():
            total = math.fsum(law["probabilities"])
            if abs(total - 1.0) > close:
                yield f"{kind}.{name} sums to {total}"
    for name, law in quantities["counts"].items():
        mean = math.fsum(value * p for value, p in zip(law["values"], law["probabilities"], strict=True))
        known = quantities["expectations"].get(f"{name}.n_blocks", quantities["expectations"].get(f"n_{name}"))
        if known is None or abs(mean - known["value"]) > close * max(law["values"]):
            yield f"counts.{name} has mean {mean}, its expectation is {known}"


def code_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """Codes are restricted growth strings in order, each once, of as many items as there are."""
    for name, law in document["quantities"]["laws"].items():
        partitions = name.split("|")
        sizes = [len(document["quantities"]["together"][own]["value"]) for own in partitions]
        if law["codes"] != sorted(set(law["codes"])) or len(law["codes"]) != len(law["probabilities"]):
            yield f"laws.{name} has every code once, in order, with its probability"
        for code in law["codes"]:
            parts = [labels_of(part) for part in code.split("|")]
            if [len(part) for part in parts] != sizes or any(canonical(part) != part for part in parts):
                yield f"laws.{name} has the code {code!r}"
                break


def consequence_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """Everything said of a partition whose law is known is what the law says."""
    for name, law in document["quantities"]["laws"].items():
        names = name.split("|")
        states = [
            State(dict(zip(names, map(labels_of, code.split("|")), strict=True)), p)
            for code, p in zip(law["codes"], law["probabilities"], strict=True)
        ]
        implied = describe(states)
        for own in names:
            yield from differences(own, implied, document["quantities"], ROUNDING[document["kind"]])


def differences(name: str, implied: Mapping[str, Any], known: Mapping[str, Any], close: float) -> Iterator[str]:
    """Where expectations and pairs of a partition differ from those its law implies."""
    for key, mean in implied["expectations"].items():
        if key.startswith(f"{name}.") and abs(mean["value"] - known["expectations"][key]["value"]) > close:
            yield f"expectations.{key} is {known['expectations'][key]['value']}, the law says {mean['value']}"
    pairs = zip(implied["together"][name]["value"], known["together"][name]["value"], strict=True)
    for i, (row, other) in enumerate(pairs):
        if any(abs(x - y) > close for x, y in zip(row, other, strict=True)):
            yield f"together.{name}, row {i}, is {other}, the law says {row}"

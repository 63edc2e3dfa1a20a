"""The command line of the benchmarks: one JSON document on stdout, a readable table on stderr."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bayesgrove.core import provenance
from benchmarks import bhc, cluster, cross, machine, mixtures, nested, randomized_bhc, startup, trees
from benchmarks.timing import format_rows

NAMES = {
    "bhc": bhc.run,
    "cluster": cluster.run,
    "cross": cross.run,
    "mixtures": mixtures.run,
    "nested": nested.run,
    "randomized-bhc": randomized_bhc.run,
    "startup": startup.run,
    "trees": trees.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(NAMES))
    parser.add_argument("--json", type=Path, help="also write the document to this file")
    parser.add_argument("--repeats", type=int, default=5, help="rounds; the median is reported (default 5)")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of rows instead of the usual ones")
    parser.add_argument("--kinds", nargs="+", help="kinds of data (randomized-bhc only)")
    parts = tuple(dict.fromkeys(mixtures.PARTS + cross.PARTS + nested.PARTS + trees.PARTS))
    with_parts = "(mixtures, cross, nested, trees)"
    parser.add_argument("--parts", nargs="+", choices=parts, help=f"parts {with_parts}")
    parser.add_argument("--seed", type=int, help=f"first seed of the data, new each time by default {with_parts}")
    parser.add_argument("--quick", action="store_true", help=f"small sizes and short runs {with_parts}")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    if arguments.sizes and min(arguments.sizes) < 2:
        parser.error("--sizes must be at least 2")
    constants = machine.measure()
    results = NAMES[arguments.name](constants, arguments)
    document = {
        "benchmark": arguments.name,
        "repeats": arguments.repeats,
        "provenance": provenance.record(arguments.name, {}, 0),
        "machine": constants,
        **results,
    }
    print(format_rows([constants]), file=sys.stderr)
    for rows in by_part(results["rows"]):
        print(format_rows(rows), file=sys.stderr)
    text = json.dumps(document, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


def by_part(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows that share their columns, each group a table of its own."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row.get("part"), []).append(row)
    return list(groups.values())


if __name__ == "__main__":
    main()

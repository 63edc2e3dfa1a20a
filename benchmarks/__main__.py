"""The command line of the benchmarks: one JSON document on stdout, a readable table on stderr."""

import argparse
import importlib
import json
import sys
from pathlib import Path

from bayesgrove.core import provenance
from benchmarks import (
    bhc,
    cluster,
    cross,
    machine,
    mixtures,
    nested,
    randomized_bhc,
    report_page,
    scorecard,
    startup,
    suite,
    trees,
    trust,
)
from benchmarks.timing import by_part, format_rows

NAMES = {
    "bhc": bhc.run,
    "cluster": cluster.run,
    "cross": cross.run,
    "mixtures": mixtures.run,
    "nested": nested.run,
    "randomized-bhc": randomized_bhc.run,
    "report": report_page.run,
    "startup": startup.run,
    "trees": trees.run,
    "trust": trust.run,
}
PARTS = {
    "cross": cross.PARTS,
    "mixtures": mixtures.PARTS,
    "nested": nested.PARTS,
    "startup": startup.PARTS,
    "trees": trees.PARTS,
    "trust": trust.PARTS,
}
KINDS = {"randomized-bhc": randomized_bhc.KINDS}
"""Pieces that can be asked for by `--parts` and `--kinds`; `all` runs each in a process of its own."""


def main() -> None:
    arguments = parse(sys.argv[1:])
    if arguments.name == "all":
        suite.run_all(jobs(), arguments)
    elif arguments.name == "table":
        suite.write_tables(arguments.folder, arguments.out)
    elif arguments.name == "plots":
        importlib.import_module("benchmarks.plots").draw_all(arguments.folder, arguments.out)
    elif arguments.name == "scorecard":
        scorecard.run(arguments)
    else:
        run_one(arguments)


def parse(words: list[str]) -> argparse.Namespace:
    """What was asked for; ends with a message where it cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True)
    for name in NAMES:
        own = with_settings(commands.add_parser(name, help=NAMES[name].__doc__ or "everything"))
        own.add_argument("--json", type=Path, help="also write the document to this file")
        own.add_argument("--sizes", type=int, nargs="+", help="numbers of rows instead of the usual ones")
        own.add_argument("--parts", nargs="+", choices=PARTS.get(name, ()), help="some parts only")
        own.add_argument("--kinds", nargs="+", help="some kinds of data only")
    whole = with_settings(commands.add_parser("all", help="every benchmark, each part in a new process; one table"))
    whole.add_argument("--out", type=Path, default=Path("benchmark-results"), help="folder of the documents")
    whole.add_argument("--force", action="store_true", help="run again what is finished")
    whole.add_argument("--only", nargs="+", help="benchmarks, or parts of them as NAME/PART")
    whole.add_argument("--hours", type=float, default=2.0, help="longest time of one part (default 2)")
    table = commands.add_parser("table", help="the table of a folder that `all` has filled")
    table.add_argument("folder", type=Path)
    table.add_argument("--out", type=Path, help="folder of the tables instead")
    pictures = commands.add_parser("plots", help="pictures of such a folder")
    pictures.add_argument("folder", type=Path)
    pictures.add_argument("--out", type=Path, default=Path("docs/images"), help="folder of the pictures")
    scorecard.add_options(commands.add_parser("scorecard", help=scorecard.__doc__))
    arguments = parser.parse_args(words)
    if getattr(arguments, "repeats", 1) < 1:
        parser.error("--repeats must be at least 1")
    if getattr(arguments, "sizes", None) and min(arguments.sizes) < 2:
        parser.error("--sizes must be at least 2")
    return arguments


def jobs() -> list[suite.Job]:
    """Everything, in pieces."""
    parts = [suite.Job(name, part) for name in NAMES if name not in KINDS for part in PARTS.get(name, (None,))]
    return parts + [suite.Job(name, kind, "--kinds") for name in KINDS for kind in KINDS[name]]


def with_settings(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What a single benchmark and all of them have in common."""
    parser.add_argument("--repeats", type=int, default=5, help="rounds; the median is reported (default 5)")
    parser.add_argument("--seed", type=int, help="first seed of the data, new each time by default")
    parser.add_argument("--quick", action="store_true", help="small sizes and short runs, which prove nothing")
    return parser


def run_one(arguments: argparse.Namespace) -> None:
    """Measure the machine, then one benchmark, and print."""
    before = machine.load()
    constants = machine.measure()
    results = NAMES[arguments.name](constants, arguments)
    document = {
        "benchmark": arguments.name,
        "repeats": arguments.repeats,
        "quick": arguments.quick,
        "provenance": provenance.record(arguments.name, {"parts": arguments.parts, "sizes": arguments.sizes}, 0),
        "load": {"before": before, "after": machine.load()},
        "machine": constants,
        **results,
    }
    print(format_rows([constants]), file=sys.stderr)
    for part, rows in by_part(results["rows"]).items():
        print(f"\n{part}\n{format_rows(rows)}", file=sys.stderr)
    text = json.dumps(document, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()

"""The command line of the golden posteriors: list, make, check, compare, run."""

import argparse
import sys
from pathlib import Path

from posteriors import files
from posteriors.checks import problems_of


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if all is well, 1 if something disagrees, 2 if what was asked for cannot be done."""
    given = parser().parse_args(arguments)
    try:
        return COMMANDS[given.command](given)
    except (ValueError, OSError) as error:
        print(f"posteriors: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Of all commands."""
    found = argparse.ArgumentParser(prog="python -m posteriors", description=__doc__)
    commands = found.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names, sizes and titles of the documents")
    make = commands.add_parser("make", help="solve a problem again and write its document")
    make.add_argument("names", nargs="+", metavar="NAME", help="a name, or exact, long-run or all")
    check = commands.add_parser("check", help="hold documents to the schema and to themselves")
    check.add_argument("names", nargs="*", metavar="NAME", help="all by default")
    compare = commands.add_parser("compare", help="draws of any sampler against a document")
    compare.add_argument("name", metavar="NAME")
    compare.add_argument("draws", type=Path, help="a CSV or NPZ file, see docs/golden-posteriors.md")
    run = commands.add_parser("run", help="draws of bayesgrove's own sampler against a document")
    run.add_argument("name", metavar="NAME")
    run.add_argument("--draws", type=int, default=5_000, help="of each of four chains (default 5000)")
    run.add_argument("--seed", type=int, default=0)
    return found


def show_list(_: argparse.Namespace) -> int:
    """One line per document."""
    for name in files.names():
        document = files.load(name)
        kilobytes = files.path_of(name).stat().st_size / 1000
        print(f"{name:28} {document['kind']:9} {kilobytes:6.1f} kB  {document['title']}")
    return 0


def make(given: argparse.Namespace) -> int:
    """Solve and write, one problem after the other."""
    from posteriors.exact import exact_document
    from posteriors.long_problems import LONG
    from posteriors.long_run import long_document
    from posteriors.problems import EXACT

    groups = {"exact": list(EXACT), "long-run": list(LONG), "all": [*EXACT, *LONG]}
    for name in [own for asked in given.names for own in groups.get(asked, [asked])]:
        if name not in EXACT and name not in LONG:
            raise ValueError(f"a problem is one of {', '.join([*EXACT, *LONG])}, got {name!r}.")
        size = files.save(exact_document(name) if name in EXACT else long_document(name))
        print(f"{name}: {size / 1000:.1f} kB", flush=True)
    return 0


def check(given: argparse.Namespace) -> int:
    """Print what is wrong."""
    n_wrong = 0
    for name in given.names or files.names():
        for problem in problems_of(files.load(name)):
            print(f"{name}: {problem}")
            n_wrong += 1
    print(f"{len(given.names or files.names())} documents, {n_wrong} faults")
    return int(n_wrong > 0)


def compare(given: argparse.Namespace) -> int:
    """Draws in a file against a document."""
    from posteriors.draws import read_draws

    document = files.load(given.name)
    return judge(document, read_draws(given.draws, document))


def run(given: argparse.Namespace) -> int:
    """Draws of our own sampler against a document."""
    from posteriors.samplers import draw

    document = files.load(given.name)
    return judge(document, draw(document, n_chains=4, n_draws=given.draws, random_state=given.seed))


def judge(document, draws) -> int:
    """Print how draws agree."""
    from posteriors.compare import compare as compared
    from posteriors.compare import lines

    agreement = compared(document, draws)
    print("\n".join(lines(agreement)))
    return int(not agreement.agrees)


COMMANDS = {"list": show_list, "make": make, "check": check, "compare": compare, "run": run}

if __name__ == "__main__":
    sys.exit(main())

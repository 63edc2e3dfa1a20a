"""The scorecard: clustering problems from public collections, our estimators and scikit-learn's, one table."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.timing import ROOT

DATA = ROOT.parent / "shared" / "data"
OUT = Path("benchmark-results/scorecard")
PAGE = ROOT / "docs" / "scorecard.md"
LIMIT_ROWS = 1500


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be asked for."""
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds `scorecard` and `tables`")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder of the results (default {OUT})")
    parser.add_argument("--only", metavar="NAME", help="only data sets whose name contains NAME")
    groups = ("scorecard", "tables", "sklearn", "nulls")
    parser.add_argument("--group", choices=groups, help="only data sets of this group")
    parser.add_argument("--methods", metavar="A,B", help="only these methods, separated by commas")
    parser.add_argument("--chains", action="store_true", help="also run NRMMixture")
    parser.add_argument("--all-models", action="store_true", help="also run NRMMixture and BHCC")
    parser.add_argument("--peers", action="store_true", help="compute peers' results that are not cached")
    parser.add_argument("--force", action="store_true", help="compute finished results again (peers: with --peers)")
    parser.add_argument("--limit-rows", type=int, default=LIMIT_ROWS, help=f"most rows of a set (default {LIMIT_ROWS})")
    parser.add_argument("--density", action=argparse.BooleanOptionalAction, default=True, help="held-out log density")
    parser.add_argument("--jobs", type=int, default=1, help="number of fits to run in parallel (default 1)")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="folder to draw pictures in")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="write the page (default docs/scorecard.md)")


def run(arguments: argparse.Namespace) -> None:
    """Compute what is missing, then print and write the tables, and the pictures and the page on request."""
    from benchmarks.scorecard import sets, summary, work

    names = sets.available(arguments.data)
    chosen = [
        name
        for name, group in names.items()
        if arguments.group in (None, group) and (arguments.only is None or arguments.only in name)
    ]
    if not chosen:
        raise SystemExit(
            f"No data set fits --only {arguments.only} --group {arguments.group}. Known: {', '.join(names)}."
        )
    rows = work.run_all(chosen, arguments)
    print(summary.report(rows, arguments.out))
    if arguments.plots:
        importlib.import_module("benchmarks.scorecard.pictures").draw_all(rows, arguments)
    if arguments.page:
        importlib.import_module("benchmarks.scorecard.page").write(rows, arguments.page)
        print(arguments.page, file=sys.stderr)

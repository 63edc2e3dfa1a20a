"""`python -m fuzzing [TARGET ...]`: run inputs, count what became of them, keep what went wrong."""

import argparse
import csv
import sys
import time
from pathlib import Path

from fuzzing.cases import case_from_bytes
from fuzzing.draws import cases_of
from fuzzing.judge import ACCEPTED, FAULT, REFUSED
from fuzzing.runner import Runner, Tally, tally
from fuzzing.shrink import shrunk
from fuzzing.targets import NAMES, find_target

FIELDS = ("target", "inputs", "seed", ACCEPTED, REFUSED, "faults", "by error", "CPU seconds")


def main() -> int:
    """Gives 1 where there were faults."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each target (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same inputs")
    parser.add_argument("--out", type=Path, help="write the table to this CSV file")
    parser.add_argument("--keep", type=Path, default=Path("fuzzing-faults"), help="folder for inputs that went wrong")
    parser.add_argument(
        "--replay", type=Path, nargs="+", metavar="FILE", help="run kept inputs again and say what came"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in NAMES]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; targets are {', '.join(NAMES)}")
    if arguments.replay:
        return replay(arguments.replay)
    names = arguments.targets or list(NAMES)
    return fuzz(names, arguments)


def fuzz(names: list[str], arguments: argparse.Namespace) -> int:
    """Run each target, print its line as it ends, write the table."""
    rows = []
    for name in names:
        with Runner((name,)) as runner:
            start = time.process_time()
            found = tally(runner.run(cases_of(find_target(name), arguments.inputs, arguments.seed)))
            keep(runner, found, arguments.keep)
            seconds = runner.cpu_seconds() + time.process_time() - start
        rows.append(line(name, arguments.seed, found, seconds))
        print("  ".join(f"{field}: {value}" for field, value in rows[-1].items()), flush=True)
    if arguments.out:
        with open(arguments.out, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    return int(any(row["faults"] for row in rows))


def line(name: str, seed: int, found: Tally, seconds: float) -> dict[str, object]:
    """A row of the table; refusals and faults by name, the commonest first."""
    by_error = "; ".join(f"{reason} {count}" for reason, count in found.reasons.most_common())
    counts = (found.verdicts.total(), seed, *(found.verdicts[verdict] for verdict in (ACCEPTED, REFUSED, FAULT)))
    return dict(zip(FIELDS, (name, *counts, by_error, round(seconds)), strict=True))


def keep(runner: Runner, found: Tally, folder: Path) -> None:
    """Write the shortest input of every different fault, made shorter where that is simple."""
    for number, (case, outcome) in enumerate(found.faults):
        folder.mkdir(exist_ok=True)
        path = folder / f"{case.target}-{case.kind.strip('.')}-{number}"
        path.write_bytes(shrunk(runner, case, outcome).to_bytes())
        print(f"kept {path}: {outcome.reason}\n{outcome.detail}", file=sys.stderr)


def replay(paths: list[Path]) -> int:
    """Run kept inputs; gives 1 where one is still a fault."""
    n_faults = 0
    for path in paths:
        case = case_from_bytes(path.read_bytes())
        with Runner((case.target,)) as runner:
            outcome = runner.judge(case)
        n_faults += outcome.verdict == FAULT
        print(f"{path}: {outcome.verdict} {outcome.reason} {outcome.seconds:.2f} s {outcome.megabytes:.0f} MB")
        print(outcome.detail, file=sys.stderr)
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())

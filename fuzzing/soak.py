"""`python -m fuzzing.soak [PART ...]`: the long proof that kills and damage lose nothing, batch by batch, resumable.

Each batch is a line of the table once it has ended; called again, the command goes on until every part has its number.
"""

import argparse
import csv
import logging
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "results" / "reliability" / "soak.csv"
FIELDS = ("part", "estimator", "batch", "events", "same", "refused", "repaired", "faults", "CPU seconds", "fault")
WANTED = {"kills": 1_000, "runs": 5_000, "models": 5_000, "workers": 20}
"""Events of each part: chains killed, damaged run folders, damaged model files, workers of a Dask cluster killed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Gives 1 where there were faults."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing.soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(WANTED)}; default: all")
    parser.add_argument("--table", type=Path, default=TABLE, help="CSV file to which batches are added")
    parser.add_argument("--events", type=int, help="events of each part, in place of the long proof's")
    parser.add_argument("--estimators", nargs="+", metavar="NAME", help="these take turns, not all")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no batch after so many minutes")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.parts if name not in WANTED]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; parts are {', '.join(WANTED)}")
    warnings.simplefilter("ignore")  # quick fits do not converge, damaged runs are told of
    logger = logging.getLogger("bayesgrove")
    old_level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return run_parts(given)
    finally:
        logger.setLevel(old_level)


def run_parts(given: argparse.Namespace) -> int:
    """Batches of all parts until each has its number of events; gives 1 where there were faults."""
    end = time.monotonic() + 60.0 * given.minutes
    rows = read_table(given.table)
    for part in given.parts or WANTED:
        wanted = given.events or WANTED[part]
        while n_events(rows, part) < wanted and time.monotonic() < end:
            rows.append(run_batch(part, sum(row["part"] == part for row in rows), given.estimators))
            add_row(given.table, rows[-1])
            print("  ".join(f"{field}: {rows[-1][field]}" for field in FIELDS), flush=True)
    return int(any(int(row["faults"]) for row in rows))


def read_table(path: Path) -> list[dict[str, Any]]:
    """Batches that have ended, whatever ended the run: a line without its end is not one."""
    if not path.exists():
        return []
    whole = path.read_bytes()
    if not whole.endswith(b"\n"):
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def add_row(path: Path, row: dict[str, Any]) -> None:
    """Append a line, in the first place the names of the columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if stream.tell() == 0:
            writer.writeheader()
        writer.writerow(row)


def n_events(rows: list[dict[str, Any]], part: str) -> int:
    """Events of a part so far."""
    return sum(int(row["events"]) for row in rows if row["part"] == part)


def run_batch(part: str, batch: int, estimators: Sequence[str] | None = None) -> dict[str, Any]:
    """One batch in a folder of its own; estimators take turns."""
    from fuzzing.soak_parts import PARTS

    run, names = PARTS[part]
    names = [name for name in names if estimators is None or name in estimators] or names
    name = names[batch % len(names)]
    counts: Counter[str] = Counter()
    start, fault = cpu_seconds(), ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(name, batch, Path(folder), counts)
        except Exception as error:  # whatever it is: a finding
            counts["faults"] += 1
            fault = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    found = {field: counts[field] for field in ("events", "same", "refused", "repaired", "faults")}
    seconds = round(cpu_seconds() - start, 1)
    return {"part": part, "estimator": name, "batch": batch, **found, "CPU seconds": seconds, "fault": fault}


def cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    return float(sum(os.times()[:4]))


if __name__ == "__main__":
    sys.exit(main())

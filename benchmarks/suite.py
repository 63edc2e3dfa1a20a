"""Every benchmark in turn, each part in a new process, kept as JSON in a folder; then one table of what is wanted."""

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import tables
from benchmarks.figures import judge_all
from benchmarks.timing import ROOT
from benchmarks.wanted import FIGURES


class Job(NamedTuple):
    """A benchmark, or one part of it, and the option that asks for the part."""

    name: str
    part: str | None = None
    option: str = "--parts"

    @property
    def key(self) -> str:
        """How it is asked for on the command line."""
        return self.name if self.part is None else f"{self.name}/{self.part}"

    def document(self, folder: Path) -> Path:
        """Where what it measured is kept."""
        return folder / f"{self.key.replace('/', '-')}.json"


def run_all(jobs: list[Job], arguments: argparse.Namespace) -> None:
    """Run what is not finished, then print and write the tables."""
    chosen = choose(jobs, arguments.only)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for number, job in enumerate(chosen, 1):
        told = f"[{number}/{len(chosen)}] {job.key}"
        if not arguments.force and is_finished(job, arguments):
            print(f"{told}: finished before", file=sys.stderr, flush=True)
            continue
        print(told, file=sys.stderr, flush=True)
        run_job(job, arguments)
    write_tables(arguments.out)


def choose(jobs: list[Job], only: list[str] | None) -> list[Job]:
    """All, or those asked for by NAME or NAME/PART."""
    if only is None:
        return jobs
    known = {job.key for job in jobs} | {job.name for job in jobs}
    if unknown := sorted(set(only) - known):
        raise SystemExit(f"--only must name benchmarks, got {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
    return [job for job in jobs if job.key in only or job.name in only]


def is_finished(job: Job, arguments: argparse.Namespace) -> bool:
    """Whether the folder has a document of the job with the same settings."""
    try:
        document = json.loads(job.document(arguments.out).read_text())
    except (OSError, ValueError):
        return False
    return (document.get("quick"), document.get("repeats")) == (arguments.quick, arguments.repeats)


def run_job(job: Job, arguments: argparse.Namespace) -> None:
    """A new process; what it printed is kept where it fails, and the others go on."""
    final = job.document(arguments.out)
    unfinished, failure = final.with_suffix(".unfinished"), final.with_suffix(".failed")
    for old in (final, unfinished, failure):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks", job.name, "--json", str(unfinished.resolve())]
    command += ["--repeats", str(arguments.repeats)]
    command += ["--quick"] if arguments.quick else []
    command += [job.option, job.part] if job.part else []
    command += ["--seed", str(arguments.seed)] if arguments.seed is not None else []
    log = final.with_suffix(".log")
    with log.open("w") as stream:
        code = wait(command, stream, 3600.0 * arguments.hours)
    if code == 0:
        unfinished.replace(final)
        log.unlink()
        return
    unfinished.unlink(missing_ok=True)
    reason = f"took over {arguments.hours:g} hours" if code is None else last_line(log)
    failure.write_text(reason + "\n")
    print(f"  failed: {reason}", file=sys.stderr, flush=True)


def wait(command: list[str], stream: Any, seconds: float) -> int | None:
    """Exit code; None where the time was over, and then nothing it had started is left."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=os.name == "posix"
    )
    try:
        return process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stopped:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        if isinstance(stopped, KeyboardInterrupt):
            raise
        return None


def last_line(log: Path) -> str:
    """What a failed process said at the end."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "ended without a word"


def read_documents(folder: Path) -> list[dict[str, Any]]:
    """All documents of a folder, by name."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def read_failures(folder: Path) -> dict[str, str]:
    """Why parts failed, by the name of their document."""
    return {path.stem: path.read_text().strip() for path in sorted(folder.glob("*.failed"))}


def write_tables(folder: Path, out: Path | None = None) -> None:
    """Print what is wanted and what was measured; write it, and all rows, beside the documents or elsewhere."""
    documents, out = read_documents(folder), out or folder
    judged = [found._asdict() for found in judge_all(FIGURES, documents, read_failures(folder))]
    out.mkdir(parents=True, exist_ok=True)
    tables.write(out, "figures", judged)
    tables.write_rows(out, documents)
    (out / "conditions.md").write_text(f"{tables.counts(judged)} {tables.conditions(documents)}\n")
    print(tables.markdown(judged))
    print("\n" + tables.counts(judged))
    print(tables.conditions(documents))

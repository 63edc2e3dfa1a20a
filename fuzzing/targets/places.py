"""Run folders and data that commands work on: made once in a process, copied for every input."""

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

from bayesgrove.cli.main import main
from fuzzing.judge import Refusal

TABLE = "id,a,b\nr1,0.0,1\nr2,0.1,0\nr3,5.0,1\nr4,5.1,1\nr5,,0\n"
TREES = "((a,b)c,d)e;\n(a,d)e;\n(b,(a,d)c)e;\n"
SHORT = ("n_chains=1", "n_tune=2", "n_draws=3")
RUNS = {
    "run": ["fit", "bhc", "data.csv", "--index", "id"],
    "draws": ["fit", "nrm-mixture", "data.csv", "--index", "id", *(word for s in SHORT for word in ("--set", s))],
    "forest": ["fit", "tree-hmm-mixture", "trees.nwk", "--set", "n_init=1", "--set", "max_iter=2"],
    "views": ["fit", "bhcc", "data.csv", "--index", "id", "--set", "n_starts=1", "--jobs", "1"],
}
"""Folders, each made by one command."""


@cache
def workshop() -> tempfile.TemporaryDirectory[str]:
    """A folder with data and runs, kept while the process lives."""
    held = tempfile.TemporaryDirectory(prefix="bayesgrove-fuzz-")
    home = os.getcwd()
    os.chdir(held.name)
    try:
        Path("data.csv").write_text(TABLE)
        Path("trees.nwk").write_text(TREES)
        for name, words in RUNS.items():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                code = main([*words, "--out", name])
            if code:
                raise RuntimeError(f"the folder {name} could not be made: {said.getvalue()}")
    finally:
        os.chdir(home)
    return held


def lay_out(folder: Path, *names: str) -> None:
    """Copy data and runs into a folder; without names all of them."""
    source = Path(workshop().name)
    for path in sorted(source.iterdir()):
        if names and path.name not in names:
            continue
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        else:
            shutil.copy(path, folder)


@contextlib.contextmanager
def nobody_watches() -> Iterator[None]:
    """A server of a page ends at once, and no browser opens."""
    with (
        mock.patch("bayesgrove.report.live.PageServer.serve_forever", side_effect=KeyboardInterrupt),
        mock.patch("webbrowser.open"),
        mock.patch.dict(os.environ, {"BAYESGROVE_TRACEBACK": "1", "COLUMNS": "80", "BAYESGROVE_DATA": "nowhere"}),
    ):
        yield


def command(words: list[str]) -> None:
    """Run a command in this process: code 0 is fine, other codes are refusals, internal errors come as they are."""
    with nobody_watches():
        code = main(words)
    if code:
        raise Refusal(f"exit code {code}")

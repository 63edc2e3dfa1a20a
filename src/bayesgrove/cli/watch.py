"""`bayesgrove watch` and `bayesgrove report`: the page of a run, ended or under way."""

import contextlib
import math
import os
import signal
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bayesgrove.cli import models, run_folder, sources, views
from bayesgrove.cli.predict import check_output
from bayesgrove.cli.status import approach, chains_folder, phase
from bayesgrove.core.errors import BayesgroveError, InvalidFileError
from bayesgrove.core.table import Table
from bayesgrove.inference.description import Description, describe_rows
from bayesgrove.inference.partial import partial_result
from bayesgrove.inference.result import Result
from bayesgrove.inference.status import RunStatus, run_status
from bayesgrove.inference.store import log_path
from bayesgrove.inference.tree_features import feature_table
from bayesgrove.io.tree_data import TreeData
from bayesgrove.report.document import report_document
from bayesgrove.report.live import LOOPBACK, PageServer, Watcher
from bayesgrove.report.page import write_report
from bayesgrove.trees import Tree


def report(run: Path, output: Path | None, console: Console, *, title: str | None, force: bool) -> None:
    """Write the page of a run: of its model, or of the draws so far when the run has not ended.

    Without `output` it is written into the run, in place of the page that is there.
    """
    check_output(output, force)
    result = RunSource(run).result()
    if result is None:
        raise InvalidFileError(f"{run} has no draws yet; try again later, or: bayesgrove watch {run}", path=run)
    written = write_report(result, run / run_folder.REPORT if output is None else output, title=title)
    console.print(f"report   {written}", soft_wrap=True, highlight=False, markup=False)


def watch(run: Path, console: Console, *, host: str, port: int, browser: bool) -> None:
    """Serve the page of a run until Ctrl+C."""
    if host not in LOOPBACK:
        console.print(f"Warning: {host} is open to other machines; whoever has the address can read the run.")
    source = RunSource(run)
    source.look()  # a folder that is no run is refused before anything is opened
    watcher = Watcher(source.look, source.document)
    with PageServer(watcher, f"{run.name}: waiting for draws", host, port) as server:
        watcher.start()
        console.print(f"watching {run}: {server.url}", soft_wrap=True, highlight=False, markup=False)
        console.print("Ctrl+C stops watching, not the run.", highlight=False)
        if browser:
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        with _ending_quietly():
            server.serve_forever(poll_interval=0.2)
        watcher.stop()


@contextlib.contextmanager
def _ending_quietly() -> Iterator[None]:
    """SIGTERM is taken as Ctrl+C is: an end, not an error."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


class RunSource:
    """A run folder as a watcher wants it: what it is at, and its result so far."""

    def __init__(self, run: Path) -> None:
        if not os.path.isdir(run):
            raise InvalidFileError(f"there is no run folder {run}.", path=run)
        self.run = run
        self._rows = _Rows(run)

    @property
    def _chains(self) -> Path | None:
        """Where the chains are: nowhere while a run is getting ready."""
        return chains_folder(self.run)

    def look(self) -> tuple[dict[str, Any], Any]:
        """Status for the page, and what changes with the files."""
        model = self.run / run_folder.MODEL
        if self._is_ended():
            return {"state": "ended", "words": "The run has ended."}, ("model", model.stat().st_mtime_ns)
        chains = self._chains
        if chains is None:
            self._check_request()
            return {"state": "running", "words": "Getting ready: the first fit of a model compiles it."}, None
        found = run_status(chains)
        sizes = tuple(_size(log_path(chains, chain.chain)) for chain in found.chains)
        return status_document(found), sizes

    def document(self) -> dict[str, Any] | None:
        """What a page shows now."""
        result = self.result()
        return None if result is None else report_document(result)

    def result(self) -> Result | None:
        """That of the model where the run has ended, else of the draws so far."""
        if self._is_ended():
            return views.reported_result(models.load_model(self.run / run_folder.MODEL))
        chains, rows = self._chains, self._rows
        if chains is None:
            self._check_request()
            return None
        return partial_result(chains, leaf_labels=rows.names, feature_names=rows.feature_names, describe=rows.describe)

    def _is_ended(self) -> bool:
        """Whether the model is there and no chain is being made longer."""
        if not os.path.isfile(self.run / run_folder.SUMMARY):
            return False
        chains = self._chains
        return chains is None or not run_status(chains).is_running

    def _check_request(self) -> None:
        """Raise where there are no chains and none have been asked for."""
        if not os.path.isfile(self.run / run_folder.REQUEST):
            raise InvalidFileError(f"{self.run} holds no run of bayesgrove.", path=self.run)


class _Rows:
    """The table of a run that has not ended, where the request still leads to it."""

    def __init__(self, run: Path) -> None:
        self.table: Table | None = None
        self.names: tuple[str, ...] | None = None
        with contextlib.suppress(BayesgroveError, KeyError, TypeError, ValueError):  # it has moved: a page without rows
            request = run_folder.read_request(run)
            data, self.names = sources.read_rows(request["model"], Path(request["data"]), sources.reading_of(request))
            self.table = feature_table(data.forest, data.vocabulary) if isinstance(data, TreeData) else data

    @property
    def feature_names(self) -> tuple[str, ...]:
        return () if self.table is None else self.table.names

    def describe(self, tree: Tree, labels: np.ndarray) -> Description | None:
        """Profiles, when the table is the one the chains run on as far as can be told."""
        if self.table is None or self.table.n_rows != labels.size:
            return None
        return describe_rows(self.table.take, self.table.n_columns, tree, labels)


def status_document(found: RunStatus) -> dict[str, Any]:
    """What a page says about the chains."""
    return {
        "state": "running" if found.is_running else "complete" if found.is_finished else "stopped",
        "words": f"{found.model}: {phase(found)}" + ("" if found.looks is None else f"; {approach(found)}"),
        "n_draws": found.n_draws,
        "chains": [
            {
                "chain": chain.chain,
                "sweep": chain.sweep,
                "draws": chain.n_draws,
                "is_running": chain.is_running,
                "log_joint": None if math.isnan(chain.log_joint) else chain.log_joint,
            }
            for chain in found.chains
        ],
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

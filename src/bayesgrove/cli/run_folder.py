"""A run on disk: model, labels, tree, picture and summary; an old run is never lost to a failure."""

import contextlib
import json
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayesgrove.cli import models, views
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.inference.folder import NAME as CHAINS_DOCUMENT
from bayesgrove.io import atomic
from bayesgrove.io.json_files import read_small_json

MODEL, LABELS, NEWICK, PICTURE, SUMMARY = "model.bg", "labels.csv", "tree.newick", "tree.png", "summary.json"
REPORT = "report.html"
VIEWS, COLUMN_NEWICK = "views.csv", "columns.newick"
"""Of models that divide the columns: the view of each, and their tree."""
REQUEST, CHAINS = "request.json", "chains"
"""What was asked for, and the folder of the chains' logs: a run of Markov chains has them from its beginning."""
OF_A_RUN = (REQUEST, CHAINS, SUMMARY, MODEL, LABELS, NEWICK, PICTURE, REPORT, VIEWS, COLUMN_NEWICK)
OLD = ".bayesgrove-old."
"""Begins the name of the folder in a run for what stood there before, until its chains have begun."""
MAX_SUMMARY_BYTES = 256 * 2**20


def resume_command(run: Path, n_draws: int | None = None) -> str:
    """What to type to resume a run, or to make it as long as `n_draws`."""
    return f"bayesgrove resume {shlex.quote(str(run))}" + ("" if n_draws is None else f" --draws {n_draws}")


def check_destination(run: Path, *, force: bool) -> None:
    """Raise unless a run may be written to this folder; called before any work is done."""
    if os.path.lexists(run) and not os.path.isdir(run):
        raise InvalidFileError(f"{run} is a file; --out names a folder.", path=run)
    make_parents(run)
    _check_writable(run if os.path.isdir(run) else run.absolute().parent)
    if not os.path.isdir(run) or not any(run.iterdir()):
        return
    if not os.path.isfile(run / SUMMARY) and os.path.isfile(run / REQUEST):
        if not force:
            raise InvalidFileError(
                f"{run} holds a run that has not ended; resume it with: {resume_command(run)}, or add --force to begin "
                "again.",
                path=run,
            )
        return
    if not os.path.isfile(run / SUMMARY):
        raise InvalidFileError(
            f"{run} has files that do not belong to a bayesgrove run; choose a new or empty folder.", path=run
        )
    if not force:
        raise InvalidFileError(f"{run} holds a run already; choose another name or add --force.", path=run)


def make_parents(run: Path) -> None:
    """Make the folders above a run or a file."""
    try:
        run.absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "there is a file of that name"
        raise InvalidFileError(f"cannot make the folder {run.absolute().parent}: {reason}.", path=run) from error


def _check_writable(folder: Path) -> None:
    """Raise unless files can be made here: hours of work may come before the first one."""
    try:
        with tempfile.TemporaryDirectory(prefix=".bayesgrove-", dir=folder):
            pass
    except OSError as error:
        raise InvalidFileError(f"cannot write to {folder}: {error.strerror}. Choose another folder.") from error


@contextlib.contextmanager
def staging(run: Path) -> Iterator[Path]:
    """A folder beside `run` whose files move into it when the block ends well, and vanish when it fails."""
    run = run.absolute()
    stage = run.with_name(f".{run.name}.{secrets.token_hex(6)}.part")
    try:
        stage.mkdir()
    except OSError as error:
        raise InvalidFileError(f"cannot write to {run.parent}: {error.strerror}.", path=run) from error
    try:
        yield stage
        _publish(stage, run)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _publish(stage: Path, run: Path) -> None:
    """Move each file by one atomic step; files of the user's own in an old run stay."""
    run.mkdir(exist_ok=True)
    for name in (PICTURE, REPORT, VIEWS, COLUMN_NEWICK):
        with contextlib.suppress(FileNotFoundError):
            (run / name).unlink()  # the old ones show another tree
    for path in sorted(stage.iterdir()):
        os.replace(path, run / path.name)
    _forget_old(run)


@contextlib.contextmanager
def beginning_chains(run: Path, request: dict[str, Any]) -> Iterator[Path]:
    """Make the folder of a run of chains and note what was asked for; gives the folder for the logs.

    An old run stands aside until the chains have begun: settings and data are refused only after this, and a refusal,
    or Ctrl+C while kernels are compiled, must neither cost that run nor leave one that cannot go on.
    """
    is_new, aside = not os.path.isdir(run), run / f"{OLD}{secrets.token_hex(6)}"
    try:
        run.mkdir(exist_ok=True)
        _settle_killed(run)
        aside.mkdir()
        _move(run, aside)
    except OSError as error:
        raise InvalidFileError(f"cannot write to {run}: {error.strerror}.", path=run) from error
    try:
        atomic.write_text(run / REQUEST, json.dumps(request, indent=2) + "\n")
        yield run / CHAINS
    except BaseException:
        if not _has_begun(run):
            _restore(aside, run)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if is_new:
            with contextlib.suppress(OSError):  # it is empty only where nothing has begun
                run.rmdir()


def _has_begun(run: Path) -> bool:
    """Whether what stands here is a run of its own, not only asked for."""
    return os.path.isfile(run / CHAINS / CHAINS_DOCUMENT) or os.path.isfile(run / SUMMARY)


def _restore(aside: Path, run: Path) -> None:
    """Put an old run back in the place of one that never began."""
    shutil.rmtree(run / CHAINS, ignore_errors=True)
    (run / REQUEST).unlink(missing_ok=True)
    _move(aside, run)


def _settle_killed(run: Path) -> None:
    """What a killed command has put aside: back where its chains had not begun, else gone as was asked for."""
    for aside in sorted(run.glob(f"{OLD}*")):
        if not _has_begun(run):
            _restore(aside, run)
    _forget_old(run)


def _forget_old(run: Path) -> None:
    for aside in run.glob(f"{OLD}*"):
        shutil.rmtree(aside, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    """Move what belongs to a run; files of the user's own stay."""
    for name in OF_A_RUN:
        if os.path.lexists(source / name):
            os.replace(source / name, target / name)


def read_request(run: Path) -> dict[str, Any]:
    """What was asked of a run of chains."""
    if not os.path.isfile(run / REQUEST):
        raise InvalidFileError(
            f"{run} holds no chains to resume (it has no {REQUEST}). A run_dir made from Python is resumed there, with "
            "resume=True.",
            path=run,
        )
    return _read_document(run / REQUEST)


def write_run(run: Path, model: Any, summary: dict[str, Any], names: tuple[str, ...] | None, *, force: bool) -> None:
    """Write all files of a run but the picture and the report."""
    from bayesgrove.io.delimited import write_csv

    rows = names if names is not None else tuple(str(i) for i in range(len(model.labels_)))
    header, labels = views.label_columns(model)
    check_destination(run, force=force)
    with staging(run) as stage:
        model.save(stage / MODEL)
        write_csv(stage / LABELS, ("row", *header), zip(rows, *(own.tolist() for own in labels), strict=True))
        if views.has_views(model):
            write_csv(stage / VIEWS, ("column", "view"), views.column_rows(model))
            atomic.write_text(stage / COLUMN_NEWICK, model.column_tree_.to_newick().rstrip("\n") + "\n")
        atomic.write_text(stage / NEWICK, model.tree_.to_newick().rstrip("\n") + "\n")
        atomic.write_text(stage / SUMMARY, json.dumps(summary, indent=2) + "\n")


def write_picture(run: Path, model: Any) -> str | None:
    """Draw the tree into the run; gives the reason when there is no picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no picture: matplotlib is not installed (pip install 'bayesgrove[plot]')"
    figure = Figure(figsize=(9, 6), layout="constrained")
    if views.has_views(model):
        from bayesgrove.plot import views as draw_views

        draw_views(model, figure.subplots())
    elif views.has_levels(model):
        from bayesgrove.plot import level_tree

        level_tree(model, figure.subplots())
    elif views.has_typical_trees(model):
        from bayesgrove.plot import typical_trees

        typical_trees(model, figure.subplots(), max_nodes=50)
    else:
        model.tree_.plot(ax=figure.subplots(), kind="dendrogram", labels=model.labels_)
    with atomic.replacing(run / PICTURE) as stream:
        figure.savefig(stream, format="png", dpi=150)
    return None


def open_run(run: Path) -> tuple[Any, dict[str, Any]]:
    """The fitted model of a run and its summary."""
    if not os.path.isdir(run):
        raise InvalidFileError(f"there is no run folder {run}; make one with: bayesgrove fit MODEL DATA --out {run}")
    if not os.path.isfile(run / MODEL) and os.path.isfile(run / REQUEST):
        raise InvalidFileError(
            f"{run} has not ended and has no model yet; resume it with: {resume_command(run)}", path=run
        )
    return models.load_model(run / MODEL), read_summary(run)


def read_summary(run: Path) -> dict[str, Any]:
    """The summary of a run."""
    path = run / SUMMARY
    if not os.path.isfile(path):
        raise InvalidFileError(f"{run} is not a bayesgrove run: it has no {path.name}.", path=path)
    summary = _read_document(path)
    if not isinstance(summary.get("columns"), list):
        raise InvalidFileError(f"{path} is damaged: it lists no columns.", path=path)
    n_clusters = summary.get("n_clusters", 1)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, int):
        raise InvalidFileError(f"{path} is damaged: n_clusters is {n_clusters!r:.80}, no whole number.", path=path)
    return summary


def _read_document(path: Path) -> dict[str, Any]:
    document = read_small_json(path, MAX_SUMMARY_BYTES)
    if not isinstance(document, dict):
        raise InvalidFileError(f"{path} is damaged: it lists no columns.", path=path)
    return document

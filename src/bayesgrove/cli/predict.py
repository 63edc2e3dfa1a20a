"""`bayesgrove predict` and `bayesgrove export`: from a run to rows, trees and tables."""

import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bayesgrove.cli import views
from bayesgrove.cli.run_folder import make_parents, open_run
from bayesgrove.cli.sources import Rows, read_tree_rows, reading_of
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.io import atomic
from bayesgrove.io.delimited import write_csv_stream
from bayesgrove.io.dialect import PLAIN, Dialect
from bayesgrove.io.tables import LabelledTable, read_labelled_table

FORMATS = ("labels", "views", "newick", "linkage", "json", "netcdf")


def predict(run: Path, data: Path, output: Path | None, dialect: Dialect = PLAIN, *, proba: bool, force: bool) -> None:
    """Write each row's cluster, and with `proba` the probabilities of all clusters and, where there may be, a new one.

    Of a hierarchy of fixed depth also the most probable path: -1 from where a row branches off.
    """
    check_output(output, force)
    model, summary = open_run(run)
    rows_read = read_new_rows(data, summary, dialect)
    table, names = rows_read.data, rows_read.names or tuple(str(i) for i in range(rows_read.n_rows))
    header, rows = ["row"], [list(names)]
    for title, options in _questions(model):
        header.append(title)
        rows.append(model.predict(table, **options).tolist())
        if proba:
            chances = model.predict_proba(table, **options)
            start = f"{title}_" if options else ""
            header += chance_headings(model, start, chances.shape[1])
            rows += chances.T.tolist()
    if views.has_levels(model):
        paths = model.predict_paths(table)
        header += [f"level_{k}" for k in range(1, paths.shape[1] + 1)]
        rows += paths.T.tolist()
    write(csv_text(header, zip(*rows, strict=True)), output, force)


def chance_headings(model: Any, start: str, n_columns: int) -> list[str]:
    """Heads of the probabilities; the last is a new cluster, unless the model has a given number of them."""
    if views.has_typical_trees(model) and n_columns == model._n_known():
        return [f"{start}p{k}" for k in range(n_columns)]
    return [*(f"{start}p{k}" for k in range(n_columns - 1)), f"{start}new"]


def _questions(model: Any) -> list[tuple[str, dict[str, int]]]:
    """Heads of columns, and what to ask `predict` for them: once, or once per view."""
    if not views.has_views(model):
        return [("cluster", {})]
    return [(title, {"view": k}) for k, title in enumerate(views.view_headings(model))]


def read_new_rows(data: Path, summary: dict[str, Any], dialect: Dialect = PLAIN) -> Rows:
    """Trees, or rows of a table, as the run was fitted to."""
    if "trees" in summary:
        return read_tree_rows(data, reading_of(summary))
    return Rows(*read_new_table(data, summary, dialect))


def read_new_table(data: Path, summary: dict[str, Any], dialect: Dialect = PLAIN) -> LabelledTable:
    """The columns of training, in their order, and the rows' names where the file has them; others are left out."""
    try:
        columns = [str(column["name"]) for column in summary["columns"]]
        texts = [str(column["name"]) for column in summary["columns"] if column["kind"] == "category"]
    except (KeyError, TypeError) as error:
        raise InvalidFileError("the run's summary is damaged: it lists no columns. Fit again.") from error
    reading = reading_of(summary)
    table, names = read_labelled_table(
        data,
        index=reading.index,
        header=reading.header,
        require_index=False,
        texts=texts,
        only=columns,
        dialect=dialect,
    )
    return LabelledTable(table.select(columns), names)


def export(run: Path, format: str, output: Path | None, *, view: str = "0", force: bool) -> None:
    """Write the labels, the tree or the draws of a run in a format other programs read."""
    if format not in FORMATS:
        raise InvalidSettingError(f"--format is one of {', '.join(FORMATS)}, got {format!r}.")
    check_output(output, force)
    model, _ = open_run(run)
    if format == "netcdf":
        _export_draws(model, output, force)
    else:
        write(_exported(model, format, views.chosen_tree(model, view)), output, force)


def _export_draws(model: Any, output: Path | None, force: bool) -> None:
    if not hasattr(model, "posterior_"):
        raise InvalidSettingError(f"--format netcdf writes draws, and {type(model).__name__} has none.")
    if output is None:
        raise InvalidSettingError("--format netcdf needs --output FILE.")
    model.posterior_.to_netcdf(output, overwrite=force)


def _exported(model: Any, format: str, tree: Any) -> str:
    if format == "newick":
        return str(tree.to_newick()).rstrip("\n") + "\n"
    if format == "json":
        return str(tree.to_json()).rstrip("\n") + "\n"
    if format == "linkage":
        rows = ((int(a), int(b), float(height), int(size)) for a, b, height, size in tree.to_linkage())
        return csv_text(("left", "right", "height", "size"), rows)
    if format == "views":
        return csv_text(("column", "view"), views.column_rows(model))
    names = model.tree_.leaf_labels or tuple(str(i) for i in range(len(model.labels_)))
    header, labels = views.label_columns(model)
    return csv_text(("row", *header), zip(names, *(own.tolist() for own in labels), strict=True))


def check_output(output: Path | None, force: bool) -> None:
    """Refuse a file that is there already, unless it may be replaced; make the folders above it."""
    if output is not None and os.path.isfile(output) and not force:
        raise InvalidFileError(f"{output} exists already; choose another name or add --force.", path=output)
    if output is not None:
        make_parents(output)
        atomic.refuse_existing(output, force)


def csv_text(header: Sequence[str], rows: Iterable[Any]) -> str:
    """Rows as CSV, formulas defused."""
    stream = io.StringIO()
    write_csv_stream(stream, header, rows)
    return stream.getvalue()


def write(text: str, output: Path | None, force: bool) -> None:
    """To a file, or to the terminal."""
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        atomic.write_text(output, text, overwrite=force)

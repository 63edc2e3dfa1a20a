"""`bayesgrove fit`: from a table or trees on disk to a run folder."""

import dataclasses
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bayesgrove.cli import models, run_folder, sources, views
from bayesgrove.cli.progress import progress_of
from bayesgrove.cli.settings import build_model, parse_settings
from bayesgrove.cli.show import hyper_parameters, show_columns, show_model
from bayesgrove.core import provenance
from bayesgrove.core.errors import BayesgroveError, InvalidFileError, InvalidSettingError
from bayesgrove.io.tree_data import TreeData


@dataclasses.dataclass(frozen=True)
class FitRequest:
    """What the user asked for."""

    model: str
    data: Path
    out: Path
    settings: list[str]
    options: dict[str, Any]
    reading: sources.Reading
    force: bool


class InterruptedRunError(BayesgroveError):
    """Ctrl+C after which a run can go on; the message says how."""


def fit(request: FitRequest, console: Console) -> None:
    """Fit, write the run, show the result."""
    run_folder.check_destination(request.out, force=request.force)
    sources.check_reading(request.model, request.reading)
    settings = merged_settings(parse_settings(request.settings), request.options)
    model_class = models.model_class(request.model)
    model = build_model(model_class, settings)
    rows = sources.read_rows(request.model, request.data, request.reading)
    if not hasattr(model, "run_dir") or model.run_dir is not None:
        fit_and_show(model, request, rows, console)
        return
    with run_folder.beginning_chains(request.out, _document(request, settings)) as chains:
        model.run_dir = chains
        fit_and_show(model, request, rows, console)


def resume(run: Path, changed: dict[str, Any], data: Path | None, console: Console, *, repair: bool = False) -> None:
    """Go on with the chains of a run, from where they were or with a changed length."""
    document = run_folder.read_request(run)
    try:
        place = Path(document["data"]) if data is None else data
        request = FitRequest(str(document["model"]), place, run, [], {}, sources.reading_of(document), True)
        settings = dict(document["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFileError(f"{run / run_folder.REQUEST} is damaged: {error} is missing.", path=run) from error
    settings |= {"run_dir": run / run_folder.CHAINS, "resume": "repair" if repair else True, **changed}
    model = build_model(models.model_class(request.model), settings)
    rows = sources.read_rows(request.model, request.data, request.reading)
    fit_and_show(model, request, rows, console)


def fit_and_show(model: Any, request: FitRequest, rows: sources.Rows, console: Console) -> None:
    """Fit, write the run, show the result."""
    if isinstance(rows.data, TreeData):
        console.print("\n".join(sources.reading_lines(rows.data, request.data)), markup=False, soft_wrap=True)
    start = time.perf_counter()
    try:
        with progress_of(model, f"{request.model} on {rows.words}"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\w+ did not fully converge")  # the verdict is shown
            model.fit(rows.data)
    except KeyboardInterrupt as error:
        if not hasattr(model, "run_dir") or not str(error):
            raise
        raise InterruptedRunError(f"stopped; resume it with: {run_folder.resume_command(request.out)}") from error
    seconds = time.perf_counter() - start
    name_leaves(model, rows.names)
    summary = summarise(model, request.model, rows, seconds)
    summary.update(data=request.data.name, **request.reading.to_document())
    run_folder.write_run(request.out, model, summary, rows.names, force=True)
    # All is written before anything is shown: whoever reads may go away, as `| head` does.
    files = write_pages(request.out, model, getattr(rows.data, "targets", None))
    show_columns(console, model)
    show_model(console, model, request.out)
    show_files(console, files)


def _document(request: FitRequest, settings: dict[str, Any]) -> dict[str, Any]:
    """What `resume` needs to ask for the same again."""
    return {
        "model": request.model,
        "data": str(request.data.absolute()),
        "settings": settings,
        **request.reading.to_document(),
    }


def merged_settings(settings: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Settings and the options that stand for some of them; options not given are None, but for a time limit."""
    given = {key: value for key, value in options.items() if value is not None or key == "time_limit"}
    for key in given:
        if key in settings:
            raise InvalidSettingError(f"{key} is given by an option and by --set; give it once.", key=key)
    return {**settings, **given}


def name_leaves(model: Any, names: tuple[str, ...] | None) -> None:
    """Give the tree's leaves the rows' names."""
    if names is not None:
        model.result_ = model.result_.with_names(names)
        model.tree_ = model.result_.tree
    if names is not None and views.has_views(model):
        trees = (view.tree for view in model.result_.views)
        model.views_ = [dataclasses.replace(view, tree_=tree) for view, tree in zip(model.views_, trees, strict=True)]


def summarise(model: Any, name: str, rows: sources.Rows, seconds: float) -> dict[str, Any]:
    """Provenance and result in JSON's types."""
    settings = model.get_params(deep=False)
    evidence = getattr(model, "log_evidence_", None)
    return {
        **provenance.record(name, settings, settings.get("random_state")),
        **rows.summary,
        **views.summary_of(model),
        "n_clusters": int(model.n_clusters_),
        "cluster_sizes": np.bincount(model.labels_).tolist(),
        "log_evidence": None if evidence is None else float(evidence),
        **({"verdict": model.diagnostics_.verdict.sentence_for_readers} if hasattr(model, "diagnostics_") else {}),
        "hyper_parameters": hyper_parameters(model),
        "seconds": round(seconds, 3),
    }


def write_pages(run: Path, model: Any, classes: Any = None) -> list[str]:
    """Draw the picture and write the report (with known classes where there are any); gives where everything is."""
    problem = run_folder.write_picture(run, model)
    report = model.report(run / run_folder.REPORT, **({} if classes is None else {"classes": classes}))
    picture = f"picture  {run / run_folder.PICTURE}" if problem is None else problem
    return [picture, f"run      {run}", f"report   {report} (open it in a browser)"]


def show_files(console: Console, lines: list[str]) -> None:
    """Say where everything is."""
    console.print()
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)

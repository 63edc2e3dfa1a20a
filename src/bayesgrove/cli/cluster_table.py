"""`bayesgrove cluster`: a run folder from a table, by the model that suits it."""

import dataclasses

from rich.console import Console

from bayesgrove.cli import run_folder, sources
from bayesgrove.cli.fit import FitRequest, fit_and_show, merged_settings
from bayesgrove.cli.models import model_class
from bayesgrove.cli.settings import build_model, parse_settings


def cluster(request: FitRequest, time_limit: float | None, console: Console) -> None:
    """Choose a model for a table, say why, fit it, write the run, show the result; `request.model` is ignored."""
    from bayesgrove.estimators.cluster_table import plan_for, words_of_clusters

    run_folder.check_destination(request.out, force=request.force)
    settings = merged_settings(parse_settings(request.settings), request.options)
    rows = sources.read_table_rows(request.data, request.reading)
    plan = plan_for(rows.data, time_limit, settings)
    model = build_model(model_class(plan.model.command), {**plan.settings, **settings})
    show_lines(console, plan.reasons)
    request = dataclasses.replace(request, model=plan.model.command)
    fit_and_show(model, request, rows, console)
    show_lines(console, ["", words_of_clusters(model)])


def show_lines(console: Console, lines: tuple[str, ...] | list[str]) -> None:
    """Plain lines, as wide as they are."""
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)

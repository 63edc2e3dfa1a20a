"""The command `bayesgrove`. Commands import what they need when they run, so that help is quick."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesgrove.cli.endings import run_app
from bayesgrove.cli.models import MODELS

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="bayesgrove",
    help="Bayesian nonparametric hierarchical clustering with honest uncertainty.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: the terminal.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder made by fit or demo.")]
Index = Annotated[str | None, typer.Option(help="Column that names the rows.")]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Columns of a table to leave out: a or a,b; repeatable."),
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="First row of a text or sheet: names, or data.")
]
Sep = Annotated[str | None, typer.Option(metavar="CHAR", help="Character between the cells of a text; detected.")]
Decimal = Annotated[str | None, typer.Option(metavar="CHAR", help="Decimal mark of a text, . or ,; detected.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text, such as utf-8 or cp1252; detected.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an .xlsx file; default: the first.")]
TreeFormat = Annotated[str | None, typer.Option(help="Format of trees: auto, xml, json, jsonl, python, newick, ...")]
TreeOptions = Annotated[
    list[str] | None,
    typer.Option("--read", metavar="KEY=VALUE", help="An option of the reader of trees; repeatable."),
]
Until = Annotated[
    str | None,
    typer.Option(metavar="converged", help="Run until the chains can be trusted, however long; see --time-limit."),
]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds the chains may take; default: 120, or as --until says.")]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address of the scheduler of a Dask cluster to run on.")
]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from bayesgrove.core.provenance import package_versions

        print(f"bayesgrove {package_versions()['bayesgrove']}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Bayesian nonparametric hierarchical clustering with honest uncertainty."""


@app.command(short_help="Cluster real wines and explain the result.")
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the result.")] = Path("bayesgrove-demo"),
    force: Force = False,
) -> None:
    """Cluster real data that come with scikit-learn and explain the result."""
    from bayesgrove.cli.demo import demo as run_demo
    from bayesgrove.cli.progress import log_to_stderr

    with log_to_stderr(0):
        run_demo(out, _console(), force=force)


@app.command("cluster", short_help="Cluster a table by the model that suits it.")
def cluster_command(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table: .csv, .tsv, .txt, .xlsx, .parquet, .feather, .npy or .npz.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for model, labels, trees and summary.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the chosen model; repeatable."),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds the fit should take at most; a guide.")] = None,
    index: Index = None,
    drop: Drop = None,
    likelihood: Annotated[str | None, typer.Option(help="auto, gaussian, bernoulli, ...")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs.")] = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Show more messages.")] = 0,
    force: Force = False,
) -> None:
    """Cluster a table by the model that suits its size and columns, say why, and write a run folder."""
    from bayesgrove.cli.cluster_table import cluster
    from bayesgrove.cli.fit import FitRequest
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.cli.sources import Reading, listed

    options = {"likelihood": likelihood, "random_state": seed, "n_jobs": jobs, "verbose": verbose or None}
    with log_to_stderr(verbose):
        reading = Reading(index, header, None, {}, listed(drop), _tab(sep), decimal, encoding, sheet)
        cluster(FitRequest("", data, out, settings or [], options, reading, force), time_limit, _console())


@app.command()
def fit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=f"One of: {', '.join(MODELS)}.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Table: .csv, .tsv, .txt, .xlsx, .parquet, .feather, .npy or .npz. For models of trees: a file, "
            "folder, archive or quoted pattern of .xml, .json, .py, ....",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for model, labels, trees and summary.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model; repeatable."),
    ] = None,
    index: Index = None,
    drop: Drop = None,
    likelihood: Annotated[str | None, typer.Option(help="auto, gaussian, bernoulli, ...")] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAME=FAMILY,...", help="Families of some columns; the others are chosen: age=gaussian."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs.")] = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    format: TreeFormat = None,
    read: TreeOptions = None,
    until: Until = None,
    time_limit: TimeLimit = None,
    cluster: Cluster = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Show more messages.")] = 0,
    force: Force = False,
) -> None:
    """Fit a model to a table or to trees and write a run folder."""
    from bayesgrove.cli.dask_cluster import on_cluster
    from bayesgrove.cli.fit import FitRequest
    from bayesgrove.cli.fit import fit as run_fit
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.cli.settings import length_settings, parse_columns, parse_settings
    from bayesgrove.cli.sources import Reading, listed

    chosen = parse_columns(columns, likelihood)
    options = {"likelihood": chosen, "random_state": seed, "n_jobs": jobs, "verbose": verbose or None}
    options |= length_settings(until, time_limit)
    with log_to_stderr(verbose), on_cluster(cluster):
        options_of_trees = parse_settings(read or [], "--read")
        reading = Reading(index, header, format, options_of_trees, listed(drop), _tab(sep), decimal, encoding, sheet)
        run_fit(FitRequest(model, data, out, settings or [], options, reading, force), _console())


@app.command()
def predict(
    run: Run,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Table with the columns of the fit, or trees.")],
    output: Output = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every cluster.")] = False,
    force: Force = False,
) -> None:
    """Give the cluster of each new row as CSV."""
    from bayesgrove.cli.predict import predict as run_predict
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.io.dialect import Dialect

    with log_to_stderr(0):
        run_predict(run, data, output, Dialect(_tab(sep), decimal, encoding, sheet), proba=proba, force=force)


@app.command()
def impute(
    run: Run,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="Table with the columns of the fit; default: its own table.")
    ] = None,
    output: Output = None,
    level: Annotated[
        float | None,
        typer.Option(help="Also write FILE.cells.csv: every filled cell with an interval of this probability."),
    ] = None,
    force: Force = False,
) -> None:
    """Fill the missing cells of a table, by a model of views, as CSV."""
    from bayesgrove.cli.impute import impute as run_impute
    from bayesgrove.cli.progress import log_to_stderr

    with log_to_stderr(0):
        run_impute(run, data, output, level=level, force=force)


@app.command()
def export(
    run: Run,
    format: Annotated[str, typer.Option("--format", help="labels, views, newick, linkage, json or netcdf (draws).")],
    output: Output = None,
    view: Annotated[str, typer.Option(help="Number of the view whose tree is written, or: columns.")] = "0",
    force: Force = False,
) -> None:
    """Write a run's labels, views, tree or draws for other programs."""
    from bayesgrove.cli.predict import export as run_export

    run_export(run, format, output, view=view, force=force)


@app.command(short_help="Resume chains that were stopped, or extend them.")
def resume(
    run: Run,
    draws: Annotated[int | None, typer.Option(help="Draws of each chain in all; default: as asked for first.")] = None,
    until: Until = None,
    time_limit: TimeLimit = None,
    data: Annotated[Path | None, typer.Option(help="The table, where it has moved.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel jobs.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Set damaged logs aside and draw again what is lost.")
    ] = False,
    cluster: Cluster = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Show more messages.")] = 0,
) -> None:
    """Resume a run of Markov chains that was stopped, or extend it."""
    from bayesgrove.cli.dask_cluster import on_cluster
    from bayesgrove.cli.fit import resume as run_resume
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.cli.settings import length_settings

    changed = {"n_draws": draws, "n_jobs": jobs}
    settings = {name: value for name, value in changed.items() if value is not None}
    settings |= length_settings(until, time_limit, draws)
    with log_to_stderr(verbose), on_cluster(cluster):
        run_resume(run, settings, data, _console(), repair=repair)


@app.command()
def status(run: Run) -> None:
    """Show how far a run is, even while it runs."""
    from bayesgrove.cli.status import status as run_status

    run_status(run, _console())


@app.command(short_help="Write one HTML file that shows a run.")
def report(
    run: Run,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file to write; default: report.html in the run.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    force: Force = False,
) -> None:
    """Write one HTML file that shows a run: tree, clusters, certainty, chains."""
    from bayesgrove.cli.watch import report as run_report

    run_report(run, output, _console(), title=title, force=force)


@app.command(short_help="Compare the clusters of runs.")
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN ...", help="Two or more run folders.")],
    output: Output = None,
    force: Force = False,
) -> None:
    """Compare runs of the same rows: clusters, evidence, verdicts, and how far the labels agree."""
    from bayesgrove.cli.compare import compare as run_compare

    run_compare(runs, output, _console(), force=force)


@app.command(short_help="Show a run in the browser, even while it runs.")
def watch(
    run: Run,
    host: Annotated[str, typer.Option(help="Address to listen on; by default only this machine can open the page.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page at once.")] = True,
) -> None:
    """Show a run in the browser, even while it runs; Ctrl+C stops watching, not the run."""
    from bayesgrove.cli.watch import watch as run_watch

    run_watch(run, _console(), host=host, port=port, browser=browser)


@app.command(short_help="Fit a model under many settings, several times each.")
def sweep(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=f"One of: {', '.join(MODELS)}.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table, or trees for models of trees, as for fit.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results; a stopped sweep is resumed there.")],
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="KEY=V1,V2", help="A setting and its values; repeatable, all combinations."),
    ] = None,
    settings_file: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="JSON: a list of settings, or an object of lists.")
    ] = None,
    fixed: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of all fits; repeatable.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Fits of each setting; repeat r has the seed SEED + r.")] = 1,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="ari, nmi, vi or binder, against --classes; repeatable.")
    ] = None,
    classes: Annotated[str | None, typer.Option(help="Column of known classes; it is left out of the table.")] = None,
    index: Index = None,
    drop: Drop = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    format: TreeFormat = None,
    read: TreeOptions = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Number of fits to run in parallel.")] = None,
    cluster: Cluster = None,
) -> None:
    """Fit a model under many settings, several times each; a sweep that was stopped is resumed."""
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.cli.settings import parse_settings
    from bayesgrove.cli.sources import Reading, listed
    from bayesgrove.cli.sweep import SweepRequest
    from bayesgrove.cli.sweep import sweep as run_sweep

    options_of_trees = parse_settings(read or [], "--read")
    reading = Reading(index, header, format, options_of_trees, listed(drop), _tab(sep), decimal, encoding, sheet)
    request = SweepRequest(
        model, data, out, grid or [], settings_file, fixed or [], repeats, metric or [], classes, reading, seed,
        workers, cluster,
    )  # fmt: skip
    with log_to_stderr(0):
        run_sweep(request, _console())


@app.command("warm-up", short_help="Compile models ahead of their first fit.")
def warm_up_command(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help=f"Some of: {', '.join(MODELS)}; default: all.")
    ] = None,
) -> None:
    """Compile the kernels of models for measurements and for mixed tables, as for a container image or CI."""
    from bayesgrove.cli.progress import log_to_stderr
    from bayesgrove.cli.warm_up import warm_up

    with log_to_stderr(0):
        warm_up(models or list(MODELS), _console())


@app.command()
def doctor() -> None:
    """Show versions, the kernel cache and the data found."""
    from bayesgrove.cli.doctor import doctor as run_doctor

    run_doctor(_console())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code: 0, 2 for the user's fault, 1 for ours, 130 on Ctrl+C."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    return run_app(app, words, usage="bayesgrove", prefix="bayesgrove")


def _tab(sep: str | None) -> str | None:
    r"""A separator as shells can pass it: \\t and tab stand for the tab."""
    return "\t" if sep in ("\\t", "tab") else sep


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)

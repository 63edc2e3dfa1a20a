"""`python -m papers [NAME | --all | --list]`: run experiments of the papers again and judge their claims.

`python -m papers data NAME --from PATH` builds the files of a research data set.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bayesgrove.cli.endings import run_app
from bayesgrove.core.errors import InvalidInputError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def papers(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An experiment; without it all are listed.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Run all experiments; the same command resumes an interrupted run.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments, as without NAME.")] = False,
    show: Annotated[
        bool, typer.Option("--show", help="With --all: run nothing, show the results in the folder.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller tables and fewer repeats.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the tables as CSV and the verdicts.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of data and methods.")] = 0,
    data_home: Annotated[Path | None, typer.Option(help="Folder of the research data.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Run an experiment of a paper again and judge its claims."""
    from rich.console import Console

    from bayesgrove.cli.progress import log_to_stderr
    from papers.run_all import Request, run_all
    from papers.run_one import list_experiments, run_one

    if every and name is not None:
        raise InvalidInputError(f"--all runs every experiment; leave {name} out, or --all.")
    if listed and (every or name is not None):
        raise InvalidInputError("--list runs nothing: leave NAME and --all out.")
    if show and not every:
        raise InvalidInputError("--show goes with --all: it shows what all experiments left in a folder.")
    console = Console(highlight=False)
    with log_to_stderr(0):
        if every:
            run_all(Request(quick, seed, data_home, out, force, show), console)
        elif name is None:
            list_experiments(console)
        else:
            run_one(name, console, quick=quick, out=out, seed=seed, data_home=data_home, force=force)


builder = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@builder.command()
def data(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set of docs/data.md.")],
    source: Annotated[Path, typer.Option("--from", help="The source's file, or a folder that holds it.")],
    data_home: Annotated[Path | None, typer.Option(help="Folder of the research data.")] = None,
) -> None:
    """Build the files of a research data set from its source."""
    from rich.console import Console

    from papers.data_sets import build

    for path in build(name, source, data_home):
        Console(highlight=False).print(str(path), soft_wrap=True, markup=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code: 0, 2 for the user's fault, 1 for ours, 130 on Ctrl+C."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["data"]:
        return run_app(builder, words[1:], usage="python -m papers data", prefix="papers")
    return run_app(app, words, usage="python -m papers", prefix="papers")


if __name__ == "__main__":
    sys.exit(main())

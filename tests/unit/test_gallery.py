"""Every example of the gallery runs, draws something, and says what it is."""

import ast
import os
import runpy
from pathlib import Path

import matplotlib
import pytest

from bayesgrove import plot

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.unit

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("plot_*.py"))


def test_there_is_an_example_of_every_picture():
    assert {path.stem.removeprefix("plot_") for path in EXAMPLES} == set(plot.__all__)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_and_ends_by_showing(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, underline = ast.get_docstring(tree).splitlines()[:2]
    assert underline == "=" * len(title)
    assert ast.unparse(tree.body[-1]) == "plt.show()"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws_the_picture(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    drawn = []
    name = path.stem.removeprefix("plot_")
    original = getattr(plot, name)
    monkeypatch.setattr(plot, name, lambda *given, **options: drawn.append(original(*given, **options)) or drawn[-1])
    pyplot.close("all")
    runpy.run_path(str(path), run_name="__main__")
    assert drawn
    for ax in drawn:
        ax.figure.canvas.draw()
        assert ax.get_xlabel() or ax.get_ylabel()
    if folder := os.environ.get("BAYESGROVE_GALLERY"):  # to look at them
        for number in pyplot.get_fignums():
            pyplot.figure(number).savefig(Path(folder) / f"{name}_{number}.png", dpi=80)
    pyplot.close("all")

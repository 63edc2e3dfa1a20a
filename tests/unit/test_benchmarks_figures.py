"""Figures read from rows of benchmarks: met, missed, absent, quick; the tables and pictures made of them."""

import importlib
import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benchmarks, which are beside the package, not in it."""
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    sys.path.remove(str(ROOT))


def document(benchmark, rows, *, quick=False, load=0.5):
    """As `python -m benchmarks` writes it, as far as tables and pictures read it."""
    when = {"minute": load, "quarter_hour": load, "cores": 2}
    provenance = {"time": "2026-01-01T00:00:00+00:00", "python": "3.11", "system": "Linux", "packages": {"numpy": "2"}}
    about = {"benchmark": benchmark, "quick": quick, "repeats": 5, "provenance": provenance}
    return {**about, "load": {"before": when, "after": when}, "rows": rows}


@pytest.fixture
def figure(bench):
    return bench("figures").Figure("speed", "issue 0", "made-up", {"part": "a"}, "ratio", "<=", 2.0, "s")


def judged(bench, figure, rows, **options):
    return bench("figures").judge(figure, [document("made-up", rows, **options)], {})


@pytest.mark.parametrize(
    ("sense", "rows", "state", "measured"),
    [
        ("<=", [1.5, 2.0], "met", "2"),
        ("<=", [1.5, 2.01], "missed", "2.01"),
        (">=", [2.0, 7.0], "met", "2"),
        (">=", [1.99, 7.0], "missed", "1.99"),
    ],
)
def test_the_worst_row_is_judged(bench, figure, sense, rows, state, measured):
    rows = [{"part": "a", "ratio": ratio} for ratio in rows]
    other = {"part": "b", "ratio": 100.0 if sense == "<=" else 0.0}
    found = judged(bench, figure._replace(sense=sense), [*rows, other])
    assert (found.state, found.measured, found.wanted) == (state, measured, f"{sense} 2 s")
    assert found.load == "0.5, 0.5"


def test_what_the_host_took_is_told(bench, tmp_path):
    load_of, stolen_seconds = bench("figures").load_of, bench("machine").stolen_seconds
    when = {"minute": 1.0, "cores": 2}
    for start, end, told in ((None, None, "1.0, 1.0"), (3.0, 3.2, "1.0, 1.0"), (3.0, 26.2, "1.0, 1.0; 23 s stolen")):
        load = {"before": {**when, "stolen": start}, "after": {**when, "stolen": end}}
        assert load_of({"load": load}) == told
    path = tmp_path / "stat"
    assert stolen_seconds(path) is None
    path.write_text("cpu  1 2 3\n")
    assert stolen_seconds(path) is None
    path.write_text("cpu  3544806 637274 313200 1197799 10462 0 4926 300 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    assert stolen_seconds(path) == 300 / os.sysconf("SC_CLK_TCK")


def test_a_ratio_of_two_rows(bench, figure):
    rows = [{"part": "a", "C": c, "ratio": ratio} for c, ratio in ((0.0, 4.0), (0.1, 10.0))]
    found = judged(bench, figure._replace(where={"part": "a", "C": 0.1}, over={"C": 0.0}), rows)
    assert (found.measured, found.state) == ("2.5", "missed")
    alone = judged(bench, figure._replace(where={"part": "a", "C": 0.1}, over={"C": 0.0}), rows[1:])
    assert (alone.state, alone.remark) == ("not measured", "no such row")


def test_a_share_and_what_a_contender_that_did_not_arrive_has_at_least(bench, figure):
    near = judged(bench, figure._replace(sense=">=", limit=0.95), [{"part": "a", "ratio": "19/20"}])
    assert (near.measured, near.state) == ("0.95", "met")
    late = judged(bench, figure._replace(sense=">="), [{"part": "a", "ratio": 40.0, "at_least": True}])
    assert late.measured == "at least 40"


@pytest.mark.parametrize("cell", [None, float("nan"), float("inf"), True, "slow", "a/b", "3/0", "1/2/3"])
def test_what_is_no_number_is_not_measured(bench, figure, cell):
    assert bench("figures").number(cell) is None
    assert judged(bench, figure, [{"part": "a", "ratio": cell}]).state == "not measured"


def test_small_cases_prove_nothing(bench, figure):
    found = judged(bench, figure, [{"part": "a", "ratio": 1.0}], quick=True)
    assert (found.state, found.measured) == ("quick", "1")
    assert "proves nothing" in found.remark
    assert judged(bench, figure, [{"part": "a"}], quick=True).remark == "a quick run has smaller cases"


def test_absent_figures_say_why(bench, figure):
    figures = bench("figures")
    peer = {"part": "a", "note": "not measured: run make bench-peers"}
    assert judged(bench, figure, [peer]).remark == "run make bench-peers"
    assert judged(bench, figure, [{**peer, "part": "b"}]).remark == "`made-up/a` was not run"
    assert figures.judge(figure, [], {}).remark == "`made-up/a` was not run"
    assert figures.judge(figure, [], {"made-up-a": "KeyError: 'x'"}).remark == "failed: KeyError: 'x'"
    assert figures.judge(figure, [], {"made-up-b": "KeyError"}).remark == "`made-up/a` was not run"


def test_figures_are_read_from_columns_that_benchmarks_write(bench):
    """Each names a benchmark, a part and a column that stand in the sources; a misspelt one would never be measured."""
    known = importlib.import_module("benchmarks.__main__")
    sources = "".join(path.read_text() for path in (ROOT / "benchmarks").rglob("*.py") if path.name != "wanted.py")
    figures = bench("wanted").FIGURES
    assert len({figure.name for figure in figures}) == len(figures)
    for figure in figures:
        assert figure.benchmark in known.NAMES, figure.name
        assert f'"{figure.column}"' in sources, figure.name
        assert figure.where.get("part") in {None, "growth", *known.PARTS.get(figure.benchmark, ())}, figure.name


def test_every_estimator_has_a_first_fit(bench):
    import bayesgrove

    models = bench("first_fit").MODELS
    assert set(models) <= set(bayesgrove.__all__)
    with_fit = {name for name in bayesgrove.__all__ if hasattr(getattr(bayesgrove, name), "fit")}
    assert with_fit == set(models)


@pytest.fixture
def folder(tmp_path, bench):
    """Documents of two benchmarks, one failure."""
    import json

    exact = [
        {"who": "ours", "n": n, "cpu_seconds": 1e-8 * n**2, "ours_over_this": 1.0, "over_floor": 1.1}
        for n in (2_000, 10_000)
    ]
    exact += [
        {"who": "fastcluster average", "n": n, "cpu_seconds": 2e-8 * n**2, "ours_over_this": 0.5 + n / 40_000}
        for n in (2_000, 10_000)
    ]
    waits = [
        {"part": "BHC", "what": f"first BHC fit, {name} cache", "model": "BHC", "cache": name, "wall_seconds": wall}
        | {"main_cpu_seconds": 20.0, "fit_seconds": 0.4}
        for name, wall in (("cold", 31.0), ("warm", 2.0))
    ]
    nested = [{"part": "rows", "C": 0.0, "rows": n, "ms_per_sweep": n / 500} for n in (1_000, 10_000)]
    documents = {"bhc": exact, "startup": waits, "nested": nested}
    for name, rows in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document(name, rows, load=7.0)))
    (tmp_path / "trees-estep.failed").write_text("MemoryError\n")
    return tmp_path


def test_one_table_of_all_figures(bench, folder, capsys):
    bench("suite").write_tables(folder)
    printed = capsys.readouterr().out
    lines = (folder / "figures.csv").read_text().splitlines()
    assert len(lines) == 1 + len(bench("wanted").FIGURES)
    assert '"BHC, 2,000 x 10, over fastcluster\'s average linkage",<= 1,0.55,met,"7.0, 7.0",,issue 2' in lines
    assert '"BHC, 10,000 x 10, over fastcluster\'s average linkage",<= 0.5,0.75,missed,"7.0, 7.0",,issue 2' in lines
    cold = next(line for line in lines if line.startswith('"first fit of BHC, nothing'))
    assert "<= 30 s,31,missed" in cold
    assert "main cpu seconds 20" in cold
    failed = next(line for line in lines if line.startswith('"E-step over the floor'))
    assert "not measured" in failed
    assert "failed: MemoryError" in failed
    assert (folder / "figures.md").read_text() in printed + "\n"
    assert "load average (1 minute) 7.0 to 7.0: other work shared the machine" in printed
    assert "### nested rows" in (folder / "rows.md").read_text()


def test_pictures_of_growth_floors_peers_and_first_fits(bench, folder, tmp_path, capsys):
    plots = bench("plots")
    plots.draw_all(folder, tmp_path / "pictures")
    drawn = {path.stem for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {f"benchmarks-{name}" for name in plots.PICTURES}
    documents = bench("suite").read_documents(folder)
    lines = plots.lines_of(plots.ROWS[0], documents)
    assert plots.slope(lines["ours"]) == pytest.approx(2.0)
    assert plots.slope(plots.lines_of(plots.GROWTH[0], documents)["C = 0"]) == pytest.approx(1.0)
    bar = next(
        b
        for b in plots.bars_of(documents, "ours_over_this", invert=True)
        if "fastcluster average, n = 10,000" in b.name
    )
    assert (bar.value, bar.limit, bar.is_most) == (pytest.approx(1 / 0.75), pytest.approx(2.0), False)


def test_a_picture_without_rows_is_not_drawn(bench, tmp_path, capsys):
    bench("plots").draw_all(tmp_path, tmp_path / "pictures")
    assert not list((tmp_path / "pictures").iterdir())
    assert "peers: no rows for it" in capsys.readouterr().err

"""What is committed of the experiments: by the command, in full, of today's form, and shown in the documentation."""

import csv
import json
import re
from pathlib import Path

import pytest
from papers.experiments import EXPERIMENTS
from papers.run_all import NOT_RUN, Found, Request, kept_in, write_summary
from papers.run_one import file_name

from bayesgrove.core import provenance

pytestmark = pytest.mark.unit
DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = DOCS / "results"
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")
COMMITTED = sorted(path.parent.name for path in RESULTS.glob("*/outcome.json"))
FULL = Request(quick=False, seed=0, data_home=None, out=RESULTS)


def outcome_of(name):
    return json.loads((RESULTS / name / "outcome.json").read_text(encoding="utf-8"))


def test_every_experiment_is_committed():
    assert set(COMMITTED) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", COMMITTED)
def test_results_are_those_of_a_full_run_of_this_version(name):
    about = outcome_of(name)["provenance"]
    assert (about["model"], about["settings"]) == (name, {"quick": False, "seed": 0})
    assert about["packages"]["bayesgrove"] == provenance.package_versions()["bayesgrove"]
    assert about["seconds"] > 0.0


@pytest.mark.parametrize("name", COMMITTED)
def test_tables_and_claims_are_those_of_the_outcome(name):
    outcome = outcome_of(name)
    with open(RESULTS / name / "claims.csv", newline="", encoding="utf-8") as stream:
        claims = [(row["verdict"], row["paper"].lstrip("'"), row["here"].lstrip("'")) for row in csv.DictReader(stream)]
    assert claims == [(claim["verdict"], claim["paper"], claim["ours"]) for claim in outcome["claims"]]
    tables = {f"{file_name(table)}.csv" for table in outcome["tables"]}
    assert {path.name for path in (RESULTS / name).glob("*.csv")} == {"claims.csv", *tables}


@pytest.mark.parametrize("name", COMMITTED)
def test_results_name_no_machine(name):
    text = "".join(path.read_text(encoding="utf-8") for path in (RESULTS / name).iterdir() if path.suffix != ".png")
    assert not re.search(r"(?<![\w.~])/(?:home|root|tmp|usr|Users|opt|mnt|" + "work" + r")/", text)


def test_the_table_of_verdicts_is_that_of_the_results(tmp_path):
    """Made again by `python -m papers --all --out docs/results`, which runs nothing where all are kept."""
    kept = kept_in(RESULTS, FULL)
    write_summary(tmp_path, [kept.get(name) or Found(name, NOT_RUN, why="nothing kept") for name in EXPERIMENTS])
    for file in ("summary.csv", "verdicts.csv"):
        assert (tmp_path / file).read_text(encoding="utf-8") == (RESULTS / file).read_text(encoding="utf-8")


def test_the_page_shows_what_is_committed_and_nothing_else():
    shown = re.findall(r":file: results/(\S+)", PAGE)
    assert all((RESULTS / file).is_file() for file in shown)
    assert {"summary.csv", *(f"{name}/claims.csv" for name in COMMITTED)} <= set(shown)
    for picture in re.findall(r"\(results/(\S+\.png)\)", PAGE):
        assert (RESULTS / picture).is_file()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_names_every_experiment(name):
    assert f"python -m papers {name}" in PAGE


def published():
    with open(RESULTS / "published.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_every_line_of_the_page_has_a_verdict_and_a_cause():
    verdicts = {"holds", "fails", "mixed", "undecided", "not attempted"}
    lines = published()
    assert {line["verdict"] for line in lines} <= verdicts
    assert len({(line["paper"], line["what"]) for line in lines}) == len(lines)
    for line in lines:
        assert line["cause"] or line["verdict"] == "holds", line["what"]
        assert bool(line["ours"]) or line["verdict"] == "not attempted", line["what"]


def test_lines_point_at_experiments_or_pages():
    places = {line["where"] for line in published() if line["where"]}
    assert set(EXPERIMENTS) - {"rbhmc-penalties"} <= places  # that one is about our own penalties
    for place in places - set(EXPERIMENTS):
        assert (DOCS / place).is_file()

"""Models of trees from the command line: documents in; labels, chances, trees and reports out."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest

from bayesgrove import InfiniteTreeHMMMixture, Tree, TreeHMM, TreeHMMMixture, load
from bayesgrove.cli import models
from bayesgrove.cli.main import main
from bayesgrove.cli.sources import short_names
from bayesgrove.cli.watch import RunSource

pytestmark = pytest.mark.unit

CHAINS = ("n_states=2", "n_chains=2", "n_tune=3", "n_draws=8", "n_init=1")


@pytest.fixture(autouse=True)
def real_models(fake_models, monkeypatch):
    """Undo what the other tests of this folder put in place."""
    monkeypatch.setattr(models, "LOADER", "bayesgrove.estimators.saving:load")


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """A folder of letters and books, an archive of the same, and a broken document beside it."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "all").mkdir()
    for n in range(1, 6):
        letter = "<letter><from/><to/><body>" + n * "<p/>" + "</body></letter>"
        book = "<book><title/>" + n * "<chapter><p/><fig/></chapter>" + "</book>"
        (folder / "all" / f"letter{n}.xml").write_text(letter)
        (folder / "all" / f"book{n}.xml").write_text(book)
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for path in sorted((folder / "all").iterdir()):
            archive.write(path, path.name)
    (folder / "broken.xml").write_text("<letter>")
    return folder


def fit(model, data, run, *words):
    return main(["fit", model, str(data), "--out", str(run), "--seed", "1", "--jobs", "1", *words])


def settings(*pairs):
    return [word for pair in pairs for word in ("--set", pair)]


@pytest.fixture(scope="module")
def fitted(documents, tmp_path_factory):
    """The folder of a run of chains and what was said."""
    folder = tmp_path_factory.mktemp("trees") / "run"
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as said:
        patch.setattr("sys.stdout", said)
        patch.setenv("COLUMNS", "100")
        assert fit("infinite-tree-hmm-mixture", documents / "all", folder, *settings(*CHAINS)) == 0
        return folder, said.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_run_keeps_labels_trees_and_pictures(fitted):
    folder, said = fitted
    model = load(folder / "model.bg")
    assert type(model) is InfiniteTreeHMMMixture
    assert "of 10 trees" in said
    assert "hidden states" in said
    labels = rows_of((folder / "labels.csv").read_text())
    assert [row["row"] for row in labels][:2] == ["book1.xml", "book2.xml"]
    assert [int(row["cluster"]) for row in labels] == model.labels_.tolist()
    assert model.tree_.leaf_labels[0] == "book1.xml"
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_rows"] == 10
    assert summary["trees"]["n_skipped"] == 0
    assert (folder / "tree.png").stat().st_size > 5_000
    assert "Typical trees" in (folder / "report.html").read_text(encoding="utf-8")


def test_status_report_and_exports(fitted, tmp_path, capsys):
    folder, _ = fitted
    assert main(["status", str(folder)]) == 0
    assert "8 of 8" in capsys.readouterr().out
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    assert "Typical trees" in (tmp_path / "page.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["export", str(folder), "--format", "labels"]) == 0
    assert len(rows_of(capsys.readouterr().out)) == 10
    assert main(["export", str(folder), "--format", "newick"]) == 0
    assert set(Tree.from_newick(capsys.readouterr().out).leaf_labels) == set(
        load(folder / "model.bg").tree_.leaf_labels
    )


def test_new_documents_have_clusters_and_chances(fitted, documents, capsys):
    folder, _ = fitted
    assert main(["predict", str(folder), str(documents / "all" / "letter*.xml"), "--proba"]) == 0
    rows = rows_of(capsys.readouterr().out)
    model = load(folder / "model.bg")
    assert [row["row"] for row in rows] == [f"letter{n}.xml" for n in range(1, 6)]
    assert [int(row["cluster"]) for row in rows] == model.labels_[5:].tolist()
    names = [*(f"p{k}" for k in range(model.n_clusters_)), "new"]
    assert sum(float(rows[0][name]) for name in names) == pytest.approx(1.0)
    assert main(["predict", str(folder), str(documents / "broken.xml")]) == 2
    assert "broken.xml, line 1" in capsys.readouterr().err


def test_a_run_goes_on_and_can_be_watched(fitted, capsys):
    folder, _ = fitted
    before = load(folder / "model.bg")
    for name in ("summary.json", "model.bg"):
        (folder / name).rename(folder / f"{name}.away")
    source = RunSource(folder)
    found = source.result()
    assert found.tree.leaf_labels[0] == "book1.xml"
    assert "nodes" in found.feature_names
    for name in ("summary.json", "model.bg"):
        (folder / f"{name}.away").rename(folder / name)
    assert main(["resume", str(folder), "--draws", "10", "--jobs", "1"]) == 0
    capsys.readouterr()
    after = load(folder / "model.bg")
    np.testing.assert_array_equal(after.posterior_.labels[:, :8], before.posterior_.labels)
    assert after.tree_.leaf_labels == before.tree_.leaf_labels


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("tree-hmm", TreeHMM, ("n_states=2", "n_init=1", "max_iter=3")),
        ("tree-hmm-mixture", TreeHMMMixture, ("n_clusters=2", "n_states=2", "prior_strength=1.1", "max_iter=9")),
    ],
)
def test_models_without_chains_read_archives(name, kind, words, documents, tmp_path, capsys):
    run = tmp_path / "run"
    assert fit(name, documents / "all.zip", run, *settings(*words)) == 0
    capsys.readouterr()
    model = load(run / "model.bg")
    assert type(model) is kind
    assert main(["predict", str(run), str(documents / "all.zip"), "--proba"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert "new" not in rows[0]
    assert sum(float(rows[0][f"p{k}"]) for k in range(2)) == pytest.approx(1.0)


def test_options_of_readers_are_kept(documents, tmp_path, capsys):
    run = tmp_path / "run"
    words = [*settings("n_states=1", "n_init=1", "max_iter=1"), "--format", "xml", "--read", "max_children=2"]
    assert fit("tree-hmm", documents / "all", run, *words) == 0
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["format"], summary["options"], summary["trees"]["max_outdegree"]) == ("xml", {"max_children": 2}, 2)
    assert main(["predict", str(run), str(documents / "all")]) == 0
    capsys.readouterr()
    assert fit("tree-hmm", documents, tmp_path / "other", *settings("n_states=1"), "--read", "errors=skip") == 0
    assert json.loads((tmp_path / "other" / "summary.json").read_text())["trees"]["n_skipped"] == 1


def test_files_read_skipped_and_ignored_are_told(tmp_path, capsys):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.xml").write_text("<a><b/><c/></a>")
    (folder / "broken.xml").write_text("<a><b></a>")
    for name in ("notes.txt", "more.txt", "Makefile"):
        (folder / name).write_text("nothing to parse")
    words = settings("n_states=1", "n_init=1", "max_iter=1")
    assert fit("tree-hmm", folder, tmp_path / "run", *words) == 0
    shown = capsys.readouterr().out
    assert "Read 3 trees of 9 nodes (xml)." in shown
    assert "Skipped 1 that could not be read:\n" in shown
    assert shown.count("broken.xml, line 1") == 1
    assert "Ignored 3 files of other formats: 2 .txt, 1 without an ending" in shown
    assert fit("tree-hmm", folder, tmp_path / "strict", *words, "--read", "errors=raise") != 0


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        ("tree-hmm", ["--index", "name"], "--index does not go with this model: tree-hmm takes trees"),
        ("tree-hmm", ["--drop", "name"], "--drop does not go with this model: tree-hmm takes trees"),
        ("nrm-mixture", ["--format", "xml"], "--format does not go with this model: nrm-mixture takes a table"),
        ("tree-hmm", ["--read", "colour=red"], "there is no option 'colour' here"),
        ("tree-hmm", ["--read", "colour"], "--read takes key=value, got 'colour'"),
        ("tree-hmm", ["--set", "likelihood=gaussian"], "TreeHMM has no setting 'likelihood'"),
        ("tree-hmm", ["--format", "pdf"], "format is one of auto, xml"),
    ],
)
def test_options_that_do_not_fit_are_the_users_fault(model, words, message, documents, tmp_path, capsys):
    assert fit(model, documents / "all", tmp_path / "run", *words) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_names_are_short():
    assert short_names(("a/b/c.xml", "a/b/d/e.xml")) == ("c.xml", "d/e.xml")
    assert short_names(("c.xml:1", "c.xml:2")) == ("c.xml:1", "c.xml:2")
    assert short_names(None) is None

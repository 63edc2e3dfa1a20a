"""`python -m benchmarks scorecard`: figures against their definitions, reading, resuming, messages."""

import argparse
import itertools

import numpy as np
import pandas as pd
import pytest
from benchmarks import __main__ as command
from benchmarks.scorecard import calibration, measure, methods, page, pictures, run, sets, store, summary, work

from bayesgrove import Tree

pytestmark = pytest.mark.unit


def random_tree(rng, n):
    """Merges of two random roots at a time."""
    roots, merges = list(range(n)), []
    while len(roots) > 1:
        i, j = rng.choice(len(roots), 2, replace=False)
        merges.append([roots[i], roots[j]])
        roots = [root for place, root in enumerate(roots) if place not in (i, j)] + [n + len(merges) - 1]
    return Tree.from_merges(merges)


def purity_by_pairs(tree, reference):
    """The definition written out."""
    shares = []
    for i, j in itertools.combinations(range(len(reference)), 2):
        if reference[i] == reference[j] != sets.NOISE:
            below = reference[tree.items_below(tree.lca(i, j))]
            shares.append(np.mean(below[below != sets.NOISE] == reference[i]))
    return np.mean(shares)


@pytest.mark.parametrize("seed", range(8))
def test_purity_is_the_mean_over_pairs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 25))
    reference = rng.integers(0, 4, n)
    reference[:2] = 1
    tree = random_tree(rng, n)
    assert measure.dendrogram_purity(tree, reference) == pytest.approx(purity_by_pairs(tree, reference))


def test_purity_of_a_tree_with_many_children():
    tree = Tree.from_parents([5, 5, 5, 6, 6, 6, -1])
    reference = np.array([1, 1, 2, 2, 1])
    assert measure.dendrogram_purity(tree, reference) == pytest.approx(purity_by_pairs(tree, reference))


def test_scores_take_the_best_reference_and_leave_noise_out():
    references = np.array([[1, 2, 1, 2, 1, 2], [1, 1, 2, 2, 0, 0]])
    found = measure.scores(methods.Fitted(np.array([0, 0, 1, 1, 0, 1])), references)
    assert (found["ari"], found["true_clusters"], found["clusters"], found["purity"]) == (1.0, 2, 2, None)


def test_a_tree_without_a_cut_is_scored_at_the_true_number():
    fitted = methods.PEERS["Ward linkage"](np.array([[0.0], [0.1], [5.0], [5.1]]))
    found = measure.scores(fitted, np.array([[1, 1, 2, 2]]))
    assert (found["ari"], found["ari_at_k"], found["purity"], found["true_clusters"]) == (None, 1.0, 1.0, 2)


@pytest.fixture
def folder(tmp_path):
    """Two tiny sets and a mixed table."""
    rng = np.random.default_rng(0)
    for group in ("scorecard", "tables"):
        (tmp_path / group).mkdir()
    X = np.concatenate([rng.normal(0, 1, (20, 2)), rng.normal(9, 1, (20, 2))])
    labels = np.repeat([1, 2], 20)
    noisy = np.where(np.arange(40) % 10 == 0, 0, labels)
    np.savez(tmp_path / "scorecard" / "two-blobs.npz", X=np.column_stack([X, np.ones(40)]), labels=[labels, noisy])
    np.savez(tmp_path / "scorecard" / "two-more.npz", X=3 * X, labels=labels[None])
    table = {"size": [1.0, np.nan, 3.0, 2.0] * 10, "colour": ["red", "blue", None, "red"] * 10}
    table |= {"legs": [2, 4, 6, 8] * 10, "same": ["x"] * 40, "class": ["a", "b"] * 20}
    pd.DataFrame(table).to_csv(tmp_path / "tables" / "things.csv", index=False)
    return tmp_path


def test_a_set_is_standardised_cut_and_has_all_references(folder):
    data = sets.read("two-blobs", folder, 30)
    assert data.ours.shape == (30, 2)  # the constant column is gone
    np.testing.assert_allclose(data.ours.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.ours.std(axis=0), 1.0)
    assert data.references.shape == (2, 30)
    assert (data.references[1] == sets.NOISE).any()
    np.testing.assert_array_equal(data.ours, sets.read("two-blobs", folder, 30).ours)


def test_a_mixed_table_is_a_frame_for_us_and_numbers_for_peers(folder):
    data = sets.read("things", folder, 1500)
    assert data.is_mixed
    assert data.has_missing
    assert list(data.ours.columns) == ["size", "colour", "legs"]
    assert data.ours["legs"].tolist()[:4] == [2, 4, 6, 8]
    assert data.ours["size"].mean() == pytest.approx(0.0)
    assert data.peers.shape == (40, 4)
    assert np.isfinite(data.peers).all()
    assert sorted(np.unique(data.references)) == [1, 2]


def test_missing_folders_are_named(tmp_path, capsys):
    assert set(sets.available(tmp_path / "nowhere")) == {*sets.OWN, *sets.ONE_CLUSTER}
    said = capsys.readouterr().err
    assert "Skipped the sets of 'scorecard': no files in" in said
    assert "Skipped the sets of 'tables'" in said


def asked(folder, *words):
    parsed = command.parse(["scorecard", "--data", str(folder), "--out", str(folder / "out"), *words])
    assert isinstance(parsed, argparse.Namespace)
    return parsed


@pytest.fixture
def fits(monkeypatch):
    """A method of ours and a peer that only count their fits."""
    done = []

    def halves(name):
        def fit(X):
            done.append((name, len(X)))
            return methods.Fitted((np.arange(len(X)) * 2 // len(X)), score_samples=lambda X: np.zeros(len(X)))

        return fit

    for name in ("BHC", "HDBSCAN"):
        monkeypatch.setitem(methods.METHODS, name, halves(name))
    return done


def test_finished_results_are_not_computed_again(folder, fits, capsys):
    words = ["--only", "two", "--methods", "BHC,HDBSCAN"]
    run(asked(folder, *words))
    assert fits == [("BHC", 32), ("BHC", 40)] * 2
    assert "2 results of peers are not cached" in capsys.readouterr().err
    run(asked(folder, *words, "--peers"))
    assert fits[4:] == [("HDBSCAN", 40)] * 2
    run(asked(folder, *words, "--force"))
    assert fits[6:] == [("BHC", 32), ("BHC", 40)] * 2
    run(asked(folder, *words))
    assert len(fits) == 10
    capsys.readouterr()
    run(asked(folder, "--group", "scorecard", "--methods", "BHC"))
    assert len(fits) == 10
    assert "HDBSCAN" in capsys.readouterr().out  # cached peers are always in the tables
    found = store.Store(folder / "out" / "results.csv").rows
    assert {(row["set"], row["method"], row["ari"]) for row in found.values()} == set(
        itertools.product(("two-blobs", "two-more"), ("BHC", "HDBSCAN"), (1.0,))
    )
    assert (folder / "out" / "summary.csv").read_text().startswith("method,sets,ari,log_ratio,")


def test_failures_are_kept_with_their_reason_and_tried_again(folder, monkeypatch, capsys):
    def fail(X):
        raise ValueError("no such luck")

    words = ["--only", "two-blobs", "--methods", "BHC"]
    monkeypatch.setitem(methods.METHODS, "BHC", fail)
    run(asked(folder, *words))
    assert "ValueError: no such luck" in (folder / "out" / "results.csv").read_text()
    run(asked(folder, *words))
    assert capsys.readouterr().err.count("[1/1] two-blobs, BHC: ValueError") == 2


def test_the_committed_cache_serves_the_usual_data_only(folder):
    assert work.peers_file(asked(folder)) == folder / "out" / "peers.csv"
    usual = command.parse(["scorecard"])
    assert work.peers_file(usual) == work.PEERS_FILE
    usual.limit_rows = 100
    assert work.peers_file(usual) == usual.out / "peers.csv"


def test_methods_are_chosen_by_name(folder):
    assert "NRMMixture" not in methods.chosen(asked(folder))
    assert "NRMMixture" in methods.chosen(asked(folder, "--chains"))
    assert methods.chosen(asked(folder, "--all-models")) == list(methods.METHODS)
    with pytest.raises(SystemExit, match="must name methods, got magic"):
        methods.chosen(asked(folder, "--methods", "BHC,magic"))
    with pytest.raises(SystemExit, match="No data set fits --only zzz"):
        run(asked(folder, "--only", "zzz"))


def result(name, method, ari, clusters=2):
    return {"group": "scorecard", "set": name, "method": method, "rows": 10, "columns": 2, "ari": ari,
            "clusters": clusters, "true_clusters": 2}  # fmt: skip


def test_wins_and_losses_are_differences_over_the_margin():
    rows = [result(name, "BHC", 0.5, 4) for name in "abc"]
    rows += [result(name, "HDBSCAN", ari) for name, ari in zip("abc", (0.4, 0.51, 0.9), strict=True)]
    assert summary.win_rows(rows) == [{"peer": "HDBSCAN", "measure": "ari", "wins": 1, "ties": 1, "losses": 1}]
    assert summary.mean_rows(rows)[0]["log_ratio"] == pytest.approx(np.log(2.0))
    assert page.losses(rows) == [{"set": "c", "BHC": "0.50", "best peer": "HDBSCAN", "ARI": "0.90"}]


def test_the_page_and_the_pictures_come_from_the_results(folder, fits):
    (folder / "images").mkdir()
    words = ["--only", "two", "--methods", "BHC", "--plots", str(folder / "images"), "--page", str(folder / "card.md")]
    run(asked(folder, *words))
    text = (folder / "card.md").read_text()
    assert "| two-more | 40 | 2 | 1.00 (2) |" in text
    for name in page.PICTURES:
        assert (folder / "images" / name).stat().st_size > 0
        assert f"](images/{name})" in text
    assert pictures.title_of(result("a", "BHC", 0.934, 31)) == "a ARI .93, K 31/2"


def test_sets_of_one_cluster_are_read_and_shown(folder):
    for name, (_, n_columns) in sets.ONE_CLUSTER.items():
        data = sets.read(name, folder, 1500)
        assert data.ours.shape == (sets.N_NULL_ROWS, n_columns)
        assert (data.group, np.unique(data.references).tolist()) == ("nulls", [1])
    words = ["--only", "null-uniform-2", "--methods", "cluster", "--no-density", "--page", str(folder / "card.md")]
    run(asked(folder, *words))
    text = (folder / "card.md").read_text()
    assert "## Sets that are one cluster" in text
    assert "| null-uniform-2 | 500 | 1 | 1.00 (1) |" in text


def test_bins_of_probabilities_are_judged_by_their_binomial_intervals():
    told = np.repeat([0.02, 0.6, 0.99, 0.3], [100, 100, 100, 10])
    is_apart = np.concatenate([np.arange(100) < 3, np.arange(100) < 90, np.arange(100) < 98, np.arange(10) < 3])
    lines = calibration.calibration(told, np.where(is_apart, 0.1, np.where(told > 0.5, 0.5, 1.0)))
    assert [(line["sets"], line["verdict"]) for line in lines] == [
        (100, "within"), (10, "too few sets"), (100, "outside"), (100, "within"),
    ]  # fmt: skip
    assert [line["share apart"] for line in lines] == [0.03, 0.3, 0.9, 0.98]
    assert [line["share with a valley"] for line in lines] == [0.03, 0.3, 1.0, 1.0]


def test_sets_of_a_calibration_are_not_fitted_again(tmp_path, monkeypatch):
    asked = []

    def model(X, seed):
        asked.append((len(X), seed))
        return 0.25

    monkeypatch.setitem(calibration.MODELS, "BHC", model)
    path = tmp_path / "sets.csv"
    first = calibration.measured_cell("BHC", "uniform", "60", 2, path)
    again = calibration.measured_cell("BHC", "uniform", "60", 3, path)
    assert asked == [(60, 0), (60, 1), (60, 2)]
    assert calibration.numbers(again, "probability").tolist() == [0.25] * 3
    assert (
        calibration.numbers(again[:2], "saddle_ratio").tolist() == [row["saddle_ratio"] for row in first] == [1.0, 1.0]
    )

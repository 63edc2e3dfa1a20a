"""The page of a report: one file, escaped throughout, scripts named by their hashes; and the document inside."""

import base64
import dataclasses
import hashlib
import json
import re
import string

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.exhibits import Exhibit
from bayesgrove.inference.overview import CountDistribution
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods import Columns, GaussianDiagonal, Poisson
from bayesgrove.report import words, write_report
from bayesgrove.report.document import report_document
from bayesgrove.report.encode import number, pack, safe_json
from bayesgrove.report.page import SCRIPTS, STYLES, asset, page_html
from bayesgrove.report.tree import MOST_LEAVES
from bayesgrove.trees import Tree
from reference.planted import planted_result
from reference.planted_views import planted_view_draws, planted_views

pytestmark = pytest.mark.unit

HOSTILE = "</script><script>alert(1)</script><!-- @@PROGRAM@@ & \u2028 \u202e"


def unpacked(packed):
    kinds = {"f4": "<f4", "i4": "<i4", "u1": "|u1"}
    return np.frombuffer(base64.b64decode(packed["data"]), kinds[packed["type"]]).reshape(packed["shape"])


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("kind", "values"), [("f4", [1.5, np.nan, np.inf]), ("i4", [[1, -2], [3, 4]]), ("u1", [0, 255])]
)
def test_arrays_come_back(kind, values):
    np.testing.assert_array_equal(unpacked(pack(values, kind)), values)


def test_what_single_precision_cannot_hold_is_infinite():
    assert unpacked(pack([1e300], "f4")).tolist() == [np.inf]


def test_json_has_nothing_that_html_reads():
    text = safe_json({HOSTILE: [HOSTILE, "half a pair \ud800"]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {HOSTILE: [HOSTILE, "half a pair ?"]}


def test_numbers_that_json_cannot_hold_are_left_out():
    assert [number(x) for x in (1.0, np.nan, -np.inf)] == [1.0, None, None]


def test_a_page_is_the_same_document_and_names_its_scripts_by_hash():
    document = report_document(planted_result(), HOSTILE)
    page = page_html(document)
    assert data_of(page) == json.loads(json.dumps(document))
    assert page.count("<script") == 3
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL) + re.findall(
        r"<style>(.*?)</style>", page, re.DOTALL
    )
    assert len(inline) == 3
    for text in inline:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "connect-src 'none'" in policy
    assert "connect-src 'self'" in page_html(document, live=True)


def test_hostile_names_stay_data():
    result = planted_result()
    names = tuple(f"{HOSTILE}{i}" for i in range(result.labels.size))
    page = page_html(
        report_document(dataclasses.replace(result, tree=dataclasses.replace(result.tree, leaf_labels=names)), HOSTILE)
    )
    assert "<script>alert" not in page
    assert "@@" not in page.replace("@@PROGRAM@@", "", page.count("@@PROGRAM@@"))
    assert data_of(page)["items"]["names"][3] == f"{HOSTILE}3"


def test_nothing_is_asked_of_anyone():
    page = page_html(report_document(planted_result()))
    assert re.findall(r'(?:src|href|action)\s*=\s*["\'](?!#)', page) == []
    assert "@import" not in page
    scripts = "\n".join(asset(name) for name in SCRIPTS if name != "live.js")
    assert not re.search(
        r"\b(fetch|XMLHttpRequest|WebSocket|importScripts|sendBeacon|eval|innerHTML|outerHTML)\b", scripts
    )
    assert "url(" not in "\n".join(asset(name) for name in STYLES)


def test_the_licence_of_d3_is_on_the_page():
    page = page_html(report_document(planted_result()))
    assert "Permission to use, copy, modify, and/or distribute this software" in page
    assert "Mike Bostock" in page


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    place = tmp_path / "page.html"
    assert write_report(planted_result(), place, title="first") == place
    before = place.read_bytes()
    monkeypatch.setattr("bayesgrove.report.page.report_document", lambda *_: {"title": "x", "bad": object()})
    with pytest.raises(TypeError):
        write_report(planted_result(), place)
    assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_document_agrees_with_the_result():
    result = planted_result()
    document = report_document(result)
    tree, found = result.tree, document["tree"]
    np.testing.assert_array_equal(unpacked(found["node"]), np.arange(tree.n_nodes))
    np.testing.assert_array_equal(unpacked(found["parent"]), tree.parent)
    np.testing.assert_array_equal(unpacked(found["item"]), tree.item)
    np.testing.assert_array_equal(unpacked(document["items"]["labels"]), result.labels)
    np.testing.assert_array_equal(unpacked(document["clusters"]["size"]), np.bincount(result.labels))
    for node, first in enumerate(unpacked(found["first_item"])):
        assert first == tree.items_below(node).min()
    for node, label in enumerate(unpacked(found["label"])):
        own = np.unique(result.labels[tree.items_below(node)])
        assert label == (own[0] if own.size == 1 else -1)


def test_a_large_tree_is_folded(monkeypatch):
    n = MOST_LEAVES + 1
    merges = np.column_stack([np.concatenate([[0], np.arange(n, 2 * n - 2)]), np.arange(1, n)])
    tree = Tree.from_merges(merges, log_merge_odds=np.linspace(4.0, -4.0, n - 1))
    result = Result("Chain", tree.cut(probability=0.5), tree, None, None, (), {})
    document = report_document(result)
    assert document["items"]["labels"] is None
    assert document["tree"]["is_whole"] is False
    assert document["tree"]["cut"] == 0.5
    parents = unpacked(document["tree"]["parent"])
    ends = np.setdiff1d(np.arange(parents.size), parents)
    assert ends.size <= MOST_LEAVES
    assert unpacked(document["tree"]["size"])[ends].sum() == n


def test_the_page_of_a_thousand_rows_is_small():
    result = planted_result((400, 300, 200, 100))
    assert len(page_html(report_document(result)).encode()) < 1_500_000


def test_an_unknown_exhibit_is_refused():
    result = dataclasses.replace(planted_result(), exhibits=(Exhibit(title="strange"),))
    with pytest.raises(InvalidInputError, match=r"a report shows .* got Exhibit"):
        report_document(result)


def test_a_tree_without_odds_has_no_probabilities():
    tree = Tree.from_newick("((a:1,b:1):1,c:2);")
    document = report_document(Result("Plain", np.array([0, 0, 1]), tree, None, None, (), {}))
    assert document["similarity"] is None
    assert document["counts"] is None
    assert document["tree"]["log_odds"] is None
    assert document["summary"]["how_sure"] == "This tree has no probabilities."
    assert document["summary"]["which_features"] == ["Nothing is known of the columns: the model keeps no table."]


def test_sentences_of_chains_count_draws():
    labels = np.array([0, 0, 0, 1, 1])
    draws = np.stack([np.tile(labels, (8, 1)), np.tile([0, 0, 0, 1, 2], (8, 1))])
    posterior = Posterior(draws, {})
    tree = Tree.from_parents([5, 5, 5, 6, 6, 7, 7, -1], columns={"log_merge_odds": [np.inf] * 5 + [2.0, 0.0, -3.0]})
    result = Result("M", labels, tree, None, None, (), {}, posterior=posterior, diagnostics=posterior.diagnostics())
    summary = report_document(result)["summary"]
    assert "5 rows in 2 clusters (of 3, 2 rows). 50 % of the draws have 2 clusters" in summary["how_many"]
    assert "90 % of the draws have 2 to 3." in summary["how_many"]
    # three pairs in all draws, one in half of them
    assert "probability 0.88 on average; the least sure is cluster 1 (0.50, 2 rows)" in summary["how_sure"]
    assert summary["trust"] == result.diagnostics.verdict.sentence_for_readers


def test_pairs_of_diagnostics_are_named_after_what_the_draws_divide():
    """Draws of views divide columns; their pairs once had the names of rows."""
    posterior = planted_view_draws()
    names = tuple(f"row {i}" for i in range(30))
    result = planted_views(names=names, posterior=posterior, diagnostics=posterior.diagnostics())
    chains = report_document(result)["chains"]
    assert (chains["item"], chains["group"]) == ("column", "view")
    pairs = {row["name"]: row["pair"] for row in chains["table"]}
    assert pairs["log_joint"] is None
    assert pairs["together[0,5]"] == ["column 0", "column 5"]
    chains = report_document(planted_result(chains=(2, 40), names=tuple(f"row {i}" for i in range(28))))["chains"]
    assert (chains["item"], chains["group"]) == ("row", "cluster")
    (name, pair) = next((row["name"], row["pair"]) for row in chains["table"] if row["pair"] is not None)
    assert name == f"together[{','.join(one.removeprefix('row ') for one in pair)}]"
    chains = report_document(planted_result(chains=(2, 40)))["chains"]
    assert all(row["pair"] is None for row in chains["table"])


def test_a_single_row_is_no_plural():
    tree = Tree.from_parents([-1], columns={"log_merge_odds": [np.inf]})
    summary = report_document(Result("One", np.zeros(1, np.int64), tree, None, None, (), {}))["summary"]
    assert summary["how_many"].startswith("1 row in 1 cluster.")
    assert summary["how_sure"].startswith("No cluster has two rows")


def test_sentences_name_the_features_that_were_planted():
    features = report_document(planted_result())["summary"]["which_features"]
    first = next(sentence for sentence in features if sentence.startswith("Cluster 0: "))
    assert re.search(r"high weight \([-\d.]+, all rows -2\.\d+\), low length", first)
    assert re.search(r"often colour = red \(9\d %, all rows \d\d %\)", first)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (1234.4, "1,234"), (0.012345, "0.0123"), (1e-7, "1.00e-07"), (-2.5, "-2.5")]
)
def test_numbers_are_short(value, text):
    assert words.short(value) == text


@pytest.mark.parametrize(("value", "text"), [(1.0, "1.00"), (0.999, ">.99"), (0.001, "<.01"), (0.5, "0.50")])
def test_chances_never_round_to_certainty(value, text):
    assert words.chance(value) == text


def test_scripts_share_one_scope_without_sharing_names():
    names = re.findall(r"^(?:async )?function (\w+)", "\n".join(asset(name) for name in SCRIPTS), re.MULTILINE)
    assert len(names) > 100
    assert len(names) == len(set(names))


def test_every_asset_is_used():
    from importlib import resources

    shipped = {path.name for path in resources.files("bayesgrove.report").joinpath("assets").iterdir()}
    assert shipped == {*SCRIPTS, *STYLES, "page.html", "d3.min.js", "d3-LICENSE.txt"}
    marks = set(re.findall(r"@@([A-Z]+)@@", asset("page.html")))
    assert marks == {"POLICY", "TITLE", "STYLE", "LICENCE", "DATA", "LIBRARY", "PROGRAM"}
    assert all(set(name) <= {*string.ascii_lowercase, "_", "."} for name in SCRIPTS)


def test_a_page_of_views_holds_each_of_them_and_stays_small():
    sizes = ((400, 300, 200, 100), (500, 500), (300, 300, 200, 100, 100), (700, 200, 100))
    result = planted_views((40, 30, 20, 10), sizes)
    document = report_document(result)
    views = document["views"]
    assert views["n_views"] == 4
    assert [view["n_clusters"] for view in views["list"]] == [4, 2, 5, 3]
    assert views["list"][0]["page"] is None
    np.testing.assert_array_equal(unpacked(document["items"]["labels"]), result.views[0].labels)
    for view, found in zip(result.views[1:], views["list"][1:], strict=True):
        page = found["page"]
        np.testing.assert_array_equal(unpacked(page["items"]["labels"]), view.labels)
        assert sorted(page) == sorted(document.keys() & page.keys())
        assert page["table"]["columns"] == [result.feature_names[j] for j in unpacked(found["columns"])]
        np.testing.assert_array_equal(unpacked(found["drawn"]), unpacked(found["columns"]))
    assert len(page_html(document).encode()) < 3_000_000
    many = planted_views((6,) * 16 + (2, 2), ((400, 300, 200, 100),) * 18)
    assert len(page_html(report_document(many)).encode()) < 3_000_000


def test_sentences_count_views():
    assert report_document(planted_views())["title"] == "Planted: 3 views"
    one = planted_views((3,), ((4, 3),))
    sentence = report_document(one)["views"]["sentence"]
    assert sentence.startswith("3 columns in 1 view. ")
    assert "the probability of 1 view is" in sentence


def test_the_likelihood_of_a_wide_table_is_bounded_and_named_by_column():
    result = planted_result()
    names = tuple(f"column {j}" for j in range(500))
    wide = dataclasses.replace(result, likelihood=Columns([Poisson(1 / 3, 2.0)] * 500), feature_names=names)
    rows = dict(report_document(dataclasses.replace(wide, description=None))["settings"])
    assert rows["likelihood used"] == "Columns: 500 Poisson"
    assert rows["likelihood of column 99"] == "Poisson(shape=0.333333, rate=2)"
    assert "likelihood of column 100" not in rows
    assert rows["and more"] == "400 columns are not listed here"
    one = dataclasses.replace(result, likelihood=GaussianDiagonal(mean=np.arange(500.0)))
    assert "29, … 500 numbers)" in dict(report_document(one)["settings"])["likelihood used"]


def test_an_estimate_outside_its_interval_says_what_it_minimises():
    posterior = Posterior(np.tile([0, 0, 1, 1, 2], (1, 40, 1)), attributes={"estimate": "vi"})
    law = CountDistribution(np.array([3, 8]), np.array([0.96, 0.04]), True)
    result = dataclasses.replace(planted_result(), posterior=posterior)
    assert words.why_another_number(result, law, 3, "cluster") == ""
    assert words.why_another_number(result, law, 8, "cluster") == (
        "The 8 clusters shown are the partition of least expected variation of information, a summary of all "
        "draws; the most frequent number is 3."
    )

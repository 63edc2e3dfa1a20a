"""Newick, JSON, linkage, networkx, terminal text and HTML."""

import contextlib
import json
import re
from collections import Counter
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage

from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.trees import Tree, lay_out, parse_newick
from bayesgrove.trees.html import folded_to_html
from bayesgrove.trees.layout import decision_scale, opened_nodes
from reference.trees import leaves_below, random_merges, random_parents

pytestmark = pytest.mark.unit


def clades(tree):
    """Leaf names below each node with the node's height: the tree without its ids."""
    below = leaves_below(tree.parent, tree.item)
    return sorted(
        (sorted(tree.label(i) for i in items), round(float(h), 9)) for items, h in zip(below, tree.height, strict=True)
    )


@pytest.mark.parametrize("seed", range(20))
def test_newick_round_trip(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_parents(random_parents(rng, int(rng.integers(1, 40))))
    assert clades(Tree.from_newick(tree.to_newick())) == clades(tree)
    n = 15
    labels = [f"it's [{i}], (so_called): x;" for i in range(n)]
    named = Tree.from_merges(random_merges(rng, n), rng.normal(0, 3, n - 1), leaf_labels=labels)
    assert clades(Tree.from_newick(named.to_newick())) == clades(named)


def test_newick_of_a_known_text():
    parsed = parse_newick("(A:0.1,'B ''x''':0.2[a comment],(C_c:.3,D)E:0.4)F;\n")
    assert parsed.names == ["A", "B 'x'", "C c", "D", "E", "F"]
    assert parsed.parent.tolist() == [5, 5, 4, 4, 5, -1]
    np.testing.assert_array_equal(parsed.lengths, [0.1, 0.2, 0.3, np.nan, 0.4, np.nan])
    tree = Tree.from_newick("(A:1,B:2,(C:3,D:1):4);")
    assert tree.leaf_labels == ("A", "B", "C", "D")
    assert tree.height.tolist() == [6.0, 5.0, 0.0, 2.0, 3.0, 7.0]


def test_newick_without_lengths_has_levels():
    assert Tree.from_newick("((a,b),c);").height.tolist() == [0, 0, 1, 0, 2]
    assert Tree.from_newick("(,(,));").leaf_labels is None


def test_newick_numbers_restore_items():
    assert Tree.from_newick("(2,(0,1));").item.tolist() == [2, 0, 1, -1, -1]


def test_newick_a_hundred_thousand_deep():
    n = 100_001
    left = np.concatenate([[0], np.arange(n, 2 * n - 2)])
    tree = Tree.from_merges(np.column_stack([np.arange(1, n), left]), heights=np.arange(1.0, n))
    twin = Tree.from_newick(tree.to_newick())
    assert twin.leaf_order.tolist() == tree.leaf_order.tolist()
    assert sorted(twin.height.tolist()) == sorted(tree.height.tolist())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="(),;:'[]ab_ 1.", max_size=30))
def test_newick_parser_reads_what_it_writes_and_breaks_with_its_own_error_only(text):
    with contextlib.suppress(InvalidTreeError):
        tree = Tree.from_newick(text)
        assert clades(Tree.from_newick(tree.to_newick())) == clades(tree)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a,b)", r"position 5 .*the text ends before ';'"),
        ("", "position 0 .*the text ends before ';'"),
        ("(a,b;", r"position 4 .*while 1 '\(' are still open"),
        ("a,b;", "position 1 .*several roots"),
        ("a);", r"position 1 .*a '\)' without its '\('"),
        ("(a b,c);", "position 3 .*a second name for one node"),
        ("(a(b),c);", "position 2 .*one is already under way"),
        ("(a:x,b);", "position 2 .*one finite number >= 0 after ':', got 'x'"),
        ("(a:-1,b);", "got '-1'"),
        ("(a:inf,b);", "got 'inf'"),
        ("(a:1:2,b);", "got '2'"),
        ("(a[never closed,b);", r"position 2 .*a comment '\[' without its '\]'"),
        ("('a,b);", "position 1 .*a quote never closed"),
        ("(a,b); (c,d);", "position 6 .*one tree at a time"),
        (f"({'a' * 10_001},b);", "a name of 10001 characters"),
    ],
)
def test_newick_errors_name_the_position(text, message):
    with pytest.raises(InvalidTreeError, match=message):
        Tree.from_newick(text)


def test_newick_size_limit():
    with pytest.raises(InvalidTreeError, match=r"position 4 .*more than 1 nodes\. Raise max_nodes"):
        Tree.from_newick("(a,b,c);", max_nodes=1)


def test_newick_file(tmp_path):
    tree = Tree.from_merges([[0, 1]])
    written = tree.to_newick(tmp_path / "t.nwk")
    assert (tmp_path / "t.nwk").read_text() == written + "\n"


@pytest.mark.parametrize("seed", range(5))
def test_json_round_trip_is_exact(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_merges(
        random_merges(rng, 12),
        rng.normal(size=11),
        columns={"log_q": rng.normal(size=23), "odd": np.where(rng.random(23) < 0.3, np.nan, -np.inf)},
        leaf_labels=[f"</script>{i}" for i in range(12)],
    )
    twin = Tree.from_json(tree.to_json())
    for name in ("parent", "item", "height"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(tree, name))
    for name, values in tree.columns.items():
        np.testing.assert_array_equal(twin.columns[name], values)
    assert twin.leaf_labels == tree.leaf_labels


def altered(**changes):
    record = json.loads(Tree.from_merges([[0, 1]], [1.0]).to_json())
    return json.dumps({key: value for key, value in {**record, **changes}.items() if value != "gone"})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{", "the text is not JSON"),
        ("[" * 100_000, "the text is not JSON"),
        ("[1]", 'no "format": "bayesgrove-tree"'),
        (altered(version=2), "has version 2, this program reads 1"),
        (altered(height="gone"), r"lacks \['height'\]"),
        (altered(parent="2"), "'parent' must be a list of numbers"),
        (altered(parent=[2, 2.0, -1]), "'parent' must be a list of numbers"),
        (altered(parent=[2, 2**70, -1]), "'parent' holds something that is no number"),
        (altered(height=[0, "x", 1]), "'height' holds something that is no number"),
        (altered(columns=[]), "columns must be an object"),
        (altered(leaf_labels="ab"), "leaf_labels a list or null"),
        (altered(leaf_labels=[1, 2]), "leaf_labels are texts, got 1"),
    ],
)
def test_json_errors(source, message):
    with pytest.raises(InvalidTreeError, match=message):
        Tree.from_json(source)


def test_json_limits():
    source = Tree.from_merges([[0, 1], [2, 3]]).to_json()
    with pytest.raises(InvalidTreeError, match="the tree has 5 nodes, more than 4"):
        Tree.from_json(source, max_nodes=4)
    with pytest.raises(InvalidTreeError, match="characters, too many for 0 nodes"):
        Tree.from_json(source, max_nodes=0)


@pytest.mark.parametrize("seed", range(10))
def test_linkage_is_valid_and_cuts_like_the_tree(seed):
    rng = np.random.default_rng(seed)
    n = 30
    tree = Tree.from_merges(random_merges(rng, n), rng.normal(0.0, 4.0, n - 1))
    linkage = tree.to_linkage()
    assert is_valid_linkage(linkage)
    assert is_monotonic(linkage)
    for height in (0.5, 3.0, tree.half_height, 8.0):
        theirs = fcluster(linkage, height, criterion="distance")
        ours = tree.cut(height=height)
        assert len(set(zip(theirs, ours, strict=True))) == len(set(ours)) == len(set(theirs))


def test_linkage_needs_a_binary_tree():
    with pytest.raises(InvalidTreeError, match="needs a binary tree, node 3 has 3 children"):
        Tree.from_parents([3, 3, 3, -1]).to_linkage()


def test_networkx_graph():
    tree = Tree.from_merges([[0, 1], [2, 3]], [4.0, -3.0], leaf_labels=("a", "b", "c"))
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph)
    assert sorted(graph.edges) == [(3, 0), (3, 1), (4, 2), (4, 3)]
    assert graph.nodes[4] == {"size": 3, "height": 7.0, "log_merge_odds": -3.0}
    assert graph.nodes[2]["label"] == "c"


def test_text_collapses_to_the_lines_asked_for():
    rng = np.random.default_rng(3)
    tree = Tree.from_merges(random_merges(rng, 500), rng.normal(0.0, 4.0, 499))
    for max_lines in (1, 2, 7, 40):
        lines = tree.to_text(max_lines).splitlines()
        assert len(lines) <= max_lines
    assert lines[0].startswith("500 items, merge probability ")
    assert sum(int(size) for size in re.findall(r"▸ (\d+) items", "\n".join(lines))) <= 500
    full = tree.to_text(10_000)
    assert "▸" not in full
    assert len(full.splitlines()) == 999


def test_text_of_a_star_says_what_is_left_out():
    lines = Tree.from_parents([50] * 50 + [-1]).to_text(10).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "… 42 more lines"


def test_text_shows_no_control_characters():
    tree = Tree.from_merges([[0, 1]], leaf_labels=("evil\x1b[2J", "x" * 50))
    assert "\x1b" not in tree.to_text()
    assert "x" * 29 + "…" in tree.to_text()


def test_text_needs_a_line():
    with pytest.raises(InvalidSettingError, match="at least one line, got max_lines=0"):
        Tree.from_merges([[0, 1]]).to_text(0)


def test_html_is_well_formed_and_escaped():
    tree = Tree.from_merges([[0, 1], [2, 3]], [9.0, -9.0], leaf_labels=("<script>", "a&b", '"q"'))
    figure = ElementTree.fromstring(tree._repr_html_())
    texts = [node.text for node in figure.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == ['"q"', "<script>", "a&b"]
    assert "http" not in tree._repr_html_().replace("http://www.w3.org/2000/svg", "")


def test_html_folds_clusters_in_their_colours():
    tree = Tree.from_merges([[0, 1], [5, 2], [3, 4], [6, 7]], [9.0, 5.0, 4.0, -9.0], leaf_labels=tuple("abcde"))
    captions, strokes = folded(tree, [0, 0, 0, 1, 1], ["#111111", "#222222"])
    assert captions == ["cluster 0: 3 items", "cluster 1: 2 items"]
    assert strokes == {"#111111": 1, "#222222": 1, "currentColor": 1}
    captions, _ = folded(tree, [1, 0, 1, 1, 1], ["#111111", "#222222"])
    assert sorted(captions) == ["cluster 0: 1 item", *["part of cluster 1: 1 item"] * 2, "part of cluster 1: 2 items"]
    captions, strokes = folded(tree, [0] * 5, ["#111111"])
    assert (captions, strokes) == (["cluster 0: 5 items"], {"#111111": 1})


def folded(tree, labels, colours):
    """The captions of the ends of a figure from top to bottom, and how many branches have each colour."""
    figure = ElementTree.fromstring(folded_to_html(tree, np.array(labels), colours))
    assert f"Tree of 5 items in {len(colours)} cluster" in figure[0].text
    svg = "{http://www.w3.org/2000/svg}"
    captions = sorted((float(end.get("y")), end.text) for end in figure.iter(f"{svg}text"))
    return [text for _, text in captions], Counter(path.get("stroke") for path in figure.iter(f"{svg}path"))


def test_html_of_a_large_tree_stays_small():
    rng = np.random.default_rng(1)
    tree = Tree.from_merges(random_merges(rng, 2000), rng.normal(0.0, 4.0, 1999))
    page = tree._repr_html_()
    assert len(page) < 20_000
    assert "Tree of 2,000 items, its top 24 branches" in page


@pytest.mark.parametrize("seed", range(10))
def test_layout_puts_ends_side_by_side_and_parents_between(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_parents(random_parents(rng, 60))
    layout = lay_out(tree, 12)
    assert sorted(layout.x[layout.is_end].tolist()) == list(range(layout.n_ends))
    for k in range(layout.node.size - 1):
        above = layout.parent[k]
        assert layout.node[above] == tree.parent[layout.node[k]]
        assert layout.low[above] <= layout.x[k] <= layout.high[above]
    assert tree.size[layout.node[layout.is_end]].sum() == tree.n_leaves
    assert layout.n_ends <= max(12, len(tree.children(tree.root)))


def test_layout_opens_the_highest_first():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5]], heights=[1.0, 5.0, 6.0])
    assert opened_nodes(tree, 3) == {5, 6}
    with pytest.raises(InvalidSettingError, match="at least one leaf, got max_leaves=0"):
        opened_nodes(tree, 0)


def test_decision_scale_is_zero_at_the_half():
    assert decision_scale(np.array([3.0]), 3.0).tolist() == [0.0]
    assert decision_scale(np.array([3.0]), None).tolist() == [3.0]


def test_layout_opens_even_splits_inside_clusters_before_single_leaves():
    """Node 8 (a leaf and a pair) is higher than node 11 (two pairs), but both lie inside clusters."""
    merges = [[0, 1], [2, 7], [3, 4], [5, 6], [9, 10], [8, 11]]
    tree = Tree.from_merges(merges, [9.0, 1.0, 9.0, 9.0, 5.0, -5.0])
    assert tree.height[8] > tree.height[11]
    assert opened_nodes(tree, 3) == {11, 12}

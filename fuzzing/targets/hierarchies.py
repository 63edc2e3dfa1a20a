"""Hierarchies as text: Newick and JSON of `Tree`, merges and linkage matrices."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import bayesgrove as bg
from fuzzing import grammars
from fuzzing.cases import Case, Target

KINDS = ("newick", "json", "merges")
EXAMPLE = bg.Tree.from_merges([[0, 1], [2, 3], [4, 5]], log_merge_odds=[1.0, 2.0, -3.0])


def attempt(case: Case, folder: Path) -> None:
    """Read a tree and ask it all that a tree can be asked."""
    if case.kind == "newick":
        tree = bg.Tree.from_newick(case.content.decode("utf-8", "surrogateescape"))
    elif case.kind == "json":
        tree = bg.Tree.from_json(case.content.decode("utf-8", "surrogateescape"))
    else:
        tree = bg.Tree.from_merges(**merges(case.content))
    use(tree)


def merges(content: bytes) -> dict[str, Any]:
    """Arguments of `from_merges`; what is no object stands for the pairs themselves."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        given = [[0, 1]]
    if not isinstance(given, dict):
        return {"children": given}
    odds = given.get("log_merge_odds")
    return {"children": given.get("merges"), **({} if odds is None else {"log_merge_odds": odds})}


def use(tree: bg.Tree) -> None:
    """Cuts, texts and tables of a tree that was accepted."""
    _ = tree.leaf_order, tree.nodes
    tree.cut(n_clusters=1)
    tree.cut(height=0.5)
    again = bg.Tree.from_json(tree.to_json())
    if not np.array_equal(again.parent, tree.parent):
        raise AssertionError("a tree does not survive its own JSON")
    bg.Tree.from_newick(tree.to_newick())
    tree._repr_html_()


def structured(kind: str) -> SearchStrategy[bytes]:
    """Nearly well formed trees."""
    if kind == "newick":
        return grammars.newick_texts()
    if kind == "json":
        numbers = st.lists(st.one_of(st.integers(-2, 6), grammars.SCALARS), max_size=5)
        document = st.fixed_dictionaries(
            {"format": st.just(json.loads(EXAMPLE.to_json())["format"]), "version": st.just(1)},
            optional={
                "parent": numbers,
                "item": numbers,
                "height": numbers,
                "columns": st.dictionaries(grammars.WORDS, numbers, max_size=2),
                "leaf_labels": st.lists(grammars.SCALARS, max_size=4),
            },
        )
        return document.map(lambda found: json.dumps(found).encode())
    pairs = st.lists(st.lists(st.one_of(st.integers(-1, 8), st.floats()), min_size=1, max_size=3), max_size=4)
    odds = st.lists(st.one_of(st.floats(), st.integers()), max_size=4)
    given = st.fixed_dictionaries({"merges": pairs}, optional={"log_merge_odds": odds})
    return given.map(lambda found: json.dumps(found).encode())


def seeds(kind: str) -> Sequence[bytes]:
    """Valid trees."""
    if kind == "merges":
        return [b'{"merges": [[0, 1], [2, 3]], "log_merge_odds": [0.5, -1.0]}', b'{"merges": [[0, 1]]}']
    return [EXAMPLE.to_newick().encode() if kind == "newick" else EXAMPLE.to_json().encode()]


TARGET = Target("hierarchies", KINDS, structured, seeds, attempt)

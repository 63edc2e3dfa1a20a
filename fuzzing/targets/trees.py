"""Documents that become trees: texts of every format, arrays of parents, archives."""

import contextlib
import gzip
import io
import json
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.io.tree_data import TreeData, read_trees
from fuzzing import grammars
from fuzzing.cases import Case, Target

TEXTS = {
    "xml": (TreeData.from_xml, grammars.xml_texts),
    "json": (TreeData.from_json, grammars.json_texts),
    "jsonl": (TreeData.from_json_lines, grammars.json_lines),
    "python": (TreeData.from_python_source, grammars.python_texts),
    "newick": (TreeData.from_newick, grammars.newick_texts),
    "sexpr": (TreeData.from_sexpr, grammars.parenthesised_texts),
    "inex": (TreeData.from_inex, grammars.inex_texts),
}
ARCHIVES = (".zip", ".tar", ".tgz", ".json.gz")
KINDS = (*TEXTS, "parents", *ARCHIVES)
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "xml": ({"attributes": "names", "text": "flag"}, {"namespaces": "keep", "label_from": "@a"}),
    "json": ({"scalars": "value", "members": "key"}, {"key_order": "document", "max_depth": 3}),
    "jsonl": ({"errors": "skip"},),
    "python": ({"identifiers": True},),
    "newick": ({"encoding": "lcrs"}, {"max_children": 1, "overflow": "truncate"}),
    "sexpr": ({"overflow": "error", "max_children": 2},),
    "inex": ({"max_nodes": 3},),
}
EXAMPLES = {
    "xml": [b'<?xml version="1.0"?><a x="1"><b/>t<c><d/></c></a>', "<é/>".encode("utf-16")],
    "json": [b'{"a": [1, {"b": null}], "c": "d\\u00e9"}', b"[]"],
    "jsonl": [b'{"a": 1}\n\n[2, 3]\n'],
    "python": [b"def f(x):\n    return [y for y in x if y]\n", "# coding: latin-1\nx = 'é'\n".encode("latin-1")],
    "newick": [b"((a:1,b:2)c,'d e')f;", b"a;"],
    "sexpr": [b"(S (NP the cat) (VP sat))", b"(a b)(c (d))"],
    "inex": [b"1:3(4(5($)6($))7($))\n2:3(4($))", b"1:2($)"],
    "parents": [
        b'{"labels": [[0, 1, 1]], "parents": [[-1, 0, 0]], "positions": [[0, 1, 2]]}',
        b'{"labels": [["a", null], ["b"]], "parents": [[-1, 0], [-1]], "max_outdegree": 3}',
        b'{"labels": [[0.5, 1.5]], "parents": [[-1, 0]], "internal": [[true, false]]}',
        b'{"labels": [[0, 1]], "parents": [[-1, 0]], "vocabulary": ["u", "v"], "n_labels": 2}',
    ],
}
"""Valid texts."""


def attempt(case: Case, folder: Path) -> None:
    """Read the trees and use them once."""
    if case.kind in ARCHIVES:
        path = folder / f"data{case.kind}"
        path.write_bytes(case.content)
        use(read_trees(path))
        return
    if case.kind == "parents":
        use(TreeData.from_parents(**arguments(case.content)))
        return
    read = TEXTS[case.kind][0]
    use(read(case.content))
    options = OPTIONS[case.kind]
    with contextlib.suppress(InvalidInputError):  # limits may be narrower than the document
        read(case.content, **options[zlib.crc32(case.content) % len(options)])


def arguments(content: bytes) -> dict[str, Any]:
    """Keyword arguments of `from_parents`; an object that is none of them is no input of ours."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        given = None
    known = ("labels", "parents", "positions", "max_outdegree", "n_labels", "internal", "vocabulary")
    given = {name: given[name] for name in known if name in given} if isinstance(given, dict) else {}
    return {"labels": [[0]], "parents": [[-1]]} | given


def use(data: TreeData) -> None:
    """What every model asks of its trees."""
    data.summary()
    _ = data[: len(data)], *(data[i] for i in range(min(len(data), 2)))
    data.with_max_outdegree(2)
    if data.vocabulary is not None:
        data.with_own_vocabulary(2).with_vocabulary(data.vocabulary[:2])


def structured(kind: str) -> SearchStrategy[bytes]:
    """Nearly well formed documents."""
    if kind in TEXTS:
        return TEXTS[kind][1]()
    if kind == "parents":
        return parent_arrays().map(lambda document: json.dumps(document).encode())
    members = st.dictionaries(
        st.sampled_from(
            ["a.json", "b.xml", "c.nwk", "../d.json", "e.txt", "f.json.gz", "g.tree", "/h.json", "i.json/"]
        ),
        st.one_of(grammars.json_texts(), grammars.newick_texts(), st.just(gzip.compress(b"[1]", mtime=0))),
        max_size=3,
    )
    return members.map(lambda held: packed(kind, held))


def parent_arrays() -> SearchStrategy[dict[str, Any]]:
    """Labels and parents of a few trees, mostly of equal lengths."""
    numbers = st.lists(st.integers(-2, 4), max_size=5)
    sane = st.integers(1, 5).flatmap(
        lambda n: st.tuples(*(st.integers(0, max(i - 1, 0)) for i in range(1, n))).map(lambda rest: [-1, *rest])
    )
    parents = st.one_of(sane, sane, numbers)

    def with_labels(trees: list[list[int]], words: bool, extra: dict[str, Any]) -> dict[str, Any]:
        labels = [[f"w{i % 3}" if words else i % 3 for i in range(len(tree))] for tree in trees]
        return {"labels": labels, "parents": trees, **extra}

    extra = st.fixed_dictionaries(
        {},
        optional={
            "positions": st.lists(numbers, max_size=3),
            "max_outdegree": st.one_of(grammars.SCALARS, st.integers(0, 4)),
            "n_labels": st.one_of(grammars.SCALARS, st.integers(0, 4)),
            "internal": st.lists(st.lists(st.booleans(), max_size=4), max_size=3),
            "vocabulary": st.lists(grammars.WORDS, max_size=4),
        },
    )
    return st.builds(with_labels, st.lists(parents, max_size=3), st.booleans(), extra)


def packed(kind: str, members: dict[str, bytes]) -> bytes:
    """An archive of these files, or the first of them in gzip's form."""
    if kind == ".json.gz":
        return gzip.compress(next(iter(members.values()), b"[]"), mtime=0)
    stream = io.BytesIO()
    if kind == ".zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(stream.getvalue(), mtime=0) if kind == ".tgz" else stream.getvalue()


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Valid documents and archives of them."""
    if kind in ARCHIVES:
        return [packed(kind, {"a.json": EXAMPLES["json"][0], "b.xml": EXAMPLES["xml"][0]})]
    return EXAMPLES[kind]


TARGET = Target("trees", KINDS, structured, seeds, attempt)

"""Strategies for texts: nearly well formed documents of each format that is read."""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

WORDS = st.one_of(
    st.sampled_from(["a", "b", "c", "x y", "", "0", "-1", "é", "1e5", "NaN", "key", "\u2028", "\U0001d538", "a" * 300]),
    st.text(max_size=6),
)
NAMES = st.sampled_from(["a", "b", "item", "x:y", "_z", "é"])
CELLS = st.one_of(
    st.integers(-5, 5).map(str),
    st.floats().map(repr),
    st.sampled_from(["", "NA", "true", "False", "inf", "1e400", " 3", "0x1", '"q"', '"', "9007199254740993", "=1"]),
    st.text(max_size=4),
)
SCALARS: SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), WORDS, st.integers(-2, 9)
)
"""What JSON of Python's writing holds, its numbers beyond JSON's included."""


def encoded(text: str) -> bytes:
    """UTF-8, with half pairs as they are."""
    return text.encode("utf-8", "surrogatepass")


def documents(values: SearchStrategy[Any] = SCALARS, keys: SearchStrategy[str] = WORDS) -> SearchStrategy[Any]:
    """Nested lists and objects."""
    return st.recursive(
        values,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
        max_leaves=12,
    )


def json_texts() -> SearchStrategy[bytes]:
    """JSON, some of it in Python's loose form."""
    return st.builds(lambda document, width: encoded(json.dumps(document, indent=width)), documents(), st.none())


def json_lines() -> SearchStrategy[bytes]:
    """One document on each line."""
    return st.lists(json_texts(), max_size=4).map(b"\n".join)


def nested(leaf: SearchStrategy[str], build: Any, most: int = 12) -> SearchStrategy[str]:
    """Texts that hold texts: `build(children, label)` of a list of strategies' values."""
    return st.recursive(leaf, lambda inner: st.builds(build, st.lists(inner, max_size=4), leaf), max_leaves=most)


def xml_texts() -> SearchStrategy[bytes]:
    """Elements, attributes, texts, comments and the odd declaration."""
    content = st.one_of(
        WORDS.map(lambda text: text.replace("<", "&lt;").replace("&", "&amp;")),
        st.sampled_from(["<!-- c -->", "<![CDATA[<x>]]>", "&lt;", "&#65;", "&no;", "<?pi x?>", "<a/>", "<"]),
    )
    attributes = st.lists(st.builds('{}="{}"'.format, NAMES, st.sampled_from(["1", "", "&amp;", "u"])), max_size=2)

    def element(children: list[str], text: str) -> str:
        return f"<e>{''.join(children)}{text}</e>"

    declared = [f'<?xml version="1.0"{encoding}?>' for encoding in ("", ' encoding="latin-1"', ' encoding="utf-16"')]
    starts = st.sampled_from(["", "\ufeff", *declared, "<!DOCTYPE a>", '<!DOCTYPE a [<!ENTITY x "y">]>'])
    inner = nested(content, element)
    named = st.builds(lambda n, a, text: f"<{n} {' '.join(a)}>{text}</{n}>", NAMES, attributes, inner)
    return st.builds(lambda start, body: encoded(start + body), starts, named)


def newick_texts() -> SearchStrategy[bytes]:
    """Newick, with lengths, quotes and comments."""
    label = st.builds(
        lambda name, length: name + length,
        st.one_of(NAMES, st.sampled_from(["", "'q q'", "'it''s'", "[c]a", "a_b", "1", "'", "a b"])),
        st.sampled_from(["", ":1", ":0.5", ":-1", ":1e400", ":x", ":nan"]),
    )
    tree = nested(label, lambda children, name: f"({','.join(children)}){name}")
    return st.builds(lambda text, end: encoded(text + end), tree, st.sampled_from([";", "", ";;", "; \n", ";x"]))


def parenthesised_texts() -> SearchStrategy[bytes]:
    """Lisp's trees."""
    label = st.one_of(NAMES, st.sampled_from(["", "NP", '"a b"', ";c\n", "-LRB-"]))
    tree = nested(label, lambda children, name: f"({name} {' '.join(children)})")
    return st.lists(tree, max_size=3).map(lambda trees: encoded("\n".join(trees)))


def inex_texts() -> SearchStrategy[bytes]:
    """INEX's form, one tree a line."""
    label = st.sampled_from(["0", "1", "17", "$", "-1", "", "x", "99999999999"])
    tree = nested(label, lambda children, name: f"{name}({' '.join(children)})")
    line = st.builds("{}:{}".format, st.sampled_from(["1", "2", "-3", "", "x", "1e3"]), tree)
    return st.lists(line, max_size=3).map(lambda lines: encoded("\n".join(lines)))


def python_texts() -> SearchStrategy[bytes]:
    """Python, nearly."""
    leaf = st.sampled_from(
        ["x", "1", "'s'", "f'{x!r:>{y}}'", "...", "yield", "lambda: 0", "x.y", "*z", "b'\\xff'", "é"]
    )

    def block(children: list[str], name: str) -> str:
        body = "\n".join("    " + line for child in children for line in child.split("\n")) or "    pass"
        return f"if {name}:\n{body}"

    def call(children: list[str], name: str) -> str:
        return f"{name}({', '.join(children)})"

    def chain(children: list[str], name: str) -> str:
        return " + ".join([*children, name])

    tree = st.one_of(*(nested(leaf, build) for build in (call, block, chain)))
    start = st.sampled_from(["", "# coding: latin-1\n", "# coding: none\n", "\ufeff", "\t", "\x0c", "class A:\n  "])
    return st.builds(lambda first, body: encoded(first + body), start, tree)


def delimited_texts(delimiter: str) -> SearchStrategy[bytes]:
    """Lines of cells, mostly of one length."""
    numbers = st.one_of(st.integers(-5, 5).map(str), st.floats(-9, 9).map(repr), st.just(""))
    sane = st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6)
    wild = st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=6)
    rows = st.one_of(sane, wild, wild, st.lists(st.lists(CELLS, max_size=5), max_size=6))
    ends = st.sampled_from(["\n", "\r\n", "\r"])
    return st.builds(lambda lines, end: encoded(end.join(delimiter.join(cells) for cells in lines)), rows, ends)

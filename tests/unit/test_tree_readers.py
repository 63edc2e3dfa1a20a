"""Readers of trees: golden arrays, Python's own parsers as slow twins, options, and what is said of bad documents."""

import inspect
import json
import tarfile
import textwrap

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import (
    InvalidFileError,
    InvalidSettingError,
    InvalidTreeError,
    TreeLimitError,
    TreeParseError,
)
from bayesgrove.io.tree_documents import LabelTable
from bayesgrove.trees.newick import parse_newick
from reference.tree_sets import (
    json_nodes,
    json_text,
    nested,
    python_nodes,
    random_json,
    random_xml,
    read_nodes,
    xml_nodes,
)

pytestmark = pytest.mark.unit

READERS = {
    "xml": bg.TreeData.from_xml,
    "json": bg.TreeData.from_json,
    "python": bg.TreeData.from_python_source,
    "newick": bg.TreeData.from_newick,
    "sexpr": bg.TreeData.from_sexpr,
    "inex": bg.TreeData.from_inex,
}


def test_golden_arrays(golden):
    cases = golden("htmm")["readers"]
    assert {case["reader"] for case in cases} == set(READERS)
    for case in cases:
        data = READERS[case["reader"]]([case["text"]], **case["options"])
        tree = data[0]
        got = {"label": list(tree.labels), "parent": tree.parents.tolist(), "pos": tree.positions.tolist()}
        if data.targets is not None:
            got["y"] = int(data.targets[0])
        assert got == case["expected"]


def depths(tree):
    return [depth for _, depth in read_nodes(tree)]


def labels(reader, text, /, **options):
    return list(READERS[reader](text, **options)[0].labels)


# XML


def test_xml_elements_are_those_of_the_slow_twin():
    rng = np.random.default_rng(1)
    texts = [random_xml(rng) for _ in range(100)]
    data = bg.TreeData.from_xml(texts)
    for text, tree in zip(texts, data, strict=True):
        assert read_nodes(tree) == xml_nodes(text)


def test_xml_larger_than_a_block():
    text = "<r>\n" + "".join(f"<a{i % 7}><b/>text</a{i % 7}>\n" for i in range(20_000)) + "</r>"
    assert read_nodes(bg.TreeData.from_xml(text)[0]) == xml_nodes(text)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("<n:a xmlns:n='u:v'><b/></n:a>", {}, ["a", "b"]),
        ("<n:a xmlns:n='u:v'><b/></n:a>", {"namespaces": "keep"}, ["{u:v}a", "b"]),
        ("<n:a xmlns:n='u:v' n:z='1' y='2'/>", {"attributes": "names"}, ["a", "@z", "@y"]),
        ("<a z='1' y='2' xmlns='u'/>", {"attributes": "names"}, ["a", "@y", "@z"]),
        ("<n:a xmlns:n='u:v' n:z='1' y='2'/>", {"attributes": "names", "namespaces": "keep"}, ["{u:v}a", "@z", "@y"]),
        ("<a kind='x'><b kind='y'/><b/></a>", {"label_from": "@kind"}, ["x", "y", "b"]),
        ("<a kind='' q='1'/>", {"label_from": "@kind", "attributes": "names"}, ["", "@kind", "@q"]),
        ("<a> x <b/>\n\t<c/> y <!-- z --> w </a>", {"text": "flag"}, ["a", "#text", "b", "c", "#text"]),
        ("<a><![CDATA[ ]]><b>&#32;</b>&lt;</a>", {"text": "flag"}, ["a", "b", "#text"]),
        ("<!DOCTYPE a PUBLIC '-//x' 'http://localhost/none.dtd'><?p q?><a/>", {}, ["a"]),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><é/>", {}, ["é"]),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><é/>".encode("latin-1"), {}, ["é"]),
        ("<é/>".encode("utf-16"), {}, ["é"]),
        (b"\xef\xbb\xbf<a/>", {}, ["a"]),
    ],
)
def test_xml_options(text, options, expected):
    assert labels("xml", text, **options) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a>\n<b></a>", r"text 0, line 2: not XML \(mismatched tag\)"),
        ("", r"text 0, line 1: not XML \(no element found\)"),
        ("<a/>\n<b/>", r"text 0, line 2: not XML \(junk after document element\)"),
        ("<!DOCTYPE a [<!ELEMENT a EMPTY>]><a/>", "line 1: a DOCTYPE with declarations, where entities may hide"),
        ("<a>&x;</a>", r"not XML \(undefined entity\)"),
        ("<!DOCTYPE a SYSTEM 'x'>\n<a>&x;</a>", "line 2: the entity 'x' is not defined in the document"),
        (b"<?xml version='1.0' encoding='cp1252'?><a/>", "line 1: encoding 'cp1252' is not read. Convert"),
        (b"<a>\xff</a>", r"not XML \(not well-formed"),
    ],
)
def test_bad_xml(text, message):
    with pytest.raises(TreeParseError, match=message):
        bg.TreeData.from_xml(text)


def test_xml_namespaces_with_long_names_are_refused():
    with pytest.raises(TreeParseError, match="the name of a namespace has 5000 characters, at most 4096"):
        bg.TreeData.from_xml(f"<a xmlns='{'u' * 5000}'/>", namespaces="keep")


# JSON


def test_json_values_are_those_of_the_slow_twin():
    rng = np.random.default_rng(2)
    values = [random_json(rng) for _ in range(300)]
    data = bg.TreeData.from_json([json_text(value, rng) for value in values])
    for value, tree in zip(values, data, strict=True):
        assert read_nodes(tree) == json_nodes(value)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ('{"b":1,"a":{"z":[]}}', {"key_order": "document"}, ["object", "b:number", "a:object", "z:array"]),
        ('{"b":1,"a":2}', {"members": "key"}, ["object", "a", "b"]),
        ('{"b":1,"a":[true]}', {"members": "type"}, ["object", "array", "boolean", "number"]),
        ('{"a":1,"b":[2],"a":"x"}', {}, ["object", "a:string", "b:array", "number"]),
        ('{"a":[1],"b":2,"\\u0061":"x"}', {"key_order": "document"}, ["object", "a:string", "b:number"]),
        ('{"é":"\\u00e9\\n"}', {"scalars": "value"}, ["object", 'é:"é\\n"']),
        ("[-0.5e+3, 1E9, false]", {"scalars": "value"}, ["array", "-0.5e+3", "1E9", "false"]),
        ('{"a":1}', {"scalars": "value", "members": "type"}, ["object", "1"]),
        (' \t\r\n"x" ', {}, ["string"]),
        ('{"a":1}'.encode("utf-16"), {}, ["object", "a:number"]),
        ('{"a":1}'.encode("utf-8-sig"), {}, ["object", "a:number"]),
        ("9" * 100_000, {}, ["number"]),
    ],
)
def test_json_options(text, options, expected):
    assert labels("json", text, **options) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":\n1,}', r"text 0, line 2: not JSON: a character that fits nowhere in JSON \(at '}'\)"),
        ("[1 2]", r"a character that fits nowhere in JSON \(at '2\]'\)"),
        ('{"a" 1}', r"a character that fits nowhere in JSON \(at '1}'\)"),
        ("{1:2}", r"a character that fits nowhere in JSON \(at '1:2}'\)"),
        ("[1}", r"a character that fits nowhere in JSON \(at '}'\)"),
        ("nul", "the text ends inside a value. Is the file complete"),
        ("nulL", "a character that fits nowhere"),
        ("NaN", "a character that fits nowhere"),
        ("[1,\n\n2", "line 3: not JSON: the text ends inside a value"),
        ('"abc', "the text ends inside a value"),
        ('"abc\\', "the text ends inside a value"),
        ('"abc\\u12', "the text ends inside a value"),
        ("", "the text ends inside a value"),
        ("-", "the text ends inside a value"),
        ("1.", "the text ends inside a value"),
        ("1e", "the text ends inside a value"),
        ("{} {}", "text after the end of the document"),
        ('"a\nb"', "a control character or a wrong escape in a string"),
        ('"\\x"', "a control character or a wrong escape in a string"),
        ('"\\u12G4"', "a control character or a wrong escape in a string"),
        ("01", "a malformed number"),
        ("-x", "a malformed number"),
        ("1.x", "a malformed number"),
        ("1ex", "a malformed number"),
        ('{"\\ud800":1}', "half a surrogate pair in a string"),
        (b'{"\xe9":1}', "text 0, line 1: not UTF-8 text. Convert it to UTF-8"),
        ('{"a":1}'.encode("utf-16-le"), "line 1: a NUL: the file is binary, or text of another encoding"),
    ],
)
def test_bad_json(text, message):
    with pytest.raises(TreeParseError, match=message):
        bg.TreeData.from_json(text)


def test_json_lines_are_documents():
    data = bg.TreeData.from_json_lines('[1]\n\n{"a":2}\r\n')
    assert [list(tree.labels) for tree in data] == [["array", "number"], ["object", "a:number"]]
    assert data.sources == ("text 0:1", "text 0:3")
    with pytest.raises(TreeParseError, match="text 0, line 2: not JSON"):
        bg.TreeData.from_json_lines("[]\n[")


# Python


@pytest.mark.parametrize("module", [textwrap, json.decoder, tarfile, inspect])
def test_python_nodes_are_those_of_the_slow_twin(module):
    source = inspect.getsource(module)
    data = bg.TreeData.from_python_source(source)
    assert read_nodes(data[0]) == python_nodes(source)
    assert data.origin.startswith("python 3.")


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("import os as o\n", {"identifiers": True}, ["Module", "Import", "alias:os"]),
        (
            "async def f(x): g(y=x.z, **k)\n",
            {"identifiers": True},
            ["Module", "AsyncFunctionDef:f", "arguments", "arg:x", "Expr", "Call", "Name:g"]
            + ["keyword:y", "Attribute:z", "Name:x", "keyword", "Name:k"],
        ),
        ("# coding: latin-1\né = 1".encode("latin-1"), {}, ["Module", "Assign", "Name", "Constant"]),
        ("'\\d'", {}, ["Module", "Expr", "Constant"]),  # Python warns of the escape; we do not
        ("", {}, ["Module"]),
        (f"x = [{'-1, ' * 3000}]", {"max_nodes": 9999}, None),
        (f"x = '''{'+' * 3000} \\''' ''' + \"{'(' * 300}\" # {'(' * 300}", {}, None),
        ("x = {\n" + "'a': f(b[0].c),\n" * 3000 + "}", {}, None),
    ],
)
def test_python_options(text, options, expected):
    got = labels("python", text, **options)
    assert got == expected if expected else len(got) > 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef f(:\n", r"text 0, line 2: not Python 3\.\d+ \("),
        ("x\0y", "text 0, line 1: "),
        ("\n" + "(" * 201, "line 2: brackets nested more than 200 deep"),
        ("a" + "+a" * 2001, "line 1: a chain of more than 2000 operators"),
        ("a" + ".b" * 2001, "a chain of more than 2000 operators"),
        ("a" + "[0]" * 2001, "a chain of more than 2000 operators"),
        ("not " * 201 + "a", "more than 200 operators in a row"),
        ("lambda: " * 201 + "a", "more than 200 operators in a row"),
        ("if a:\n b\n" + "elif a:\n b\n" * 20_000, "beyond Python's own parser"),
        (b"# coding: punycode\n", "line 1: encoding 'punycode' is not read"),
        (b"# coding: none-such\n", "line 1: not text of its encoding"),
        (b"x = '\xff'", "line 1: not text of its encoding"),
        (b"x = 1\n#\xff", "not text of its encoding"),
    ],
)
def test_bad_python(text, message):
    with pytest.raises(TreeParseError, match=message):
        bg.TreeData.from_python_source(text)


def test_python_in_a_process_of_its_own():
    def progress(done, total, name):
        assert (done, total) == (1, 1)

    assert labels("python", "x = 1", isolate=True, progress=progress) == ["Module", "Assign", "Name", "Constant"]
    with pytest.raises(TreeParseError, match="text 0, line 1: not Python"):
        bg.TreeData.from_python_source("x = (", isolate=True)


def test_a_crash_of_the_other_process_is_an_error_here(monkeypatch):
    class Crashing:
        def __init__(self, max_workers):
            self.stopped = False

        def submit(self, *work):
            raise BrokenPipeError

        def shutdown(self, **how):
            self.stopped = True

    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", Crashing)
    with pytest.raises(TreeParseError, match=r"text 0, line 1: Python's parser crashed \(BrokenPipeError\)"):
        bg.TreeData.from_python_source("x = 1", isolate=True)


# Brackets


def test_newick_is_read_as_the_house_reads_it():
    rng = np.random.default_rng(3)
    for _ in range(50):
        text = random_newick(rng)
        parsed = parse_newick(text)
        tree = bg.TreeData.from_newick(text, empty_label="none")[0]
        names = [name or "none" for name in parsed.names]
        # There parents come after their children: turned round, siblings stand from last to first.
        parents = [-1 if p < 0 else len(names) - 1 - p for p in parsed.parent.tolist()][::-1]
        places = [0] * len(names)
        for node in range(len(names) - 1, 0, -1):
            places[node] = 1 + sum(parents[other] == parents[node] for other in range(node + 1, len(names)))
        expected = nested(names[::-1], parents, places)
        assert nested(tree.labels, tree.parents.tolist(), tree.positions.tolist()) == expected


def random_newick(rng, depth=4):
    name = str(rng.choice(["a", "b_c", "'it''s'", "'(,)'", "", "d:0.5", "[note;]e", ":2"]))
    if depth and rng.random() < 0.7:
        name = f"({','.join(random_newick(rng, depth - 1)[:-1] for _ in range(rng.integers(1, 4)))}){name}"
    return name + ";"


@pytest.mark.parametrize(
    ("reader", "text", "expected"),
    [
        ("newick", "( 'it''s' , b_c:1e-3 )[x[;]r ;", [["r", "it's", "b c"]]),
        ("newick", "(,)\n;a;", [["*", "*", "*"], ["a"]]),
        ("newick", "((,a:1,),b);", [["*", "*", "*", "a", "*", "b"]]),
        ("sexpr", "(S (NP dog) (VP barks))\nword (a)", [["S", "NP", "dog", "VP", "barks"], ["word"], ["a"]]),
        ("sexpr", "( (S (X)) y)", [["*", "S", "X", "y"]]),
        ("inex", "1:2(3($) 1(5($)))\n\n4:1($)\n", [[1, 2, 0, 4], [0]]),
        ("inex", "2(3($))", [[1, 2]]),
    ],
)
def test_trees_in_brackets(reader, text, expected):
    assert [list(tree.labels) for tree in READERS[reader](text)] == expected


def test_a_bare_name_of_an_empty_node():
    data = bg.TreeData.from_newick("((),'');", empty_label="?")
    assert list(data[0].labels) == ["?", "?", "?", "?"]
    assert data.sources == ("text 0:1",)


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        ("newick", "(a,b)\n(c);", r"line 2: a '\(' after a node"),
        ("newick", "a,b;", "a ',' outside all brackets: several roots"),
        ("newick", "(a));", r"a '\)' without its '\('"),
        ("newick", "(a b);", "a second name for one node"),
        ("newick", "(a:1 b);", "a second name for one node"),
        ("newick", "('a);", "a quote never closed"),
        ("newick", "(a[b);", r"a comment '\[' without its '\]'"),
        ("newick", "(a]b);", r"a '\]' without its '\['"),
        ("newick", "((a);", r"';' while 1 '\(' are open"),
        ("newick", "(a,b)\n", "text 0, line 2: the text ends before ';'"),
        ("newick", " \n", "no tree. A tree in Newick form ends with ';'"),
        ("newick", "(a\0);", "line 1: a NUL"),
        ("sexpr", "(a\n(b)", r"line 2: the text ends while 1 '\(' are open"),
        ("sexpr", "(a))", r"a '\)' without its '\('"),
        ("sexpr", "(a ())", r"'\(\)' has no label"),
        ("sexpr", "", "no tree"),
        ("inex", "1:2($)\n1:2(x)", r"line 2: not INEX's form label\(child ...\) \(at 'x\)'\)"),
        ("inex", "1:2($) 3($)", "not INEX's form"),
        ("inex", "1:)", "not INEX's form"),
        ("inex", "1:2(3($)", r"the line ends while 1 '\(' are open"),
        ("inex", "1:0($)", "labels are numbers from 1, got 0"),
        ("inex", "1:9999999999($)", "not INEX's form"),
    ],
)
def test_bad_brackets(reader, text, message):
    with pytest.raises(TreeParseError, match=message):
        READERS[reader](text)


# Options that all have


@pytest.mark.parametrize(
    ("reader", "deep", "wide"),
    [
        ("xml", "<a><b><c/></b></a>", "<a><b/><c/></a>"),
        ("json", "[[[]]]", "[1,2]"),
        ("python", "f(x)", "x"),
        ("newick", "((a));", "(a,b);"),
        ("sexpr", "(a (b c))", "(a b c)"),
        ("inex", "1:1(1(1($)))", "1:1(1($) 1($))"),
    ],
)
def test_limits_are_exact(reader, deep, wide):
    data = READERS[reader](deep)
    n_levels = max(depths(data[0])) + 1
    assert len(READERS[reader](deep, max_depth=n_levels)) == 1
    with pytest.raises(TreeLimitError, match=rf"text 0, line 1: max_depth is {n_levels - 1} and the document"):
        READERS[reader](deep, max_depth=n_levels - 1)
    n_nodes = len(READERS[reader](wide)[0].labels)
    assert len(READERS[reader](wide, max_nodes=n_nodes)) == 1
    with pytest.raises(TreeLimitError, match=rf"max_nodes is {n_nodes - 1} .*Raise max_nodes") as caught:
        READERS[reader](wide, max_nodes=n_nodes - 1)
    assert (caught.value.limit, caught.value.allowed, caught.value.line) == ("max_nodes", n_nodes - 1, 1)
    with pytest.raises(TreeLimitError, match="max_bytes is 3"):
        READERS[reader](deep, max_bytes=3)


def test_a_million_levels_are_read_when_the_limit_is_raised():
    n = 1_000_000
    data = bg.TreeData.from_json("[" * n + "]" * n, max_depth=n)
    assert data.summary()[:6] == (1, n, n, n, n, n - 1)


@pytest.mark.parametrize(
    ("reader", "text"), [("xml", "<a b='{}'/>"), ("xml", "<a><!--{}--></a>"), ("json", '{{"{}":1}}')]
)
def test_long_tokens_are_refused(reader, text):
    assert len(READERS[reader](text.format("x" * 200_000))) == 1
    with pytest.raises(TreeLimitError, match="line 1: max_token is 100000"):
        READERS[reader](text.format("x" * 200_000), max_token=100_000)


def test_long_values_are_refused_where_they_become_labels():
    with pytest.raises(TreeLimitError, match="line 2: max_token is 50"):
        bg.TreeData.from_json('[1,\n"' + "x" * 60 + '"]', scalars="value", max_token=50)


def test_long_labels_are_cut_and_told_apart_by_a_hash():
    first, second = "x" * 300 + "a", "x" * 300 + "b"
    cut = labels("newick", f"({first},{second},{first});")
    assert cut[1] == cut[3] != cut[2]
    assert [len(label) for label in cut[1:]] == [256] * 3
    assert cut[1].startswith("x" * 247 + "#")
    table = LabelTable(16)
    assert table["y" * 16] != table["y" * 17]


def test_by_default_at_most_64_positions():
    data = bg.TreeData.from_sexpr("(r" + " a" * 100 + ")")
    assert (data.max_outdegree, data.n_overflowing) == (64, 36)
    assert data[0].positions.max() == 64
    assert bg.TreeData.from_sexpr("(r" + " a" * 100 + ")", max_children=200).max_outdegree == 200
    with pytest.raises(InvalidTreeError, match="tree 0, node 65: position 65 is beyond the largest out-degree 64"):
        bg.TreeData.from_sexpr("(r" + " a" * 100 + ")", overflow="error")


def test_labels_cut_off_leave_the_vocabulary():
    data = bg.TreeData.from_sexpr("(r a (b c))", max_children=1, overflow="truncate")
    assert data.vocabulary == ("a", "r")
    assert data.n_overflowing == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "utf-8"}, "encoding is one of positional, lcrs, got 'utf-8'"),
        ({"errors": "ignore"}, "errors is one of raise, skip, got 'ignore'"),
        ({"max_nodes": 0}, r"max_nodes is 1 \.\. 2\*\*31 - 1, got 0"),
        ({"max_bytes": 2**31}, "max_bytes is 1"),
        ({"max_label": 9}, "max_label is at least 16"),
        ({"label_from": "kind"}, 'label_from is "tag" or "@name", got'),
        ({"max_children": 0}, "the largest out-degree is at least 1, got 0"),
        ({"max_child": 3}, "there is no option 'max_child' here. Options are attributes, "),
        ({"identifiers": True}, "there is no option 'identifiers' here"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InvalidSettingError, match=message):
        bg.TreeData.from_xml("<a/>", **options)


def test_more_nodes_than_indices(monkeypatch):
    monkeypatch.setattr("bayesgrove.io.tree_reading.MAX_NODES", 3)
    with pytest.raises(InvalidFileError, match="text 1: more than 3 nodes together"):
        bg.TreeData.from_newick(["(a,b);", "c;"])


def test_texts_must_be_texts():
    with pytest.raises(InvalidSettingError, match="text 1: a text is str or bytes, got int"):
        bg.TreeData.from_xml(["<a/>", 3])


def test_half_a_surrogate_pair_is_no_text():
    with pytest.raises(TreeParseError, match="text 0, line 1: not UTF-8 text"):
        bg.TreeData.from_newick("(\ud800,b);")


@pytest.mark.parametrize("reader", READERS)
def test_damaged_documents_are_read_or_refused(reader):
    samples = {
        "xml": '<?xml version="1.0"?><!DOCTYPE a><a k="1">t<b/><!-- c --><n:c xmlns:n="u">&amp;</n:c></a>',
        "json": '{"a":[1,-2.5e3,"x\\u00e9\\n",null,true],"b":{"c":{}}}',
        "python": "import a\ndef f(x, *y):\n    '''doc'''\n    return [x.b + -y[0] for z in x if not z]\n",
        "newick": "((a:1,'b c')d[e]:0.5,f_g)h;",
        "sexpr": "(S (NP (D the) dog) (VP barks))",
        "inex": "3:12(5($) 7(2($) 2($)))\n1:1($)",
    }
    content = samples[reader].encode()
    rng = np.random.default_rng(4)
    refused, whole = 0, READERS[reader](content)[-1]
    for _ in range(200):
        damaged = bytearray(content[: rng.integers(len(content) + 1)] if rng.random() < 0.5 else content)
        for place in rng.integers(0, max(len(damaged), 1), rng.integers(0, 4)):
            damaged[place : place + 1] = bytes([rng.integers(256)])
        data = READERS[reader]([bytes(damaged), content], errors="skip")
        refused += len(data.skipped)
        assert list(data[-1].labels) == list(whole.labels)
    assert 50 < refused < 200

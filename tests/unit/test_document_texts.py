import json

import pytest

from bayesgrove import TreeData
from bayesgrove.io.document_texts import LONGEST_LINE, MOST_KEPT, MOST_LINES, broken_json, broken_xml, opening, readable

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "value",
    [{}, [], {"a": [1, -2.5e3, None]}, {'quoted " : , {': ["x\\y", {"b": {}, "c": [[]]}], "d": True}, "text", 3],
)
def test_broken_json_is_what_json_itself_indents(value):
    assert broken_json(json.dumps(value)) == json.dumps(value, indent=2)


def test_broken_xml_keeps_texts_on_the_line_of_their_element():
    text = '<?xml version="1.0"?><a x="1"><b>some text</b><c/><d><e></e></d></a>'
    expected = '<?xml version="1.0"?>\n<a x="1">\n  <b>some text</b>\n  <c/>\n  <d>\n    <e></e>\n  </d>\n</a>'
    assert broken_xml(text) == expected


def test_short_lines_stay_as_written_and_long_texts_are_cut():
    assert readable('{"a":   1}\n') == '{"a":   1}'
    assert readable("") == ""
    assert readable("\n".join(str(k) for k in range(99))).splitlines()[-2:] == [str(MOST_LINES - 1), "…"]
    long = readable("x = " + "1 + " * 99)
    assert len(long) == LONGEST_LINE
    assert long.endswith("…")


def test_openings_are_marked_where_they_are_cut():
    assert opening(b"short") == "short"
    assert opening("\ufeffä".encode()) == "ä"
    assert opening(b"y" * (MOST_KEPT + 10)) == "y" * MOST_KEPT + "…"
    assert opening('{"a": 1}'.encode("utf-16-le")) == ""


def test_trees_keep_the_openings_of_their_documents():
    data = TreeData.from_json(['{"a": 1}', "[2]", "[3]"])
    assert data.texts == ('{"a": 1}', "[2]", "[3]")
    assert data[[2, 0]].texts == ("[3]", '{"a": 1}')
    assert TreeData.from_newick("(a,b)c; (a)c;").texts == ("", "")
    assert TreeData.from_parents([[0]], [[-1]]).texts is None

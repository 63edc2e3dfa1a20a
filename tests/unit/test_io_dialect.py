"""How text tables are written, detected or given; sheets of workbooks; Feather files."""

import builtins
import datetime

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError, InvalidTableError
from bayesgrove.io.tables import read_labelled_table, read_table

pytestmark = pytest.mark.unit


@pytest.fixture
def written(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("a;b\n1.5;2\n", ("a", "b"), [[1.5, 2.0]]),
        ("a;b\n1,5;2\n", ("a", "b"), [[1.5, 2.0]]),
        ("1;2\n3;4\n", ("x0", "x1"), [[1.0, 2.0], [3.0, 4.0]]),
        ("1;2,5\n3;4,5\n", ("x0", "x1"), [[1.0, 2.5], [3.0, 4.5]]),
        ("a\tb\n1\t2\n", ("a", "b"), [[1.0, 2.0]]),
        ("a|b|c\n1|2|3\n", ("a", "b", "c"), [[1.0, 2.0, 3.0]]),
        ("size, cm;x\n1.234,5;1.000\n,7;2.000\n", ("size, cm", "x"), [[1234.5, 1000.0], [0.7, 2000.0]]),
        ("a;b\n1,234;1\n2,345;2\n", ("a", "b"), [[1.234, 1.0], [2.345, 2.0]]),
    ],
)
def test_separator_and_decimal_mark_are_detected_and_said(written, caplog, text, names, values):
    table = read_table(written(text))
    assert table.names == names
    assert table.values.tolist() == values
    assert "detected separator" in caplog.text
    assert "--sep" in caplog.text
    assert ("decimal commas (--decimal)" in caplog.text) == ("," in text)


def test_plain_files_say_nothing(written, caplog):
    assert read_table(written("a,b\n1,2\n")).n_columns == 2
    assert read_table(written("a\tb\n1\t2\n", "data.tsv")).n_columns == 2
    assert not caplog.text


@pytest.mark.parametrize("text", ["a,b\nx;y,3\nx;z,4\n", "remark\nsoft; sweet\ndry\n", "a,b;c\n1,2\n3,4\n"])
def test_semicolons_in_texts_do_not_divide(written, text):
    table = read_table(written(text))
    assert ";" not in table.names[0]
    assert table.n_columns == text.split("\n")[0].count(",") + 1


def test_a_given_separator_wins(written):
    path = written("a;b,c\n1;2,5\n3;4,5\n")
    assert read_table(path).names == ("a", "b,c")
    assert read_table(path, sep=",").names == ("a;b", "c")


def test_a_point_may_be_told(written):
    table = read_table(written("a;b\n1,234;x\n12,345;y\n"), decimal=".")
    assert table.values[:, 0].tolist() == [1234.0, 12345.0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_detected(written, caplog, encoding):
    table = read_table(written("Größe,Art\n1,Äsche\n2,Hecht\n".encode(encoding)))
    assert table.names == ("Größe", "Art")
    assert table.categories[1] == ("Äsche", "Hecht")
    assert ("encoding" in caplog.text) == (encoding in ("utf-16", "cp1252"))


def test_an_encoding_may_be_told(written):
    path = written("a,b\n1,я\n".encode("cp1251"))
    assert read_table(path, encoding="cp1251").categories[1] == ("я",)
    with pytest.raises(InvalidFileError, match="is not utf-8 text"):
        read_table(path, encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "sep is one character"),
        ({"decimal": "'"}, 'decimal is "." or ","'),
        ({"sep": ",", "decimal": ","}, "sep and decimal are both ','"),
        ({"encoding": "latin-99"}, "there is no encoding 'latin-99'"),
        ({"sheet": "one"}, r"sheet is an option of \.xlsx files"),
    ],
)
def test_impossible_options_are_refused(written, options, message):
    with pytest.raises(InvalidSettingError, match=message):
        read_table(written("a\n1\n"), **options)


def test_options_of_texts_do_not_go_with_other_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    with pytest.raises(InvalidSettingError, match=r"sep is an option of \.csv, \.tsv, \.txt files"):
        read_table(tmp_path / "a.npy", sep=";")


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "people"
    for row in (
        ["id", "day", "size", "n", "kind", "mixed", None],
        ["p1", datetime.date(2020, 1, 31), 1.5, 3, "x", 1, None],
        [None, None, None, None, None, None, None],
        ["p2", datetime.datetime(2020, 2, 1, 12), 2, None, "y", "two", None],
        ["p3", None, "#N/A", 5, "x", None, None],
    ):
        book.active.append(row)
    book.create_sheet("more").append([1.0, 2.5])
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_sheets_of_a_workbook(workbook, caplog):
    table, labels = read_labelled_table(workbook, index="id")
    assert "the first of its sheets is read, 'people'" in caplog.text
    assert labels == ("p1", "p2", "p3")
    assert table.names == ("day", "size", "n", "kind", "mixed")
    assert table.kinds == ("date", "float", "integer", "category", "category")
    expected = [[18292, 1.5, 3, 0, 0], [18293.5, 2.0, np.nan, 1, 1], [np.nan, np.nan, 5, 0, np.nan]]
    np.testing.assert_array_equal(table.values, expected)
    assert read_table(workbook, sheet="more").values.tolist() == [[1.0, 2.5]]


def test_a_sheet_that_is_not_there_is_refused_by_name(workbook, tmp_path):
    with pytest.raises(InvalidTableError, match="has no sheet 'other'; it has people, more"):
        read_table(workbook, sheet="other")
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InvalidFileError, match=r"damaged or not an \.xlsx file"):
        read_table(tmp_path / "bad.xlsx")


def test_a_workbook_without_openpyxl_names_the_extra(workbook, monkeypatch):
    plain_import = builtins.__import__

    def without(name, *rest):
        if name == "openpyxl":
            raise ImportError(name)
        return plain_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidFileError, match=r"pip install 'bayesgrove\[excel\]'"):
        read_table(workbook)


def test_feather_files(tmp_path):
    feather.write_feather(pa.table({"a": [1, None], "b": ["x", "y"]}), str(tmp_path / "a.feather"))
    table = read_table(tmp_path / "a.feather")
    assert table.kinds == ("integer", "category")
    np.testing.assert_array_equal(table.values, [[1.0, 0.0], [np.nan, 1.0]])
    (tmp_path / "b.feather").write_bytes(b"FEA1 and no more")
    with pytest.raises(InvalidFileError, match="not a Feather file"):
        read_table(tmp_path / "b.feather")

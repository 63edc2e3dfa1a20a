"""Readers of tables: what they infer, and what they refuse with which words."""

import builtins
import logging
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.io.delimited import infer_column
from bayesgrove.io.frames import joined_names, row_names, table_from_frame
from bayesgrove.io.tables import read_labelled_table, read_table

pytestmark = pytest.mark.unit


@pytest.fixture
def csv_file(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_types_are_inferred_column_by_column(csv_file):
    table = read_table(csv_file("a,b,c,d,e\n1,2.5,true,x,\n-3,NA,FALSE,y,\n,1e3,,x,\n"))
    assert table.names == ("a", "b", "c", "d", "e")
    assert table.kinds == ("integer", "float", "bool", "category", "float")
    expected = [[1, 2.5, 1, 0, np.nan], [-3, np.nan, 0, 1, np.nan], [np.nan, 1000, np.nan, 0, np.nan]]
    np.testing.assert_array_equal(table.values, expected)
    assert table.categories == {3: ("x", "y")}


def test_zeros_and_ones_are_integers(csv_file):
    assert read_table(csv_file("a\n0\n1\n")).kinds == ("integer",)


def test_byte_order_mark_quotes_and_windows_lines(csv_file):
    table = read_table(csv_file('\ufeffname,"a, b"\r\n"x ""1""\ny",1\r\n\r\nz,2\r\n'))
    assert table.names == ("name", "a, b")
    assert table.categories[0] == ('x "1"\ny', "z")


def test_tab_separated(csv_file):
    assert read_table(csv_file("a\tb\n1;5\t2\n", "data.tsv")).categories == {0: ("1;5",)}


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("3,14", "2", "-0,5"), [3.14, 2.0, -0.5]),
        (("1,234", "12", "1,000,000.5"), [1234.0, 12.0, 1000000.5]),
        (("1,234", "1,23"), [1.234, 1.23]),
    ],
)
def test_commas_in_numbers_are_read(csv_file, caplog, cells, numbers):
    caplog.set_level("INFO", logger="bayesgrove")
    table = read_table(csv_file("a\tb\n" + "".join(f"{cell}\t2\n" for cell in cells), "data.tsv"))
    assert table.values[:, 0].tolist() == numbers
    assert "column 'a': read commas as" in caplog.text
    assert table_from_frame(pd.DataFrame({"a": cells})).values[:, 0].tolist() == numbers


def test_codes_and_words_with_commas_stay_labels():
    frame = pd.DataFrame({"zip": ["01234", "99999"], "pair": ["1,2,3", "4,5"], "text": ["1.5", "2e3"]})
    assert table_from_frame(frame).kinds == ("category", "category", "float")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", ("x0", "x1")),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ("x0", "x1", "x2")),
        ("name,2019,2020\nx,1,2\ny,3,4\n", ("name", "2019", "2020")),
        ("true,false\nfalse,false\n", ("x0", "x1")),
        (",a\n0,1\n", ("x0", "a")),
    ],
)
def test_header_is_found(csv_file, text, names):
    assert read_table(csv_file(text)).names == names


def test_header_can_be_told(csv_file):
    path = csv_file("a,b\nc,d\n")
    assert read_table(path, header=False).n_rows == 2
    assert read_table(path, header=True).n_rows == 1


def test_index_column_becomes_labels_even_beyond_exact_integers(csv_file):
    path = csv_file("id,v\n123456789012345678901,1\n,2\n")
    found = read_labelled_table(path, index="id")
    assert found.labels == ("123456789012345678901", "row 1")
    assert found.table.names == ("v",)
    with pytest.raises(InvalidTableError, match=r"'id' has integers beyond 2\*\*53"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a,b\n1,2\n3\n", InvalidTableError, "line 3: 1 cells where the first row has 2"),
        ("a,a\n1,2\n", InvalidTableError, "two columns named 'a'"),
        ("", InvalidTableError, "is empty"),
        ("a,b\n", InvalidTableError, "a header but no rows"),
        ("a\n1\ninf\n", InvalidTableError, "column 'a', line 3: 'inf' is not finite"),
        (b"a\n\x81\n", InvalidFileError, r"not utf-8 or cp1252 text \(byte 2\); name its encoding"),
        ('a\n"open\n', InvalidFileError, "line 2: unexpected end of data"),
        ("a\n" + "x" * 200_000, InvalidFileError, "field larger than field limit"),
    ],
)
def test_bad_text_is_refused_with_its_place(csv_file, text, error, message):
    with pytest.raises(error, match=message):
        read_table(csv_file(text))


def test_almost_numeric_column_warns(csv_file, caplog):
    with caplog.at_level(logging.WARNING, logger="bayesgrove"):
        table = read_table(csv_file("a\n" + "1\n" * 20 + "12x\n"))
    assert table.kinds == ("category",)
    assert "line 22 has '12x'" in caplog.text


@pytest.mark.parametrize(
    "dates",
    [
        ("2020-01-31", "2021-12-01"),
        ("2020-01-31", "NA"),
        ("2020-01-31T08:15", "2020-01-31 08:15:30"),
        ("2020-01-31T08:15:30.123Z", "2020-01-31T08:15:30+01:00", "2020-01-31"),
    ],
)
def test_dates_are_no_categories(csv_file, dates):
    path = csv_file("day,v\n" + "".join(f"{date},{i}\n" for i, date in enumerate(dates)))
    found = read_table(path)
    assert found.kinds[0] == "date"
    assert found.values[0, 0] == 18292.0  # days since 1970
    assert read_table(path, drop=["day"]).names == ("v",)
    assert read_labelled_table(path, index="day").labels[0] == dates[0]
    assert read_labelled_table(path, texts=["day"]).table.kinds[0] == "category"  # as a run of an older version has it


@pytest.mark.parametrize(
    "cells", [("2020-01-31", "soon"), ("2020-13-31",), ("2020-01-32",), ("2020-01-31-a",), ("2020-01-31T25:00",)]
)
def test_texts_that_only_begin_like_dates_are_categories(csv_file, cells):
    assert read_table(csv_file("day\n" + "".join(f"{cell}\n" for cell in cells))).kinds == ("category",)


def test_the_first_text_that_is_no_date_ends_the_search(monkeypatch):
    class Counting:
        n_asked = 0

        def fullmatch(self, cell):
            self.n_asked += 1

    counting = Counting()
    monkeypatch.setattr("bayesgrove.io.texts.ISO_DATE", counting)
    assert infer_column(["red", "blue"] * 1000, range(2000), "here").kind == "category"
    assert counting.n_asked == 1


def test_missing_index_lists_columns(csv_file):
    with pytest.raises(InvalidTableError, match="no column 'id' to use as index; it has a, b"):
        read_labelled_table(csv_file("a,b\n1,2\n"), index="id")


def test_dropped_columns_are_not_even_looked_at(csv_file):
    path = csv_file("id,a,a,b\n123456789012345678901,x,inf,1\n2,y,3,2\n")
    assert read_table(path, drop=["a", "id"]).names == ("b",)
    found = read_labelled_table(path, index="id", drop=("a",))
    assert (found.table.names, found.labels) == (("b",), ("123456789012345678901", "2"))


def test_dropped_columns_of_other_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    assert read_table(tmp_path / "a.npy", drop=["x1"]).names == ("x0", "x2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": ["b", "nobody"]}, "has no column 'nobody' to drop; it has id, a, b"),
        ({"drop": ["a", "b", "id"]}, "no column is left when a, b, id are dropped; keep at least one"),
        ({"drop": ["a", "b"], "index": "id"}, "no column is left when a, b are dropped; keep at least one"),
        ({"drop": "ab"}, "drop is a list of names of columns, got 'ab'. Write drop=\\['ab'\\]"),
    ],
)
def test_columns_that_cannot_be_dropped(csv_file, options, message):
    with pytest.raises(InvalidTableError, match=message):
        read_labelled_table(csv_file("id,a,b\n1,2,3\n"), **options)


def test_only_the_columns_asked_for_are_looked_at(csv_file):
    path = csv_file("b,odd,a\n1,inf,2\n")
    assert read_labelled_table(path, only=["a", "b"]).table.names == ("b", "a")
    with pytest.raises(InvalidTableError, match="the data lack 1 of the columns asked for: c"):
        read_labelled_table(path, only=["c"])


def test_unknown_ending_and_absent_file(tmp_path):
    with pytest.raises(InvalidFileError, match=r"name ends in .csv, .tsv.*got '.xls'"):
        read_table(tmp_path / "a.xls")
    with pytest.raises(InvalidFileError, match="there is no file"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidFileError, match="there is no file"):
        read_table(tmp_path / "folder.csv")


def test_npy_and_npz(tmp_path):
    values = np.arange(6).reshape(3, 2)
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "one.npz", anything=values)
    np.savez_compressed(tmp_path / "two.npz", X=values, y=np.zeros(3))
    for name in ("a.npy", "one.npz", "two.npz"):
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.values, values)
        assert table.kinds == ("integer", "integer")
    assert read_labelled_table(tmp_path / "a.npy", index="x0").labels == ("0", "2", "4")


def test_hostile_arrays_are_refused(tmp_path):
    np.save(tmp_path / "object.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidFileError, match="holds object; only booleans, integers and floats"):
        read_table(tmp_path / "object.npy")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(InvalidTableError, match=r"1 dimension\(s\)"):
        read_table(tmp_path / "flat.npy")
    np.save(tmp_path / "complex.npy", np.zeros((2, 2), complex))
    with pytest.raises(InvalidFileError, match="holds complex128; only booleans, integers and floats"):
        read_table(tmp_path / "complex.npy")
    flat = (tmp_path / "flat.npy").read_bytes()
    (tmp_path / "lying.npy").write_bytes(flat.replace(b"(3,), }      ", b"(3, 90000), }"))
    with pytest.raises(InvalidFileError, match=r"promises shape \(3, 90000\) of float64 but holds 24 bytes"):
        read_table(tmp_path / "lying.npy")
    (tmp_path / "open.npy").write_bytes(flat.replace(b"(3,), }", b"(3,(((("))
    with pytest.raises(InvalidFileError, match=r"no valid \.npy header"):
        read_table(tmp_path / "open.npy")
    np.savez(tmp_path / "many.npz", a=np.zeros((1, 1)), b=np.zeros((1, 1)))
    with pytest.raises(InvalidTableError, match=r"one array or one named 'X', got a\.npy, b\.npy"):
        read_table(tmp_path / "many.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(InvalidFileError, match=r"not a \.npz file"):
        read_table(tmp_path / "text.npz")


def test_npz_that_promises_too_much_is_refused_before_reading(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"0" * 10_000)
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\x01\x02") + 24  # uncompressed size in the central directory
    content[place : place + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"promises 2147483648 bytes, more than the limit"):
        read_table(path)


MIXED = {
    "flag": [True, False, None],
    "count": [1, None, 3],
    "size": [0.5, float("nan"), 2.0],
    "word": ["b", None, "a"],
}


def check_mixed(table):
    assert table.names == ("flag", "count", "size", "word")
    assert table.kinds == ("bool", "integer", "float", "category")
    expected = [[1, 1, 0.5, 0], [0, np.nan, np.nan, np.nan], [np.nan, 3, 2, 1]]
    np.testing.assert_array_equal(table.values, expected)
    assert table.categories == {3: ("b", "a")}


def test_polars_frame_and_parquet(tmp_path):
    frame = pl.DataFrame(MIXED)
    check_mixed(table_from_frame(frame))
    frame.write_parquet(tmp_path / "a.parquet")
    check_mixed(read_table(tmp_path / "a.parquet"))
    assert read_labelled_table(tmp_path / "a.parquet", index="word").labels == ("b", "row 1", "a")


def test_pandas_frame_with_nullable_types():
    check_mixed(table_from_frame(pd.DataFrame(MIXED).astype({"flag": "boolean", "count": "Int64"})))


def test_pandas_object_columns():
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in MIXED.items()})
    check_mixed(table_from_frame(frame))


def test_declared_categories_keep_their_order(tmp_path):
    levels = ["low", "mid", "high"]
    pandas_frame = pd.DataFrame({"c": pd.Categorical(["high", None, "low"], categories=levels)})
    polars_frame = pl.DataFrame({"c": pl.Series(["high", None, "low"], dtype=pl.Enum(levels))})
    pandas_frame.to_parquet(tmp_path / "c.parquet")
    for table in (
        table_from_frame(pandas_frame),
        table_from_frame(polars_frame),
        read_table(tmp_path / "c.parquet"),
    ):
        assert table.categories == {0: ("low", "mid", "high")}
        np.testing.assert_array_equal(table.values[:, 0], [2, np.nan, 0])


def test_polars_categorical_counts_only_its_own_labels():
    pl.Series(["unrelated"], dtype=pl.Categorical)
    table = table_from_frame(pl.DataFrame({"c": pl.Series(["b", "a", "b"], dtype=pl.Categorical)}))
    assert table.categories == {0: ("b", "a")}


@pytest.mark.parametrize(
    "cells",
    [np.array([1j, 2]), np.array([1, "a"], object)],
)
def test_frames_refuse_other_types_by_name(cells):
    with pytest.raises(InvalidTableError, match="column 'bad' holds"):
        table_from_frame(pd.DataFrame({"fine": [1, 2], "bad": cells}))


def test_dates_of_frames_are_days(tmp_path):
    days = pd.to_datetime(pd.Series(["2020-01-31", None, "2020-02-01 12:00"]), format="ISO8601")
    frame = pd.DataFrame({"day": days, "zone": days.dt.tz_localize("UTC"), "object": days.dt.date.astype(object)})
    polars = pl.from_pandas(frame[["day", "zone"]])
    polars.write_parquet(tmp_path / "a.parquet")
    found = [table_from_frame(frame), table_from_frame(polars), read_table(tmp_path / "a.parquet")]
    for table in found:
        assert set(table.kinds) == {"date"}
        np.testing.assert_array_equal(table.values[:, 0], [18292.0, np.nan, 18293.5])


@pytest.mark.parametrize("texts", [("31.01.2020", "1.2.2021"), ("1/31/20", "12/1/21 08:15"), ("08:15", "23:59:59")])
def test_other_dates_and_times_are_recognised(csv_file, texts):
    assert table_from_frame(pd.DataFrame({"day": texts})).kinds == ("date",)


def test_frames_refuse_duplicates_and_strangers():
    with pytest.raises(InvalidTableError, match="two columns named 'a'"):
        table_from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InvalidTableError, match="expected a pandas or polars DataFrame, got dict"):
        table_from_frame({})
    with pytest.raises(InvalidTableError, match="the frame has no columns"):
        table_from_frame(pd.DataFrame(index=[0]))


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(InvalidFileError, match="not a Parquet file"):
        read_table(tmp_path / "a.parquet")
    plain_import = builtins.__import__

    def without_pyarrow(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return plain_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(InvalidFileError, match=r"pip install 'bayesgrove\[tables\]'"):
        read_table(tmp_path / "a.parquet")


def test_one_column_of_texts_may_hold_any_marks(csv_file):
    table = read_table(csv_file("remark\nsoft; sweet\ndry\n"))
    assert table.categories == {0: ("soft; sweet", "dry")}


def test_large_integers_in_object_columns_are_refused_too():
    with pytest.raises(InvalidTableError, match=r"column 'id' has integers beyond 2\*\*53"):
        table_from_frame(pd.DataFrame({"id": [10**30, 1]}, dtype=object))


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (pd.DataFrame({"a": [1, 2]}), None),
        (pd.DataFrame({"a": [1, 2]}, index=pd.Index([0, 1])), None),
        (pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), ("x", "y")),
        (pd.DataFrame({"a": [1, 2, 3]})[1:], ("1", "2")),  # what a filter leaves keeps its numbers
        (pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([("x", 3)])), ("x, 3",)),
        (pl.DataFrame({"a": [1, 2]}), None),
        (np.zeros((2, 1)), None),
    ],
)
def test_an_index_that_does_more_than_count_names_the_rows(frame, names):
    assert row_names(frame) == names


def test_rows_without_names_are_called_by_their_numbers_among_others():
    assert joined_names(None, 2, None, 1) is None
    assert joined_names(("a", "b"), 2, None, 1) == ("a", "b", "2")
    assert joined_names(None, 2, ("c",), 1) == ("0", "1", "c")

"""Blocks of rows from every kind of source, and CSV that spreadsheets cannot run."""

import errno
import os

import numpy as np
import polars as pl
import pytest

from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.core.table import table_from_array
from bayesgrove.io import atomic
from bayesgrove.io.atomic import replacing, write_text
from bayesgrove.io.blocks import gather_blocks, iterate_row_blocks, known_length
from bayesgrove.io.delimited import write_csv

pytestmark = pytest.mark.unit
ROWS = np.random.default_rng(0).normal(size=(25, 3))


class FakeDask:
    """The part of a dask array that is used."""

    def __init__(self, values, chunks):
        self.values, self.chunks, self.shape = values, chunks, values.shape

    def __getitem__(self, rows):
        return FakeDask(self.values[rows], None)

    def compute(self):
        return self.values


@pytest.fixture
def sources(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    pl.DataFrame(ROWS, schema=["a", "b", "c"]).write_parquet(tmp_path / "rows.parquet", row_group_size=10)
    np.savetxt(tmp_path / "rows.csv", ROWS, delimiter=",")
    return {
        "array": ROWS,
        "fortran": np.asfortranarray(ROWS),
        "memmap": np.load(tmp_path / "rows.npy", mmap_mode="r"),
        "npy": tmp_path / "rows.npy",
        "parquet": str(tmp_path / "rows.parquet"),
        "csv": tmp_path / "rows.csv",
        "list": [ROWS[:10], ROWS[10:]],
        "iterator": (ROWS[i : i + 4] for i in range(0, 25, 4)),
        "frame": pl.DataFrame(ROWS),
        "table": table_from_array(ROWS),
        "dask": FakeDask(ROWS, ((20, 5), (3,))),
    }


NAMES = ("array", "fortran", "memmap", "npy", "parquet", "csv", "list", "iterator", "frame", "table", "dask")


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_same_rows(sources, name):
    blocks = list(iterate_row_blocks(sources[name], block_rows=7))
    np.testing.assert_array_equal(np.concatenate(blocks), ROWS)
    assert all(block.dtype == np.float64 and block.flags.c_contiguous for block in blocks)


@pytest.mark.parametrize("name", NAMES)
def test_every_source_is_gathered(sources, name):
    gathered = gather_blocks(sources[name])
    np.testing.assert_array_equal(gathered, ROWS)
    assert gathered.flags.c_contiguous


def test_a_float_array_is_not_copied():
    assert gather_blocks(ROWS) is ROWS


def test_lengths_are_known_without_reading(sources):
    for name in ("npy", "parquet", "list", "dask", "memmap"):
        assert known_length(sources[name]) == 25
    assert known_length(sources["iterator"]) is None


def test_bad_blocks_are_refused(tmp_path):
    with pytest.raises(InvalidTableError, match="block 1 has 2 columns where the first has 3"):
        gather_blocks([ROWS, ROWS[:, :2]])
    with pytest.raises(InvalidTableError, match=r"block 0 must be a 2-d array of numbers, got 1 dim"):
        gather_blocks([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(InvalidTableError, match="source of rows is empty"):
        gather_blocks([])
    with pytest.raises(InvalidTableError, match="got int"):
        gather_blocks(3)
    with pytest.raises(InvalidTableError, match=r"got an array of 1 dimension"):
        list(iterate_row_blocks(np.zeros(3)))
    pl.DataFrame({"t": ["a", "b"]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidTableError, match="column 't' holds texts"):
        gather_blocks(tmp_path / "t.parquet")


def test_formulas_are_defused(tmp_path):
    write_csv(tmp_path / "a.csv", ["row", "cluster"], [["=1+1", 0], ["@x", 1], ["plain, quoted", 1]])
    assert (tmp_path / "a.csv").read_text() == "row,cluster\n'=1+1,0\n'@x,1\n\"plain, quoted\",1\n"
    write_csv(tmp_path / "b.csv", ["-name"], [[-1.5], ["\tx"]])
    assert (tmp_path / "b.csv").read_text() == "'-name\n-1.5\n'\tx\n"


def test_failure_keeps_the_old_file_and_leaves_no_rubbish(tmp_path):
    path = tmp_path / "kept.txt"
    write_text(path, "old")

    def fail_midway():
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_midway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_is_refused_clearly(tmp_path):
    write_text(tmp_path / "a", "old")
    with pytest.raises(InvalidFileError, match="exists already"):
        write_text(tmp_path / "a", "new", overwrite=False)
    with pytest.raises(InvalidFileError, match="is a folder"):
        write_text(tmp_path, "new")
    with pytest.raises(InvalidFileError, match="there is no folder"):
        write_text(tmp_path / "no" / "a", "new")
    with pytest.raises(InvalidFileError, match=r"cannot write .*: File name too long"):
        write_text(tmp_path / ("a" * 250), "new")
    assert (tmp_path / "a").read_text() == "old"


def test_a_link_is_written_through(tmp_path):
    write_text(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_file_has_no_name_until_it_is_whole(tmp_path):
    """A process that is killed in the middle leaves nothing, where the system has files without names."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(atomic.OPEN_FILES):
        pytest.skip("this system has no files without names")
    with replacing(tmp_path / "file") as stream:
        stream.write(b"half")
        stream.flush()
        assert list(tmp_path.iterdir()) == []
    assert (tmp_path / "file").read_bytes() == b"half"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("what", ["open", "link"])
def test_systems_without_files_without_names(tmp_path, monkeypatch, what):
    """A hidden name, or a copy, takes their place."""
    if what == "open":
        monkeypatch.setattr(atomic, "OPEN_FILES", str(tmp_path / "none"))
    else:
        monkeypatch.setattr(os, "link", refuse)
    write_text(tmp_path / "file", "first")
    write_text(tmp_path / "file", "second")
    assert (tmp_path / "file").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def refuse(*given, **how):
    raise OSError(errno.EPERM, "not here")

"""Tables in files: comma- and tab-separated text, Parquet, .npy, .npz."""

import io
import warnings
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as extra
from hypothesis.strategies import SearchStrategy

from bayesgrove.io.blocks import iterate_row_blocks
from bayesgrove.io.tables import read_labelled_table
from fuzzing.cases import Case, Target
from fuzzing.grammars import delimited_texts

KINDS = (".csv", ".tsv", ".npy", ".npz", ".parquet")
BY_BLOCKS = (".npy", ".parquet")
HEADS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }",
    "{'descr': '%s', 'fortran_order': True, 'shape': (2, 2), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (%s,)}",
    "%s",
)


def attempt(case: Case, folder: Path) -> None:
    """Read the file as the estimators and as the command line do."""
    path = folder / f"data{case.kind}"
    path.write_bytes(case.content)
    table = read_labelled_table(path).table
    if case.kind in (".csv", ".tsv"):
        read_labelled_table(path, header=False, texts=["x0"])
        read_labelled_table(path, header=True, index=table.names[0], require_index=False)
    if case.kind in BY_BLOCKS:
        for _ in iterate_row_blocks(path, 2):
            pass


def structured(kind: str) -> SearchStrategy[bytes]:
    """Files that are nearly what they should be."""
    if kind in (".csv", ".tsv"):
        return delimited_texts("\t" if kind == ".tsv" else ",")
    if kind == ".parquet":
        return frames().map(parquet_bytes)
    whole = arrays().map(npy_bytes)
    made_up = st.builds(npy_by_hand, st.sampled_from(HEADS), shape_texts(), st.binary(max_size=40), st.integers(0, 3))
    content = st.one_of(whole, made_up)
    return content if kind == ".npy" else st.builds(zipped, content, st.sampled_from(["X.npy", "arr_0.npy", "../x"]))


def arrays() -> SearchStrategy[np.ndarray]:
    """Small arrays of all types and shapes."""
    types = st.one_of(extra.scalar_dtypes(), extra.array_dtypes(max_size=2))
    return types.flatmap(lambda kind: extra.arrays(kind, extra.array_shapes(min_dims=0, max_dims=3, min_side=0)))


def frames() -> SearchStrategy[dict[str, list]]:
    """Columns of one type each, nulls among them."""
    cells = st.one_of(
        *(
            st.lists(st.one_of(st.none(), kind), min_size=3, max_size=3)
            for kind in (st.integers(-(2**60), 2**60), st.floats(), st.text(max_size=4), st.booleans(), st.dates())
        ),
        st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=3, max_size=3),
    )
    return st.dictionaries(st.text(max_size=4), cells, max_size=4)


def shape_texts() -> SearchStrategy[str]:
    """What a header may say of shapes and types."""
    number = st.one_of(st.integers(-3, 4), st.sampled_from([2**31, 2**62, 2**64, 10**40])).map(str)
    return st.one_of(
        st.lists(number, max_size=4).map(",".join),
        st.sampled_from(["<f8", "|O", "<U3", "<M8[s]", "|V8", "O", "1,", "()", "None", "(" * 300, "1" * 5000]),
    )


def npy_bytes(array: np.ndarray) -> bytes:
    """The array as a .npy file."""
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of fields that need a newer version of the format
        np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def npy_by_hand(head: str, shape: str, data: bytes, version: int) -> bytes:
    """A header written by hand, and some bytes."""
    text = (head % shape).encode() + b"\n"
    width = 2 if version <= 1 else 4
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(width, "little") + text + data


def zipped(content: bytes, name: str) -> bytes:
    """A .npz file of one member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def parquet_bytes(columns: dict[str, list]) -> bytes:
    """The columns as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Valid files of numbers, and where the format has them of words."""
    values = np.arange(12.0).reshape(4, 3) / 3
    if kind in (".csv", ".tsv"):
        text = "name,a,b\nu,1.5,2\nv,,3\nw,-1e3,true\n"
        return [text.replace(",", "\t" if kind == ".tsv" else ",").encode(), b"1\n2\n3\n"]
    if kind == ".npy":
        return [npy_bytes(values), npy_bytes(np.asfortranarray(values.astype(np.int32)))]
    if kind == ".npz":
        return [zipped(npy_bytes(values), "X.npy"), zipped(npy_bytes(values > 1), "arr_0.npy")]
    numbers = {"a": [1.5, None, 2.0], "b": [1, 2, 3]}
    return [parquet_bytes(numbers)]


TARGET = Target("tables", KINDS, structured, seeds, attempt)

"""Damaged and random files: a table or a clear refusal, never another error and never a hang."""

import numpy as np
import polars as pl
import pytest

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.core.table import Table
from bayesgrove.io.tables import read_table

pytestmark = pytest.mark.unit
N_TRIES = 150


def write_sample(path):
    values = np.random.default_rng(1).normal(size=(20, 3)).round(3)
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".npz":
        np.savez_compressed(path, X=values)
    else:
        frame = pl.DataFrame(values, schema=["a", "b", "c"]).with_columns(word=pl.Series(["x", "y"] * 10))
        frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def read_or_refuse(path):
    try:
        assert isinstance(read_table(path), Table)
    except InvalidInputError:
        return True
    return False


# A flipped header may make numpy warn before it refuses.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ending", [".csv", ".npy", ".npz", ".parquet"])
def test_flipped_bytes_and_truncations(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    write_sample(path)
    assert not read_or_refuse(path)
    content = path.read_bytes()
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(N_TRIES):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), int(rng.integers(1, 4))):
            damaged[place] = int(rng.integers(256))
        path.write_bytes(damaged)
        refused += read_or_refuse(path)
        path.write_bytes(content[: int(rng.integers(len(content)))])
        refused += read_or_refuse(path)
    assert refused > 0


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet"])
def test_random_bytes(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    rng = np.random.default_rng(3)
    for _ in range(N_TRIES):
        path.write_bytes(rng.bytes(int(rng.integers(0, 300))))
        read_or_refuse(path)


def test_random_punctuation(tmp_path):
    path = tmp_path / "data.csv"
    rng = np.random.default_rng(4)
    letters = np.array(list('",\n\r\t 01.-eE+nafiNA\0\ufeffx'))
    for _ in range(2 * N_TRIES):
        path.write_text("".join(rng.choice(letters, int(rng.integers(0, 200)))), encoding="utf-8", newline="")
        read_or_refuse(path)

"""Tables as people bring them: the same from every reader, columns as understood, customers, null tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove.cli.settings import parse_columns
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.io.frames import table_from_frame
from bayesgrove.io.tables import read_table
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.likelihoods.understanding import understand

pytestmark = pytest.mark.unit
TABLES = ("penguins", "titanic", "mpg", "satellites")


def customers(seed, missing=0.0, n=600):
    """A frame of customers of four segments, and these."""
    rng = np.random.default_rng(seed)
    z = rng.integers(4, size=n)
    levels = np.array([[1, 4, 2, 5, 3], [5, 2, 4, 1, 3], [3, 5, 1, 2, 5], [2, 1, 5, 4, 1]])[z]
    frame = pd.DataFrame(
        {
            "age": np.rint(rng.normal(np.array([25, 38, 52, 68])[z], 4)),
            "income": 100 * np.rint(np.exp(rng.normal(np.array([10.0, 10.7, 11.2, 10.3])[z], 0.25)) / 100),
            "visits": rng.poisson(np.array([2, 9, 20, 5])[z]),
            **{f"item{q}": np.clip(np.rint(rng.normal(levels[:, q], 0.8)), 1, 5) for q in range(5)},
            "region": np.array(["north", "south", "east", "west"])[
                np.where(rng.random(n) < 0.7, z, rng.integers(4, size=n))
            ],
        }
    )
    frame = frame.mask(rng.random(frame.shape) < missing)
    words = [" ".join(rng.choice(["good", "bad", "fast", "late", "nice"], 3)) + f" {i % 500}" for i in range(n)]
    return frame.assign(customer=np.arange(n) + 7000, comment=words, currency="EUR"), z


def readings(path):
    """A table by every reader."""
    frame = pd.read_csv(path)
    yield "csv", read_table(path)
    yield "pandas", table_from_frame(frame)
    yield "nullable", table_from_frame(frame.convert_dtypes())
    yield "pandas Arrow", table_from_frame(frame.convert_dtypes(dtype_backend="pyarrow"))
    yield "polars", table_from_frame(pl.from_pandas(frame))
    yield "Arrow", table_from_frame(pa.Table.from_pandas(frame))
    yield "objects", table_from_frame(frame.astype(object))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_from_every_reader(name, shared_file):
    first = None
    for reader, table in readings(shared_file(f"data/tables/{name}.csv")):
        found = table.values, understand("auto", table)
        first = first or found
        np.testing.assert_array_equal(found[0], first[0], err_msg=reader)
        assert found[1] == first[1], reader


def test_columns_are_told_kept_in_files_and_predicted_without(tmp_path):
    frame, _ = customers(0, n=150)
    model = bg.BHC().fit(frame)
    columns = model.columns_.set_index("name")
    assert columns.family[["customer", "comment", "currency"]].tolist() == ["left out"] * 3
    assert columns.kind["age"] == "measurement"
    assert list(model.feature_names_in_) == list(frame.columns)
    model.save(tmp_path / "model.bg")
    again = bg.load(tmp_path / "model.bg")
    assert again.columns_.equals(model.columns_)
    new = frame.assign(customer=1, comment="never seen before")
    np.testing.assert_array_equal(again.predict(new), model.predict(frame))
    assert any(name == "column age" for name, _ in report_settings(model))


def report_settings(model):
    from bayesgrove.report.document import report_document

    return report_document(model.result_)["settings"]


def test_a_mapping_names_some_columns():
    frame, _ = customers(0, n=150)
    model = bg.BHC(likelihood={"age": "poisson", "customer": "gaussian"}).fit(frame)
    columns = model.columns_.set_index("name")
    assert columns.family[["age", "customer", "comment"]].tolist() == ["poisson", "gaussian", "left out"]


def test_columns_of_the_command_line():
    assert parse_columns("body_mass_g=gaussian, region = categorical", None) == {
        "body_mass_g": "gaussian",
        "region": "categorical",
    }
    assert parse_columns(None, "auto") == "auto"
    for wrong, message in (("age", "takes name=family"), ("a=poisson,a=gaussian", "names a twice")):
        with pytest.raises(InvalidSettingError, match=message):
            parse_columns(wrong, None)
    with pytest.raises(InvalidSettingError, match="--likelihood poisson of all"):
        parse_columns("age=gaussian", "poisson")


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_segments_of_customers_are_found(missing):
    for seed in range(3):
        frame, segments = customers(seed, missing)
        assert adjusted_rand_score(segments, bg.BHC().fit(frame).labels_) >= 0.95


@pytest.mark.slow
def test_independent_columns_stay_one_cluster():
    """At most 1 of 20 tables of columns of every kind without clusters is divided."""
    divided = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(
            {
                "normal": rng.normal(size=200),
                "age": np.rint(rng.normal(45, 9, 200)),
                "income": np.rint(rng.lognormal(10, 0.5, 200)),
                "visits": rng.poisson(3, 200),
                "likert": rng.integers(1, 6, 200),
                "region": rng.choice(["n", "s", "e"], 200),
                "member": rng.random(200) < 0.3,
            }
        )
        table = table if "log-gaussian" in NAMED else table.drop(columns="income")  # it takes the family
        divided += bg.BHC().fit(table).n_clusters_ > 1
    assert divided <= 1

"""New rows are brought to the columns and codes a model was trained on."""

import json

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import Table
from bayesgrove.io.schema import align_table, schema_of

pytestmark = pytest.mark.unit

TRAINED = Table(np.array([[0.0, 1.5], [1.0, 2.5]]), ("grade", "size"), ("category", "float"), {0: ("1", "b")})
SCHEMA = json.loads(json.dumps(schema_of(TRAINED)))


def test_a_table_aligned_to_itself_is_itself():
    aligned = align_table(TRAINED, SCHEMA)
    np.testing.assert_array_equal(aligned.values, TRAINED.values)
    assert (aligned.names, aligned.kinds, aligned.categories) == (
        TRAINED.names,
        TRAINED.kinds,
        TRAINED.categories,
    )


def test_numbers_stand_for_labels_that_look_like_numbers():
    new = Table(np.array([[3.0, 1.0], [4.0, np.nan]]), ("size", "grade"), ("integer", "integer"))
    np.testing.assert_array_equal(align_table(new, SCHEMA).values, [[0, 3], [np.nan, 4]])
    with pytest.raises(InvalidTableError, match=r"column 'grade' has the category '1\.5'"):
        align_table(Table(np.array([[1.5, 1.0]]), ("grade", "size"), ("float", "float")), SCHEMA)


def test_an_empty_column_fits_any_kind():
    new = Table(np.full((2, 2), np.nan), ("grade", "size"), ("float", "category"), {1: ()})
    assert np.isnan(align_table(new, SCHEMA).values).all()


def test_missing_columns_are_listed():
    with pytest.raises(InvalidTableError, match="lack 2 of the model's columns: grade, size"):
        align_table(Table(np.zeros((1, 1)), ("other",), ("float",)), SCHEMA)

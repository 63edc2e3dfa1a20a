import numpy as np
import pytest

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.exhibits import (
    BarsExhibit,
    GridExhibit,
    HeatMapExhibit,
    LinesExhibit,
    PictureExhibit,
    TextsExhibit,
)

pytestmark = pytest.mark.unit

PNG = b"\x89PNG\r\n\x1a\n"


def test_exhibits_hold_what_they_are_given():
    assert GridExhibit(title="t", columns=("a", "b"), rows=[("x", 1), (None, 2.5)]).rows[1] == (None, 2.5)
    assert HeatMapExhibit(title="t", values=np.zeros((1, 2)), row_names=["r"], column_names=["a", "b"]).middle is None
    assert LinesExhibit(title="t", x=np.arange(3), series={"s": np.arange(3)}).note == ""
    assert BarsExhibit(title="t", names=["a"], values=np.ones(1), low=np.zeros(1)).high is None
    picture = PictureExhibit(title="t", png=PNG + b"rest", alt="a line")
    assert "rest" not in repr(picture)


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        (GridExhibit, {"columns": ("a", "b"), "rows": [(1, 2), (1,)]}, "a row of 'my part' .* got 1 for 2"),
        (
            HeatMapExhibit,
            {"values": np.zeros((2, 3)), "row_names": ["r"], "column_names": ["a", "b", "c"]},
            r"'my part' has a name per row and column, got 1 and 3 for the shape \(2, 3\)",
        ),
        (
            LinesExhibit,
            {"x": np.zeros(3), "series": {"good": np.zeros(3), "bad": np.zeros(4)}},
            r"line 'bad' of 'my part' has a value per x, got \(4,\) for \(3,\)",
        ),
        (
            BarsExhibit,
            {"names": ["a"], "values": np.zeros(2)},
            r"'my part' has a value per bar, got \(2,\) for 1 names",
        ),
        (BarsExhibit, {"names": ["a"], "values": np.zeros(1), "high": np.zeros((1, 1))}, r"got \(1, 1\) for 1 names"),
        (TextsExhibit, {"names": ["a", "b"], "texts": ["t"]}, "'my part' has a name per text, got 2 for 1 texts"),
        (PictureExhibit, {"png": b"GIF89a", "alt": ""}, "the picture of 'my part' must be a PNG file's bytes"),
    ],
)
def test_parts_that_do_not_fit_are_refused(kind, content, message):
    with pytest.raises(InvalidInputError, match=message):
        kind(title="my part", **content)

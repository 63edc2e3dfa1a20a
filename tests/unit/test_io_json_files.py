"""Small JSON documents: what is read, and what is refused with the reason."""

import pytest

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.io.json_files import read_small_json

pytestmark = pytest.mark.unit


def test_a_document_is_read(tmp_path):
    (tmp_path / "a.json").write_text('{"b": [1, null]}')
    assert read_small_json(tmp_path / "a.json", 100) == {"b": [1, None]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "a.json is damaged: it is not JSON"),
        (b"[" * 90, "is not JSON"),
        (b"\xff\xfe\xff", "is not JSON"),
        (b" " * 101, "has 101 bytes, more than the 100 that are read"),
    ],
)
def test_others_are_refused(tmp_path, content, message):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InvalidFileError, match=message):
        read_small_json(tmp_path / "a.json", 100)


@pytest.mark.parametrize("name", ["absent.json", "no\0name", "x" * 5000])
def test_files_that_cannot_be_read_are_named(tmp_path, name):
    with pytest.raises(InvalidFileError, match="cannot read"):
        read_small_json(tmp_path / name, 100)

"""`python -m papers data`: files are built from their sources, and others are refused."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from papers import data_sets
from papers.__main__ import main
from scipy.io import savemat

from bayesgrove.datasets import load_animals, load_isolet, load_zoo
from bayesgrove.datasets.home import FILES, data_home, is_present

pytestmark = pytest.mark.unit
PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"


def needs(name):
    return pytest.mark.skipif(not is_present(name), reason=f"needs the data set {name!r}")


@needs("zoo")
def test_a_file_is_compressed_unchanged(tmp_path, capsys):
    source = tmp_path / "clone" / "uci" / "zoo.data"
    source.parent.mkdir(parents=True)
    source.write_bytes(gzip.decompress((data_home() / FILES["zoo"][0]).read_bytes()))
    for place in (source, tmp_path / "clone"):
        assert main(["data", "zoo", "--from", str(place), "--data-home", str(tmp_path / "home")]) == 0
    assert str(tmp_path / "home" / FILES["zoo"][0]) in capsys.readouterr().out
    np.testing.assert_array_equal(load_zoo(tmp_path / "home").data, load_zoo().data)


@needs("animals")
def test_animals_from_the_matrix_file(tmp_path):
    animals = load_animals()
    names, features = (np.array(texts, object) for texts in (animals.row_names, animals.feature_names))
    savemat(tmp_path / "animals.mat", {"data": animals.data, "names": names, "features": features})
    data_sets.build("animals", tmp_path, tmp_path / "home")
    again = load_animals(tmp_path / "home")
    np.testing.assert_array_equal(again.data, animals.data)
    np.testing.assert_array_equal(again.target, animals.target)


@needs("isolet")
def test_isolet_from_the_matrix_file(tmp_path):
    isolet = load_isolet()
    savemat(tmp_path / "Isolet.mat", {"X": isolet.data, "Y": np.asarray(isolet.target)[:, None]})
    data_sets.build("isolet", tmp_path / "Isolet.mat", tmp_path / "home")
    np.testing.assert_array_equal(load_isolet(tmp_path / "home").data, isolet.data)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nips"], "NAME is one of animals, arcene"),
        (["zoo"], "is not the file these experiments used"),
        (["sonar"], "holds no sonar.all-data.csv"),
        (["zoo", "--from", "nowhere"], "there is no nowhere"),
    ],
)
def test_what_is_refused(tmp_path, capsys, words, message):
    (tmp_path / "zoo.data").write_text("another file\n")
    given = words if "--from" in words else [*words, "--from", str(tmp_path)]
    assert main(["data", *given, "--data-home", str(tmp_path / "home")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "docs/data.md" in " ".join(error.split())
    assert not (tmp_path / "home").exists()


def test_the_page_has_every_hash_and_builder():
    page = PAGE.read_text(encoding="utf-8")
    for sha256 in (*data_sets.UNCHANGED.values(), *data_sets.CONVERTED.values(), data_sets.ISOLET_CELLS):
        assert sha256 in page
    assert all(
        f"`{name}`" in page.split("There are builders")[1].split("There is none")[0] for name in data_sets.BUILDERS
    )

"""Model files survive a round trip and refuse every kind of damage."""

import hashlib
import io
import json
import math
import zipfile

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.io.model_file import VERSION, read_model, write_model

pytestmark = pytest.mark.unit

ARRAYS = {
    "heights": np.linspace(0, 1, 7),
    "parents": np.arange(12).reshape(3, 4),
    "empty": np.zeros((0, 2)),
    "flags": np.array([True, False]),
    "scalar": np.array(3.5),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}
DOCUMENT = {"name": "Grüße", "count": 3, "limit": math.inf, "list": [1, None, True], "number": 0.1 + 0.2}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.bg"
    write_model(path, "bhc", DOCUMENT, ARRAYS)
    return path


def same(found):
    return (
        found.kind == "bhc"
        and found.document == DOCUMENT
        and found.arrays.keys() == ARRAYS.keys()
        and all(
            np.array_equal(found.arrays[name], array) and found.arrays[name].dtype == array.dtype
            for name, array in ARRAYS.items()
        )
    )


def rewrite(path, change, compression=zipfile.ZIP_STORED):
    """Write the archive again with its members changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def reseal(members, change):
    """Change the parsed model.json and give it, and the arrays, right checksums."""
    content = json.loads(members["model.json"])
    change(content)
    if isinstance(content.get("arrays"), dict):
        for name in content["arrays"]:
            data = members.get(f"arrays/{name}.npy", b"")
            content["arrays"][name] = hashlib.sha256(data).hexdigest()
    members["model.json"] = json.dumps(content).encode()
    members["model.sha256"] = hashlib.sha256(members["model.json"]).hexdigest().encode()


def test_round_trip(model):
    assert same(read_model(model))


def test_same_model_same_bytes(model, tmp_path):
    write_model(tmp_path / "again.bg", "bhc", DOCUMENT, ARRAYS)
    assert (tmp_path / "again.bg").read_bytes() == model.read_bytes()


def test_numpy_numbers_are_welcome_other_objects_not(tmp_path):
    write_model(tmp_path / "a.bg", "bhc", {"n": np.int64(3)}, {})
    assert read_model(tmp_path / "a.bg").document == {"n": 3}
    with pytest.raises(InvalidSettingError, match="JSON's types only, got set"):
        write_model(tmp_path / "b.bg", "bhc", {"n": set()}, {})
    with pytest.raises(InvalidSettingError, match=r"letters, digits and underscores, got '\.\./x'"):
        write_model(tmp_path / "b.bg", "bhc", {}, {"../x": np.zeros(1)})
    with pytest.raises(InvalidSettingError, match="'x' must hold numbers, got object"):
        write_model(tmp_path / "b.bg", "bhc", {}, {"x": np.array([None])})
    assert not (tmp_path / "b.bg").exists()


def test_a_failed_save_keeps_the_old_model(model):
    with pytest.raises(InvalidSettingError):
        write_model(model, "bhc", {"n": set()}, {})
    with pytest.raises(InvalidFileError, match="exists already"):
        write_model(model, "bhc", {}, {}, overwrite=False)
    assert same(read_model(model))


def test_every_flipped_byte_is_noticed_or_harmless(model):
    content = model.read_bytes()
    rng = np.random.default_rng(5)
    places = rng.permutation(len(content))[:2000]
    refused = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        model.write_bytes(damaged)
        try:
            assert same(read_model(model)), f"byte {place} changed the content unnoticed"
        except InvalidFileError:
            refused += 1
    assert refused > 0.8 * len(places)


def test_every_truncation_is_refused(model):
    content = model.read_bytes()
    for length in [*range(0, len(content), 41), len(content) - 1]:
        model.write_bytes(content[:length])
        with pytest.raises(InvalidFileError, match="damaged or not a bayesgrove model"):
            read_model(model)


def test_random_bytes_and_absent_files(tmp_path):
    path = tmp_path / "a.bg"
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(InvalidFileError, match="not a bayesgrove model file"):
        read_model(path)
    with pytest.raises(InvalidFileError, match="there is no model file"):
        read_model(tmp_path / "b.bg")
    with pytest.raises(InvalidFileError, match="there is no model file"):
        read_model(tmp_path)


def test_changed_json_and_changed_array_are_told_apart(model):
    rewrite(model, lambda parts: parts.update({"model.json": parts["model.json"].replace(b"bhc", b"bhd")}))
    with pytest.raises(InvalidFileError, match=r"checksum of model\.json"):
        read_model(model)


def test_exchanged_array_is_noticed(model):
    rewrite(model, lambda parts: parts.update({"arrays/heights.npy": parts["arrays/flags.npy"]}))
    with pytest.raises(InvalidFileError, match="checksum of array 'heights'"):
        read_model(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(version=VERSION + 1), "reads up to 1. Upgrade"),
        (lambda content: content.update(version="1"), "version '1', which is no version"),
        (lambda content: content.update(format="other"), "a zip file but not a bayesgrove model"),
        (lambda content: content.update(kind=3), "'kind' is missing"),
        (lambda content: content.update(document=[]), "'document' is missing"),
        (lambda content: content.pop("arrays"), "'arrays' is missing"),
        (lambda content: content["arrays"].update({"../../x": ""}), "forbidden name"),
        (
            lambda content: content["arrays"].update({"absent": ""}),
            r"other parts than it lists: 'arrays/absent",
        ),
    ],
)
def test_well_sealed_but_wrong_headers_are_refused(model, change, message):
    rewrite(model, lambda parts: reseal(parts, change))
    with pytest.raises(InvalidFileError, match=message):
        read_model(model)


def npy(header, payload=b""):
    text = repr(header).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + payload


def object_npy():
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy({"descr": "<f8", "fortran_order": False, "shape": (10**12,)}), "promises shape"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (-1,)}, b"0" * 8), "impossible shape|valid"),
        (npy({"descr": "<f8", "fortran_order": False}), r"no valid \.npy header"),
        (object_npy(), "holds object"),
        (npy({"descr": "<U4", "fortran_order": False, "shape": (1,)}, b"\xff" * 16), "holds <U4"),
        (b"hello", r"no valid \.npy header"),
        (npy([[]])[:9] + b"\xff" + b"[" * 9000, r"no valid \.npy header"),
    ],
)
def test_lying_and_hostile_arrays_are_refused_under_right_checksums(model, data, message):
    def plant(parts):
        parts["arrays/heights.npy"] = data
        reseal(parts, lambda content: None)

    rewrite(model, plant)
    with pytest.raises(InvalidFileError, match=message):
        read_model(model)


def test_deep_json_is_refused(model):
    def plant(parts):
        parts["model.json"] = b"[" * 1_000_000
        parts["model.sha256"] = hashlib.sha256(parts["model.json"]).hexdigest().encode()

    rewrite(model, plant)
    with pytest.raises(InvalidFileError, match="not valid JSON"):
        read_model(model)


def test_compressed_parts_are_refused_before_reading(model):
    def plant(parts):
        parts["arrays/bomb.npy"] = b"0" * 50_000_000

    rewrite(model, plant, zipfile.ZIP_DEFLATED)
    assert model.stat().st_size < 100_000
    with pytest.raises(InvalidFileError, match=r"promises 5000.* bytes in 9 parts, more than the file"):
        read_model(model)
    write_model(model, "bhc", DOCUMENT, ARRAYS)
    rewrite(model, lambda parts: None, zipfile.ZIP_DEFLATED)
    with model.open("ab") as stream:
        stream.write(b"0" * 20_000)  # room enough for what the parts promise
    with pytest.raises(InvalidFileError, match="is compressed; model files never are"):
        read_model(model)


def test_limits_on_size_and_parts(model):
    with pytest.raises(InvalidFileError, match="or the limit \\(100 bytes"):
        read_model(model, max_bytes=100)
    rewrite(model, lambda parts: parts.update({f"extra{i}": b"" for i in range(1000)}))
    with pytest.raises(InvalidFileError, match="in 1008 parts"):
        read_model(model)


def test_surprising_and_doubled_parts_are_refused(model):
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("../evil.txt", "x")
    with pytest.raises(InvalidFileError, match=r"other parts than it lists: '\.\./evil\.txt'"):
        read_model(model)


def test_encrypted_parts_are_refused(model):
    content = bytearray(model.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # flag bit 0 of the last directory entry
    model.write_bytes(content)
    with pytest.raises(InvalidFileError, match="is encrypted; model files never are"):
        read_model(model)

"""Records of a chain as bytes: what goes in comes out, and what never went in is refused."""

import json
import random
import struct

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator, state_to_json
from bayesgrove.inference.chain import Checkpoint, Draw
from bayesgrove.inference.records import DrawFormat, decode_state, encode_state

pytestmark = pytest.mark.unit

DRAW = Draw(
    41,
    {
        "labels": np.arange(5),
        "table": np.arange(6.0).reshape(2, 3)[:, ::-1],
        "none": np.zeros((0, 3), np.float32),
        "one": np.array(True),
    },
    {"log_joint": -1.5, "n_clusters": 2.0},
)
STATE = Checkpoint(70, {"labels": np.arange(5), "u": np.array(0.25)}, state_to_json(generator(7)), {"a": {"n": 3}})


def assert_same(got, expected):
    assert list(got) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values, strict=True)


def test_draws_go_in_and_come_out():
    layout = DrawFormat.of(DRAW)
    payload = layout.encode(DRAW)
    again = DrawFormat.from_bytes(layout.to_bytes())
    got = again.decode(payload)
    assert (got.number, got.scalars) == (41, DRAW.scalars)
    assert_same(got.arrays, DRAW.arrays)
    assert again.encode(got) == payload
    other = DRAW._replace(arrays={**DRAW.arrays, "labels": np.arange(9)})
    assert_same(again.decode(again.encode(other)).arrays, other.arrays)


def test_a_draw_of_five_labels_is_small():
    draw = Draw(0, {"labels": np.arange(5)}, {"log_joint": 0.0, "n_clusters": 1.0})
    assert len(DrawFormat.of(draw).encode(draw)) == 8 + 1 + 4 + 16 + 40


@pytest.mark.parametrize("kind", ["i2", "i4", "i8", "u4", "u8"])
@pytest.mark.parametrize("top", [0, 127, 128, 255, 256, 32767, 32768, 2**31 - 1, 2**31, 2**62])
def test_integers_take_as_few_bytes_as_hold_them(kind, top):
    top = min(top, np.iinfo(kind).max)
    width = min(width for width in (1, 2, 4, 8) if top <= np.iinfo(f"{kind[0]}{width}").max)
    draw = Draw(0, {"x": np.arange(100).reshape(10, 10).T.astype(kind) // 100 * top}, {})
    draw.arrays["x"][7, 3] = top
    layout = DrawFormat.of(draw)
    payload = layout.encode(draw)
    assert len(payload) == 8 + 1 + 8 + 100 * width
    assert_same(layout.decode(payload).arrays, draw.arrays)


def test_negative_integers_stay_as_they_are():
    draw = Draw(0, {"x": np.full(100, -1)}, {})
    layout = DrawFormat.of(draw)
    assert_same(layout.decode(layout.encode(draw)).arrays, draw.arrays)


def test_a_width_that_cannot_be_is_refused():
    draw = Draw(0, {"x": np.zeros(4)}, {})
    payload = bytearray(DrawFormat.of(draw).encode(draw))
    payload[8] = 4
    with pytest.raises(InvalidFileError, match="4 bytes per element where float64 is kept"):
        DrawFormat.of(draw).decode(bytes(payload))


def test_states_go_in_and_come_out():
    got = decode_state(encode_state(STATE))
    assert (got.sweep, got.rng, got.counts) == (70, STATE.rng, STATE.counts)
    assert_same(got.arrays, STATE.arrays)
    got.arrays["labels"][0] = 9  # a sampler may use them as they are
    assert decode_state(encode_state(Checkpoint(0, {}, {}, {}))).arrays == {}


@pytest.mark.parametrize(
    ("payload", "decode"),
    [(DrawFormat.of(DRAW).encode(DRAW), DrawFormat.of(DRAW).decode), (encode_state(STATE), decode_state)],
    ids=["draw", "state"],
)
def test_payloads_of_any_other_length_are_refused(payload, decode):
    decode(payload)
    for size in range(len(payload)):
        with pytest.raises(InvalidFileError, match=r"do not fill it|too short|cannot be read|bytes per element"):
            decode(payload[:size])
    with pytest.raises(InvalidFileError, match="do not fill it"):
        decode(payload + b"x")


def test_damaged_payloads_never_raise_anything_else():
    """The log's checksums keep these out; should one come through, it must not crash or allocate much."""
    moments = random.Random(5)
    layout = DrawFormat.of(DRAW)
    for payload, decode in (
        (layout.encode(DRAW), layout.decode),
        (encode_state(STATE), decode_state),
        (layout.to_bytes(), DrawFormat.from_bytes),
    ):
        for _ in range(500):
            damaged = bytearray(payload)
            damaged[moments.randrange(len(damaged))] ^= 1 << moments.randrange(8)
            try:
                decode(bytes(damaged))
            except InvalidFileError:
                continue


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"arrays": [], "scalars": 3},
        {"arrays": [["x", "|O", 1]], "scalars": []},
        {"arrays": [["x", "<i8", -1]], "scalars": []},
        {"arrays": [["x", "<i8", 4000]], "scalars": []},
        {"arrays": [["x", "<i8,<i8", 1]], "scalars": []},
        {"arrays": [["x", ">i8", 1]], "scalars": []},
    ],
)
def test_layouts_that_cannot_be(document):
    with pytest.raises(InvalidFileError, match="layout of draws cannot be read"):
        DrawFormat.from_bytes(json.dumps(document).encode())


@pytest.mark.parametrize("arrays", [[["x", "|O", [1]]], [["x", "<i8", [-1]]], [["x", "<i8", [2**62, 4]]], [["x"]], 7])
def test_states_that_cannot_be(arrays):
    head = json.dumps({"sweep": 1, "rng": {}, "counts": {}, "arrays": arrays}).encode()
    with pytest.raises(InvalidFileError, match=r"state's record cannot be read|do not fill"):
        decode_state(struct.pack("<I", len(head)) + head)


def test_what_raw_bytes_cannot_hold_is_refused():
    for values in (np.array(["a"]), np.array([None]), np.arange(3, dtype=">i8"), np.array([1j])):
        with pytest.raises(InvalidSettingError, match="booleans, integers and floats in the machine's order; x is"):
            DrawFormat.of(Draw(0, {"x": values}, {}))


def test_draws_of_another_layout_are_refused():
    layout = DrawFormat.of(DRAW)
    with pytest.raises(InvalidSettingError, match="draw 41 has labels, log_joint"):
        layout.encode(Draw(41, {"labels": np.arange(5)}, {"log_joint": 1.0}))
    for wrong in (np.arange(5.0), np.zeros((5, 1), int)):
        with pytest.raises(InvalidSettingError, match="same types and numbers of dimensions: draw 41 has an array of"):
            layout.encode(DRAW._replace(arrays={**DRAW.arrays, "labels": wrong}))

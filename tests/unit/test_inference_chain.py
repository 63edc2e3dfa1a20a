"""The loop over sweeps, schedules, and draws in memory."""

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, RunStoppedError
from bayesgrove.core.rng import generator
from bayesgrove.inference import chain
from bayesgrove.inference.chain import REFRESHED, Draw
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.inference.trace import MemoryTrace
from reference.toy_sampler import SCHEDULE, FlatSampler, ToySampler

pytestmark = pytest.mark.unit


class Diary:
    """Writes down what the chain asks for."""

    def __init__(self):
        self.lines = []

    def move(self, rng, state, step):
        self.lines.append(step.move)
        return {"proposed": step.times}

    def draw(self, state):
        self.lines.append("draw")
        return {}

    def scalars(self, state):
        return {}

    def refresh(self, state):
        self.lines.append("refresh")


def test_the_order_of_things_in_a_chain():
    diary = Diary()
    schedule = Schedule((Step("a", 2),), (Step("b"), Step("c")), n_tune=2, thin=2, refresh=3)
    position = chain.Position(None, generator(0))
    events = []
    for event in chain.walk(diary, schedule, position, 6):
        events.append(event.number if isinstance(event, Draw) else event)
        diary.lines.append("|")
    assert " ".join(diary.lines) == "a | a | b c | refresh | b c draw | b c | b c draw | refresh |"
    assert events == [None, None, None, REFRESHED, 0, None, 1, REFRESHED]
    assert position.sweep == 6
    assert position.counts == {"a": {"proposed": 4}, "b": {"proposed": 4}, "c": {"proposed": 4}}


@pytest.mark.parametrize(("n_tune", "thin"), [(0, 1), (5, 1), (3, 4)])
def test_sweeps_and_draws_are_counted_alike(n_tune, thin):
    schedule = Schedule((), (Step("a"),), n_tune, thin)
    position = chain.Position(np.zeros(5, int), generator(0))
    seen = 0
    assert chain.n_draws_after(schedule, 0) == 0
    for event in chain.walk(FlatSampler(), schedule, position, chain.n_sweeps(schedule, 7)):
        seen += isinstance(event, Draw)
        assert chain.n_draws_after(schedule, position.sweep) == seen
    assert seen == 7


def test_a_checkpoint_goes_on_with_the_same_bits_and_shares_nothing():
    sampler = ToySampler()
    position = chain.begin(sampler, generator(3, 1))
    saved = []
    whole = []
    for event in chain.walk(sampler, SCHEDULE, position, 60):
        if event is REFRESHED:
            saved.append((len(whole), chain.to_checkpoint(sampler, position)))
        elif event is not None:
            whole.append((event.arrays["labels"].tobytes(), event.scalars))
    assert len(saved) == 8
    for n_before, checkpoint in saved:
        for _ in range(2):  # a checkpoint can be used twice
            again = chain.from_checkpoint(sampler, checkpoint)
            events = [
                (event.arrays["labels"].tobytes(), event.scalars)
                for event in chain.walk(sampler, SCHEDULE, again, 60)
                if isinstance(event, Draw)
            ]
            assert events == whole[n_before:]
            assert again.counts == position.counts


@pytest.mark.parametrize(
    ("bad", "rule"),
    [({"n_tune": -1}, "n_tune must be at least 0, got -1"), ({"n_tune": 1, "thin": 0}, "thin must be at least 1"),
     ({"n_tune": 1, "refresh": 0}, "refresh must be at least 1, got 0")],
)  # fmt: skip
def test_schedules_that_cannot_be(bad, rule):
    with pytest.raises(InvalidSettingError, match=rule):
        Schedule((Step("a"),), (Step("a"),), **bad)


def numbered(number, values, **scalars):
    return Draw(number, {"x": np.array(values)}, scalars or {"s": number / 3})


def test_draws_in_memory_are_copies_that_grow():
    trace = MemoryTrace(3)
    live = np.arange(4)
    for number in range(5000):
        live[0] = number
        trace.append(Draw(number, {"x": live}, {"s": number / 3, "t": np.float64(1.0)}))
    assert trace.n_draws == 5000
    np.testing.assert_array_equal(trace.arrays()["x"][:, 0], np.arange(5000))
    np.testing.assert_array_equal(trace.scalars()["s"], np.arange(5000) / 3)
    assert trace.arrays(10)["x"].shape == (10, 4)
    assert trace.scalars(10)["t"].shape == (10,)
    assert trace.arrays(10**6)["x"].shape == (5000, 4)


def test_draws_whose_shapes_vary():
    trace = MemoryTrace(10)
    shapes = [2, 2, 3, 1, 0]
    for number, size in enumerate(shapes):
        trace.append(numbered(number, np.arange(float(size))))
    arrays = trace.arrays()["x"]
    assert arrays.dtype == object
    assert [values.tolist() for values in arrays] == [list(range(size)) for size in shapes]
    assert trace.arrays(2)["x"].shape == (2,)


def test_draws_made_again_must_be_equal():
    for second in ([3, 4], [3, 4, 5]):
        trace = MemoryTrace(10)
        trace.append(numbered(0, [1, 2]))
        trace.append(numbered(1, second))
        trace.append(numbered(0, [1, 2]))
        trace.append(numbered(1, second))
        assert trace.n_draws == 2
        for other in (numbered(1, [*second[:-1], 9]), numbered(1, [3]), numbered(1, second, s=2.0)):
            with pytest.raises(RunStoppedError, match=r"draw 1 in memory, made again .* another version or on another"):
                trace.append(other)


def test_a_copy_of_a_trace_is_its_own():
    trace = MemoryTrace(2)
    trace.append(numbered(0, [1, 2]))
    other = trace.copy(3)
    other.append(numbered(1, [3, 4]))
    trace.append(numbered(1, [5, 6]))
    assert other.arrays()["x"].tolist() == [[1, 2], [3, 4]]
    assert trace.arrays()["x"].tolist() == [[1, 2], [5, 6]]


def test_samplers_that_change_names_or_types_are_told():
    trace = MemoryTrace(10)
    trace.append(numbered(0, [1, 2]))
    with pytest.raises(InvalidSettingError, match="same names, here x, s; draw 1 has x, t"):
        trace.append(numbered(1, [1, 2], t=1.0))
    with pytest.raises(InvalidSettingError, match="same names, here x, s; draw 1 has y, s"):
        trace.append(Draw(1, {"y": np.zeros(2)}, {"s": 1.0}))
    with pytest.raises(InvalidSettingError, match="keeps its type, int64, got float64 in draw 1"):
        trace.append(numbered(1, [1.0, 2.0]))

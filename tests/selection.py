"""What recorded durations are for: the order of the files, tests for a quick look, and the record itself.

Files that take long come first, so that pytest-xdist's processes end together (`--no-loadscope-reorder`, or it would
put files of few tests last, however long these take). `--fast` leaves out the slowest tests until the rest fits into
`BUDGET`; tests that were never recorded are run. `--record-durations` replaces the durations of every file it runs.
Time spent in numba's compiler does not count, so that the record does not depend on the state of the kernel cache
(processes that a test starts are counted in full).
"""

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from numba.core.event import Listener, install_listener

RECORD = Path(__file__).with_name("durations.json")
BUDGET = 130.0
"""Seconds of one core; with two cores, collecting and loading of kernels this is about two minutes."""
SHORT = 0.2
"""Seconds below which tests are recorded together, as one sum per file."""


ALL = "*"
"""Name that stands for all tests of a file, with an estimate of their seconds: the file was not recorded yet."""


class Durations(NamedTuple):
    """Seconds of the short tests of a file together, and of each longer one by its name."""

    short: float
    long: dict[str, float]


def read_record(path: Path = RECORD) -> dict[str, Durations]:
    """Recorded durations by file."""
    return {file: Durations(**each) for file, each in json.loads(path.read_text(encoding="utf-8")).items()}


def write_record(record: dict[str, Durations], path: Path = RECORD) -> None:
    """Store durations, one line per file, so that differences can be read."""
    lines = (f"{json.dumps(file)}: {json.dumps(record[file]._asdict())}" for file in sorted(record))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def summed(seconds: dict[str, float]) -> dict[str, Durations]:
    """Durations by file, from seconds by the full names of tests."""
    files: dict[str, dict[str, float]] = defaultdict(dict)
    for test, spent in seconds.items():
        file = file_of(test)
        files[file][test.removeprefix(f"{file}::")] = round(spent, 2)
    return {
        file: Durations(
            round(sum(spent for spent in tests.values() if spent < SHORT), 2),
            {name: spent for name, spent in sorted(tests.items()) if spent >= SHORT},
        )
        for file, tests in files.items()
    }


def too_slow(record: dict[str, Durations], budget: float) -> set[str]:
    """Full names of the slowest tests, without which the others fit into the budget."""
    total = sum(each.short + sum(each.long.values()) for each in record.values())
    tests = [(spent, f"{file}::{name}") for file, each in record.items() for name, spent in each.long.items()]
    left_out = set()
    for spent, test in sorted(tests, reverse=True):
        if total <= budget:
            break
        left_out.add(test)
        total -= spent
    return left_out


class CompilerClock(Listener):
    """Seconds spent in numba's compiler, kernels compiled for other kernels counted once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._start = 0.0

    def on_start(self, event: Any) -> None:
        """Start with the outermost kernel."""
        if self._depth == 0:
            self._start = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Stop with the outermost kernel."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._start


class Recorder:
    """A plugin of pytest that records durations, also of tests that run in pytest-xdist's processes."""

    def __init__(self, *, is_worker: bool) -> None:
        self.is_worker = is_worker
        self.seconds: dict[str, float] = defaultdict(float)
        self.clock = CompilerClock()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        """Tell the time spent compiling with the report: in this way it reaches the process that records."""
        report = yield
        report.user_properties.append(("compiling", self.clock.seconds))
        self.clock.seconds = 0.0
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up setup, call and teardown."""
        compiling = sum(value for name, value in report.user_properties if name == "compiling")
        self.seconds[report.nodeid] += max(report.duration - compiling, 0.0)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Any:
        """Listen to the compiler for the whole session."""
        self.listening = install_listener("numba:compile", self.clock)
        self.listening.__enter__()
        return (yield)

    def pytest_sessionfinish(self) -> None:
        """Replace the durations of the files that ran."""
        self.listening.__exit__(None, None, None)
        if not self.is_worker:
            kept = read_record() if RECORD.exists() else {}
            write_record({**kept, **summed(self.seconds)})


def add_options(parser: Any) -> None:
    """`--fast` and `--record-durations`."""
    group = parser.getgroup("selection")
    group.addoption("--fast", action="store_true", help="leave out the slowest tests: about two minutes on two cores")
    group.addoption("--record-durations", action="store_true", help="record the durations that --fast goes by")


def configure(config: Any) -> None:
    """Record durations if asked to."""
    if config.getoption("--record-durations"):
        if config.getoption("--fast"):
            raise pytest.UsageError("--record-durations needs whole files, got --fast too: leave out one of them")
        config.pluginmanager.register(Recorder(is_worker=hasattr(config, "workerinput")))


def longest_first(tests: list[str], record: dict[str, Durations]) -> list[int]:
    """Places of tests, given by their full names, by the seconds of their files; those of one file stay together."""
    seconds = {file: each.short + sum(each.long.values()) for file, each in record.items()}
    return sorted(range(len(tests)), key=lambda place: -seconds.get(file_of(tests[place]), 0.0))


def select(config: Any, items: list[Any]) -> None:
    """Begin with files that take long; deselect what is too slow for `--fast`."""
    record = read_record() if RECORD.exists() else {}
    items[:] = [items[place] for place in longest_first([item.nodeid for item in items], record)]
    if config.getoption("--fast"):
        slow = too_slow(record, BUDGET)
        is_slow = {item: item.nodeid in slow or f"{file_of(item.nodeid)}::{ALL}" in slow for item in items}
        config.hook.pytest_deselected(items=[item for item in items if is_slow[item]])
        items[:] = [item for item in items if not is_slow[item]]


def file_of(test: str) -> str:
    """File of a test, given by its full name."""
    return test.partition("::")[0]

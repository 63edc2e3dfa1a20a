"""The cache of compiled kernels notices an edit of any file, and kernels work where there is no cache."""

import contextlib
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.event import Listener, install_listener

import bayesgrove
from bayesgrove.core.jit import BELOW_MODELS, PACKAGE_FOLDER, folders_used, hash_sources, kernel

pytestmark = pytest.mark.unit

SOURCES = Path(bayesgrove.__file__).resolve().parents[1]
DECORATORS = {
    "house": "from bayesgrove.core.jit import kernel",
    "numba": "import numba\nkernel = numba.njit(cache=True)",
}
RUN = """
import json, sys
from pathlib import Path
import bayesgrove.core.jit as jit
jit.PACKAGE_FOLDER = Path(sys.argv[1]).resolve()
from tiny.caller import caller
value = caller(1.0)
print(json.dumps({"value": value, "hits": sum(caller.stats.cache_hits.values())}))
"""


class TinyPackage:
    """A package of two kernels in two files, the first of which calls the second."""

    def __init__(self, folder: Path, decorator: str) -> None:
        self.folder = folder
        self.code = folder / "tiny"
        self.code.mkdir()
        (self.code / "__init__.py").write_text("")
        (self.code / "how.py").write_text(DECORATORS[decorator])
        self.write_caller(step=1)
        self.write_callee(factor=2)

    def write_caller(self, step: int) -> None:
        (self.code / "caller.py").write_text(
            "from tiny.how import kernel\nfrom tiny.callee import callee\n\n"
            f"@kernel\ndef caller(x):\n    return callee(x) + {step}.0\n"
        )

    def write_callee(self, factor: int) -> None:
        (self.code / "callee.py").write_text(
            f"from tiny.how import kernel\n\n@kernel\ndef callee(x):\n    return {factor}.0 * x\n"
        )

    def run(self, watched: str = "tiny") -> dict[str, float]:
        """Value of the caller at 1 and its cache hits, in a new process; `watched` is the folder of the stamp."""
        settings = {
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(SOURCES)]),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache cannot tell two edits within one second
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
        }
        done = subprocess.run(
            [sys.executable, "-c", RUN, watched],
            cwd=self.folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)


def test_a_second_process_finds_the_cache_and_an_edited_callee_is_noticed(tmp_path):
    package = TinyPackage(tmp_path, "house")
    assert package.run() == {"value": 3.0, "hits": 0}
    assert package.run() == {"value": 3.0, "hits": 1}
    package.write_callee(factor=5)
    assert package.run() == {"value": 6.0, "hits": 0}


def test_numba_alone_keeps_the_old_callee(tmp_path):
    """The trap the stamp is for; when this fails, numba has learned to do without."""
    package = TinyPackage(tmp_path, "numba")
    assert package.run()["value"] == 3.0
    package.write_callee(factor=5)
    assert package.run() == {"value": 3.0, "hits": 1}


def test_a_kernel_outside_the_package_is_watched_too(tmp_path):
    """numba's own key has the byte code of a function but not its constants."""
    package = TinyPackage(tmp_path, "house")
    (tmp_path / "elsewhere").mkdir()
    assert package.run(watched="elsewhere") == {"value": 3.0, "hits": 0}
    assert package.run(watched="elsewhere") == {"value": 3.0, "hits": 1}
    package.write_caller(step=7)
    assert package.run(watched="elsewhere") == {"value": 9.0, "hits": 0}


def add_one(x):
    return x + 1.0


def test_without_numbas_private_stamp_kernels_are_not_cached(monkeypatch, caplog):
    monkeypatch.setattr("numba.core.dispatcher.FunctionCache", lambda function: NullCache())
    compiled = kernel(add_one)
    assert compiled(1.0) == 2.0
    assert not compiled.stats.cache_path
    assert "kernels are not cached" in caplog.text


def test_a_function_without_a_file_is_compiled_without_a_cache():
    names = {}
    exec("def add_two(x):\n    return x + 2.0\n", names)
    compiled = kernel(names["add_two"])
    assert compiled(1.0) == 3.0
    assert not compiled.stats.cache_path


def test_a_kernel_is_plain_python_when_the_compiler_is_off(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert kernel(add_one) is add_one


def test_house_settings_hold_and_options_pass():
    options = kernel(add_one).targetoptions
    assert (options["nopython"], options["nogil"], options["error_model"]) == (True, True, "numpy")
    assert kernel(fastmath={"nsz"})(add_one).targetoptions["fastmath"] == {"nsz"}
    assert kernel(nogil=False)(add_one).targetoptions["nogil"] is False


def test_the_hash_depends_on_names_and_contents_of_python_files_only(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("x = 1")
    first = hash_sources(tmp_path)
    (tmp_path / "notes.txt").write_text("no code")
    assert hash_sources(tmp_path) == first
    (tmp_path / "inner" / "a.py").write_text("x = 2")
    second = hash_sources(tmp_path)
    (tmp_path / "inner" / "a.py").rename(tmp_path / "inner" / "b.py")
    assert len({first, second, hash_sources(tmp_path)}) == 3


@pytest.mark.parametrize(
    ("file", "used", "not_used"),
    [
        ("models/nrm/gibbs.py", {"models/nrm", "core", "likelihoods"}, {"models/cross", "estimators"}),
        ("likelihoods/poisson.py", {"core", "likelihoods"}, {"models/nrm", "plot"}),
        ("plot/axes.py", {"."}, set()),
        ("__init__.py", {"."}, set()),
    ],
)
def test_a_kernel_is_stamped_by_what_it_may_call(file, used, not_used):
    found = {folder.relative_to(PACKAGE_FOLDER).as_posix() for folder in folders_used(PACKAGE_FOLDER / file)}
    assert used <= found
    assert not found & not_used


def test_every_shared_floor_with_kernels_is_watched():
    """What a floor above the models would compile is stamped by the whole package; none does."""
    with_kernels = {
        path.relative_to(PACKAGE_FOLDER).parts[0]
        for path in PACKAGE_FOLDER.rglob("*.py")
        if "core.jit import" in path.read_text(encoding="utf-8")
    }
    assert {"models", "stats", "trees"} <= with_kernels
    assert with_kernels <= {"models", *BELOW_MODELS}


@kernel
def is_impossible(x):
    """Whether a log probability is that of nothing."""
    return x == -np.inf


@kernel(fastmath={"nnan", "ninf"})
def all_possible(values):
    """A caller that excludes infinities, and is the first to ask for the helper."""
    n = 0
    for value in values:
        n += not is_impossible(value)
    return n == values.size


def test_a_helper_does_not_take_over_the_arithmetic_of_its_first_caller():
    all_possible(np.zeros(3))
    assert is_impossible(-np.inf)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """Kernels of the test are found in no cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


@contextlib.contextmanager
def compilations():
    """Names of the functions that are compiled in the block, and whether garbage was looked for meanwhile."""

    class Witness(Listener):
        def on_start(self, event):
            seen.append((event.data["dispatcher"].py_func.__name__, gc.isenabled()))

        def on_end(self, event):
            pass

    seen = []
    with install_listener("numba:compile", Witness()):
        yield seen


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_constants_and_first_values_make_no_copies():
    @kernel
    def double(x):
        return 2 * x

    @kernel
    def count(n):
        total = 0
        for _ in range(n):
            total = double(total) + double(3)
        return total

    with compilations() as seen:
        assert count(2) == 18
    assert [name for name, _ in seen] == ["count", "double"]


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_what_only_kernels_call_is_no_program_of_its_own_and_a_program_that_is_there_serves_them():
    @kernel
    def half(x, by=2.0):
        return x / by

    @kernel
    def quarter(x):
        return half(half(x), by=2.0)

    @kernel
    def eighth(x):
        return half(quarter(x))

    assert quarter(4.0) == 1.0
    assert half.signatures == []
    with compilations() as seen:
        assert eighth(8.0) == 1.0
    assert [name for name, _ in seen] == ["eighth"]
    assert half(3.0) == 1.5


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_looked_for_while_compiling(enabled):
    @kernel
    def same(x):
        return x

    (gc.enable if enabled else gc.disable)()
    try:
        with compilations() as seen:
            same(1.0)
        assert seen == [("same", False)]
        assert gc.isenabled() == enabled
    finally:
        gc.enable()

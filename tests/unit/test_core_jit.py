"""The cache of compiled kernels notices edits of what a kernel depends on; kernels work where there is no cache."""

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
from bayesgrove.core.jit import kernel

pytestmark = pytest.mark.unit

SOURCES = Path(bayesgrove.__file__).resolve().parents[1]
DECORATORS = {
    "house": "from bayesgrove.core.jit import kernel",
    "numba": "import numba\nkernel = numba.njit(cache=True)",
}
RUN = """
import json, os, sys
from pathlib import Path
import bayesgrove.core.jit as jit
from bayesgrove.core.additions import ADDITIONS
jit.PACKAGE_FOLDER = Path(sys.argv[1]).resolve()
for name in sys.argv[2:]:
    ADDITIONS.add(name, None)
from tiny.caller import caller
from tiny.shapes import Square
exec(os.environ.get("CHANGE", ""))
value = caller(1.0, Square(0.0))
print(json.dumps({"value": value, "hits": sum(caller.stats.cache_hits.values())}))
"""
SHAPES = """
from typing import NamedTuple
from tiny import areas

class Square(NamedTuple):
    side: float

@areas.area.register(Square)
def area_of_square(shape):
    return shape.side**2 + {extra}.0
"""


class TinyPackage:
    """A package of two kernels in two files, the first of which calls the second and a generic function."""

    def __init__(self, folder: Path, decorator: str) -> None:
        self.folder = folder
        self.code = folder / "tiny"
        self.code.mkdir()
        self.write("__init__", "")
        self.write("how", DECORATORS[decorator])
        self.write("unrelated", "number = 1\n")
        self.write("areas", "from bayesgrove.core.generic import generic\n\n@generic\ndef area(shape): pass\n")
        self.write("shapes", SHAPES.format(extra=0))
        self.write_caller(step=1)
        self.write_callee(factor=2)

    def write(self, module: str, text: str) -> None:
        (self.code / f"{module}.py").write_text(text)

    def write_caller(self, step: int, above: str = "") -> None:
        imports = "from tiny.areas import area\nfrom tiny.callee import callee\nfrom tiny.how import kernel\n"
        body = f"@kernel\ndef caller(x, shape):\n    return callee(x) + area(shape) + {step}.0\n"
        self.write("caller", f"{imports}\n{above}{body}")

    def write_callee(self, factor: int, docstring: str = "", comment: str = "") -> None:
        body = f"    {docstring!r}\n    return {factor}.0 * x  # {comment}\n"
        self.write("callee", f"from tiny.how import kernel\n\n@kernel\ndef callee(x):\n{body}")

    def run(self, watched: str = "tiny", *additions: str, **variables: str) -> dict[str, float]:
        """Value of the caller at 1 and its cache hits, in a new process; `watched` is the folder of the stamp."""
        settings = {
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(SOURCES)]),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache cannot tell two edits within one second
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
        }
        done = subprocess.run(
            [sys.executable, "-c", RUN, watched, *additions],
            cwd=self.folder,
            env={**os.environ, **settings, **variables},
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


def test_what_is_added_beside_the_package_has_kernels_of_its_own(tmp_path):
    package = TinyPackage(tmp_path, "house")
    assert package.run()["hits"] == 0
    assert package.run("tiny", "geometric")["hits"] == 0
    assert package.run("tiny", "geometric")["hits"] == 1
    assert package.run("tiny", "exponential")["hits"] == 0
    assert package.run()["hits"] == 1


def test_numba_alone_keeps_the_old_callee(tmp_path):
    """The trap the stamp is for; when this fails, numba has learned to do without."""
    package = TinyPackage(tmp_path, "numba")
    assert package.run()["value"] == 3.0
    package.write_callee(factor=5)
    assert package.run() == {"value": 3.0, "hits": 1}


@pytest.fixture
def warm_package(tmp_path):
    """A tiny package whose kernels are in the cache."""
    package = TinyPackage(tmp_path, "house")
    assert package.run() == {"value": 3.0, "hits": 0}
    return package


def test_docstrings_comments_and_unrelated_modules_recompile_nothing(warm_package):
    warm_package.write_callee(factor=2, docstring="What it is.", comment="as ever")
    warm_package.write("unrelated", "number = 2\n")
    assert warm_package.run() == {"value": 3.0, "hits": 1}


def test_a_kernel_that_moves_within_its_file_is_found_again(warm_package):
    warm_package.write_caller(step=1, above="# one line\n# and another\n")
    assert warm_package.run() == {"value": 3.0, "hits": 1}


def test_an_edited_body_of_a_generic_function_is_noticed(warm_package):
    """The trap: the module of the kernel does not import the module of the body."""
    warm_package.write("shapes", SHAPES.format(extra=4))
    assert warm_package.run() == {"value": 7.0, "hits": 0}


def test_a_file_edited_while_the_process_runs_is_not_stored_under_its_new_stamp(warm_package):
    """The trap: old code in memory, new text on the disk."""
    warm_package.write_callee(factor=5)
    edit = f"Path({str(warm_package.code / 'callee.py')!r})"
    change = f"{edit}.write_text({edit}.read_text().replace('5.0', '7.0'))"
    assert warm_package.run(CHANGE=change) == {"value": 6.0, "hits": 0}
    assert warm_package.run() == {"value": 8.0, "hits": 0}


def test_two_kernels_of_one_name_do_not_share_a_cache(warm_package):
    """Their byte code is the same, and numba's key does not contain constants."""
    text = (warm_package.code / "caller.py").read_text()
    imports, _, caller = text.partition("@kernel\n")
    other = caller.replace("1.0", "5.0").replace("\n", "\n    ")
    both = f"import os\n{imports}@kernel\n{caller}\nif 'OTHER' in os.environ:\n    @kernel\n    {other}"
    warm_package.write("caller", both)
    assert warm_package.run() == {"value": 3.0, "hits": 0}
    assert warm_package.run(OTHER="1") == {"value": 7.0, "hits": 0}
    assert warm_package.run() == {"value": 3.0, "hits": 1}
    assert warm_package.run(OTHER="1") == {"value": 7.0, "hits": 1}


def test_a_damaged_file_of_facts_is_made_anew(warm_package):
    (memo,) = warm_package.folder.rglob("bayesgrove-sources*.json")
    first = memo.read_bytes()
    memo.write_text('{"a": 1}')
    assert warm_package.run() == {"value": 3.0, "hits": 1}
    assert memo.read_bytes() == first


def test_a_kernel_outside_the_package_is_watched_too(tmp_path):
    """numba's own key has the byte code of a function but not its constants."""
    package = TinyPackage(tmp_path, "house")
    (tmp_path / "elsewhere").mkdir()
    assert package.run(watched="elsewhere") == {"value": 3.0, "hits": 0}
    assert package.run(watched="elsewhere") == {"value": 3.0, "hits": 1}
    package.write_caller(step=7)
    assert package.run(watched="elsewhere") == {"value": 9.0, "hits": 0}
    package.write_callee(factor=5)
    assert package.run(watched="elsewhere") == {"value": 12.0, "hits": 0}


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

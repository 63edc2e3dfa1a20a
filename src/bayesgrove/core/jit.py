"""`@kernel`: numba's compiler with a disk cache that notices edits in every file a kernel depends on.

Numba stamps a cached kernel with the contents of the one file it stands in, so a kernel keeps using an old callee after
*another* file was edited. The stamp is therefore replaced by a hash of all modules that the kernel's module imports,
directly or indirectly (see `core.sources`), without docstrings and comments: an edit recompiles only what may depend
on it. Numba also names the files of its cache by the line on which a kernel starts; here the name of the kernel is
enough, so that a kernel that only moves within its file is found again.
"""

import functools
import logging
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba

from bayesgrove.core.additions import named_by_additions
from bayesgrove.core.callees import with_callee
from bayesgrove.core.sources import Sources

Function = TypeVar("Function", bound=Callable[..., Any])
PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
HOUSE_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}


@functools.cache
def sources(folder: Path) -> Sources:
    """Sources of the package in this folder, as they are when they are first read."""
    return Sources(folder)


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function with the house's settings: no GIL, numpy's error model, strict arithmetic, stamped cache.

    What is not said here numba takes from the kernel that happens to call this one first, and keeps: without an
    explicit `fastmath=False` a helper first compiled for a caller that excludes infinities mistreats them for all.
    Nobody calls kernels from C, so that no wrapper is made for it.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    options = {**HOUSE_OPTIONS, **options}
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no place to write a cache: a zip file, a read-only home
        dispatcher = numba.njit(**options)(function)
    else:
        dispatcher = stamped(dispatcher) or numba.njit(**options)(function)
    if numba.config.DISABLE_JIT or "inline" in options:  # type: ignore[attr-defined]
        return blind_to_constants(dispatcher)
    return blind_to_constants(with_callee(dispatcher))


def borrower(function: Function) -> Function:
    """A kernel that uses arrays it is given, allocates none and gives none back: references are not counted.

    Other kernels count each array among their arguments, members of NamedTuples too, up and down at each call, and
    atomically: a third of the time where helpers are small.
    """
    return kernel(_nrt=False)(function)


def blind_to_constants(dispatcher: Any) -> Any:
    """The dispatcher, compiled once for all values of a type: by itself numba makes a copy for each constant argument.

    It also makes one for the constant a variable starts with, which it has forgotten by the end of its inference: of
    CrossCat's kernels a fifth was compiled in vain.
    """
    choose = getattr(dispatcher, "get_call_template", None)
    if choose is not None:
        dispatcher.get_call_template = lambda args, kws: choose(
            tuple(without_value(kind) for kind in args), {name: without_value(kind) for name, kind in kws.items()}
        )
    return dispatcher


def without_value(kind: Any) -> Any:
    """Numba's type of a constant without its value."""
    return numba.types.unliteral(kind)  # type: ignore[no-untyped-call]


def stamped(dispatcher: Any) -> Any:
    """The dispatcher with its cache stamped by the sources it depends on; None where numba hides the stamp."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not all(hasattr(cache_file, name) for name in ("_source_stamp", "_load_index", "_save_index")):
        logging.getLogger("bayesgrove").warning("numba's cache cannot be stamped: kernels are not cached")
        return None
    own_stamp = cache_file._source_stamp
    prepare = functools.cache(lambda: prepare_cache(dispatcher.py_func, dispatcher._cache, own_stamp))
    cache_file._load_index = tolerant(after(prepare, named_by_additions(cache_file)))
    cache_file._save_index = after(prepare, cache_file._save_index)
    return dispatcher


def after(prepare: Callable[[], None], method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, called after `prepare`: sources are read when a kernel is first used, not when it is defined."""

    def call(*arguments: Any) -> Any:
        prepare()
        return method(*arguments)

    return call


def prepare_cache(function: Any, cache: Any, own_stamp: Any) -> None:
    """Set the stamp and the file names of a kernel's cache; two threads may do so at the same time."""
    path = Path(function.__code__.co_filename).resolve()
    package = sources(PACKAGE_FOLDER)
    stamp = package.stamp(function.__module__, path, Path(cache.cache_path))
    if stamp is None:
        logging.getLogger("bayesgrove").debug("%s is not cached: sources were edited", function.__qualname__)
        cache.disable()
        cache._cache_file._source_stamp = uuid.uuid4().hex
    elif path.is_relative_to(PACKAGE_FOLDER) and path.is_file():
        cache._cache_file._source_stamp = stamp
    else:  # a kernel of a test or a user, or of a zip file: numba's stamp of its own file stays
        cache._cache_file._source_stamp = (stamp, own_stamp)
    if not package.has_repeated(path, function.__qualname__):
        forget_line(cache._cache_file, function.__code__.co_firstlineno)


def forget_line(cache_file: Any, line: int) -> None:
    """Take the number of the kernel's first line out of the names of its cache files."""
    names = ("_index_name", "_index_path", "_data_name_pattern")
    if all(hasattr(cache_file, name) for name in names):
        for name in names:
            head, found, tail = getattr(cache_file, name).rpartition(f"-{line}.py")
            if found:
                setattr(cache_file, name, f"{head}.py{tail}")


def tolerant(load_index: Callable[[], Any]) -> Callable[[], Any]:
    """An index of the cache, empty where it cannot be read.

    Numba unpickles an index before it looks at the stamp: one of an older version of this package may name classes that
    have moved since, and would raise where it should only be stale.
    """

    def load() -> Any:
        try:
            return load_index()
        except Exception:
            return {}

    return load


def is_compiled(dispatcher: Any, *arguments: Any) -> bool:
    """Whether a kernel is ready for such arguments, in this process or on the disk; False where numba does not say."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return True
    try:
        signature = types_of(arguments)
        if signature in dispatcher.overloads:
            return True
        cache = dispatcher._cache
        key = cache._index_key(signature, dispatcher.targetctx.codegen())
        return key in cache._cache_file._load_index()
    except (AttributeError, OSError, ValueError):
        return False


def compile_for(dispatcher: Any, *arguments: Any) -> None:
    """Compile a kernel for such arguments without calling it, into the disk cache too."""
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        dispatcher.compile(types_of(arguments))


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba's types of arguments."""
    return tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]

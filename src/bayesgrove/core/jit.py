"""`@kernel`: numba's compiler with a disk cache that notices edits in any file of the package.

Numba stamps a cached kernel with the time of the one file it stands in, so a kernel goes on using an
old callee after *another* file was edited. The stamp is therefore replaced by a hash of all sources that the kernel
may use: imports go downwards only and families of models do not import each other (import-linter holds them to it), so
that an edit of an estimator or of another family compiles nothing anew.
"""

import functools
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba

from bayesgrove.core.callees import with_callee

Function = TypeVar("Function", bound=Callable[..., Any])
PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
BELOW_MODELS = ("agglomeration", "core", "inference", "io", "likelihoods", "stats", "trees")
"""Floors with kernels that all families of models share."""


def hash_sources(folder: Path) -> str:
    """Hash of the names and contents of all Python files below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def folders_used(path: Path) -> tuple[Path, ...]:
    """Folders whose code a kernel in this file of the package may call."""
    floor, *inner = path.relative_to(PACKAGE_FOLDER).parts[:-1] or ("",)
    below = tuple(PACKAGE_FOLDER / name for name in BELOW_MODELS)
    if floor == "models" and inner:
        return (*below, PACKAGE_FOLDER / "models" / inner[0])
    return below if floor in BELOW_MODELS else (PACKAGE_FOLDER,)


@functools.cache
def source_stamp(*folders: Path) -> str:
    """Hash of the sources in these folders, computed once per process."""
    return " ".join(hash_sources(folder) for folder in folders)


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
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True, **options}
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
    """The dispatcher with its cache stamped by the package's sources; None where numba hides the stamp."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        logging.getLogger("bayesgrove").warning("numba's cache cannot be stamped: kernels are not cached")
        return None
    cache_file._load_index = tolerant(cache_file._load_index)
    path = Path(dispatcher.py_func.__code__.co_filename).resolve()
    if path.is_relative_to(PACKAGE_FOLDER):
        cache_file._source_stamp = source_stamp(*folders_used(path))
    else:  # a kernel of a test or a user: it may call any of ours, and numba's stamp of its own file stays
        cache_file._source_stamp = (source_stamp(PACKAGE_FOLDER), cache_file._source_stamp)
    return dispatcher


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

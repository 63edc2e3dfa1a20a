"""Kernels as other kernels call them: optimised once, in the caller, and without machine code of their own.

By itself numba makes of every function that a kernel calls a whole program: a wrapper that unpacks Python's arguments,
optimised code and machine code, none of which the caller uses, for it links the code before and optimises it again. Of
the time a first fit takes that was a quarter, and looking for garbage among the compiler's many objects a twelfth.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

PARTS = (
    "_optimize_final_module",
    "_finalize_final_module",
    "_finalize_dynamic_globals",
    "_verify_declare_only_symbols",
)
"""What the code library of numba must have for this; a version without them compiles whole programs as ever."""


class CodeToLink(JITCodeLibrary):
    """Code that is only ever linked into that of callers, which optimise it and make machine code of it."""

    def _optimize_final_module(self) -> None:
        """Left to the caller."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No function has an address."""
        return 0

    @property
    def codegen(self) -> Any:
        """Who is asked to keep the environment of a function, here nobody."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Kernels never use Python's objects."""


class CalleeCompiler(CompilerBase):
    """Numba's compiler with a place for code to link."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes. The wrapper is declined here, so late that callees count as compiled like their callers."""
        self.state.flags.no_cpython_wrapper = True
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = CodeToLink(codegen, name)  # type: ignore[no-untyped-call]
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]  # type: ignore[no-untyped-call]


def can_link() -> bool:
    """Whether this version of numba lets code be made for linking only."""
    return all(hasattr(JITCodeLibrary, part) for part in PARTS)


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """No search for garbage while the block runs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def with_callee(dispatcher: Any) -> Any:
    """The dispatcher, which gives other kernels code to link instead of a whole program, unless that is there."""
    if not can_link():
        return dispatcher
    callee = numba.jit(pipeline_class=CalleeCompiler, **dispatcher.targetoptions)(dispatcher.py_func)
    whole_template, whole_overload = dispatcher.get_call_template, dispatcher.get_overload
    dispatcher.compile = without_garbage_collection()(dispatcher.compile)

    def get_call_template(args: Any, kws: Any) -> Any:
        is_there = tuple(dispatcher.fold_argument_types(args, kws)[1]) in dispatcher.overloads
        return whole_template(args, kws) if is_there else callee.get_call_template(args, kws)

    def get_overload(signature: Any) -> Any:
        return (callee.get_overload if tuple(signature) in callee.overloads else whole_overload)(signature)

    dispatcher.get_call_template, dispatcher.get_overload = get_call_template, get_overload
    return dispatcher

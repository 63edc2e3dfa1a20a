"""Late lookup of names on higher floors, for facade methods only."""

import importlib
from typing import Any


def lazy_import(name: str) -> Any:
    """The object called "module:attribute", imported at the moment of the call.

    Imports go downwards only, yet `tree.plot()` is what people look for on a tree, and drawing lives floors
    above it. Such a method is a signpost: it finds the real function when called and holds no logic, so the
    lower floor stays importable (and testable) without the upper one. Use it for nothing else.

    Examples
    --------
    >>> lazy_import("math:hypot")(3.0, 4.0)
    5.0
    """
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)

"""Functions that choose their body by an integer code, compiled or not.

In plain Python the choice is a look-up. Inside a kernel it is a chain of comparisons, as one would write it by hand;
numba has it written from the list of bodies when it compiles the first caller. Bodies that several codes share are
compared with once. A code without a body ends at what is said for unknown ones, never in another code's body.
"""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from numba.extending import overload

from bayesgrove.core.additions import ADDITIONS
from bayesgrove.core.callees import CalleeCompiler, can_link
from bayesgrove.core.jit import HOUSE_OPTIONS

Body = Callable[..., Any]


def coded(bodies: Callable[[], Mapping[int, Body]], unknown: str = "None", code: str = "family", **options: Any) -> Any:
    """Turn a documented, empty function into one that chooses its body by the argument `code`.

    Parameters
    ----------
    bodies : callable
        Gives the body of each code; they take all arguments but the code.
    unknown : str
        The expression that kernels get for a code without a body, such as "math.nan"; in plain Python it is an error.
    code : str
        Name of the argument that chooses.
    **options
        Of the compiler, as those of `@kernel`.

    Examples
    --------
    >>> AREAS = {3: lambda side: side**2, 5: lambda side: 3.14 * side**2}
    >>> @coded(lambda: AREAS, code="shape")
    ... def area(shape, side): "Area of a shape."
    >>> area(3, 2.0)
    4.0
    """

    def decorate(signature: Body) -> Body:
        names = tuple(inspect.signature(signature).parameters)
        place = names.index(code)

        @functools.wraps(signature)
        def dispatch(*arguments: Any) -> Any:
            chosen, rest = int(arguments[place]), arguments[:place] + arguments[place + 1 :]
            try:
                body = bodies()[chosen]
            except LookupError:
                raise KeyError(f"{signature.__name__} knows no {code} {chosen}") from None
            return body(*rest)

        settings: Any = {**HOUSE_OPTIONS, **({"pipeline_class": CalleeCompiler} if can_link() else {}), **options}

        @overload(dispatch, strict=False, jit_options=settings)
        def resolve(*arguments: Any) -> Any:
            ADDITIONS.close()
            return chain_of(signature.__name__, names, code, bodies(), unknown)

        return dispatch

    return decorate


def chain_of(name: str, arguments: tuple[str, ...], code: str, bodies: Mapping[int, Body], unknown: str) -> Body:
    """A function of plain comparisons that calls the body of the code it is given."""
    rest = ", ".join(argument for argument in arguments if argument != code)
    own: dict[Body, list[int]] = {}
    for number, body in bodies.items():
        own.setdefault(body, []).append(number)
    lines = [f"def {name}({', '.join(arguments)}):"]
    for place, codes in enumerate(own.values()):
        is_own = " or ".join(f"{code} == {number}" for number in codes)
        lines += [f"    if {is_own}:", f"        return body_{place}({rest})"]
    lines.append(f"    return {unknown}")
    known: dict[str, Any] = {"math": math} | {f"body_{place}": body for place, body in enumerate(own)}
    exec("\n".join(lines), known)
    found: Body = known[name]
    return found

"""Functions that choose their body by the type of their first argument, compiled or not.

The first argument is a NamedTuple (a prior, a scorer). In plain Python the choice is a dictionary look-up;
inside a kernel numba makes it while compiling, so it costs nothing and the disk cache understands it.
"""

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload


def generic(signature: Callable[..., Any]) -> Any:
    """Turn a documented, empty function into a generic one; give it bodies with `.register(Type)`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @generic
    ... def area(shape): "Area of a shape."
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @area.register(Square)
    ... def area_of_square(shape):
    ...     return shape.side**2
    >>> area(Square(3.0))
    9.0
    """
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(signature)
    def dispatch(first: Any, *rest: Any) -> Any:
        try:
            body = bodies[type(first)]
        except KeyError:
            raise TypeError(f"{signature.__name__} knows no {type(first).__name__}") from None
        return body(first, *rest)

    def register(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(body: Callable[..., Any]) -> Callable[..., Any]:
            bodies[kind] = body
            return body

        return keep

    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.bodies = bodies  # type: ignore[attr-defined]

    @overload(dispatch, strict=False)
    def resolve(first: Any, *rest: Any) -> Any:
        return bodies.get(getattr(first, "instance_class", None))  # type: ignore[arg-type]

    return dispatch

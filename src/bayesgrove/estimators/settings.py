"""Checks of constructor parameters, made by `fit` before any work is done."""

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from bayesgrove.core.errors import InvalidSettingError

Method = TypeVar("Method", bound=Callable[..., Any])


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidSettingError(f"{name} must be a whole number of at least {least}, got {value!r}.", setting=name)


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise InvalidSettingError(f"{name} must be one of {tuple(choices)}, got {value!r}.", setting=name)


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
        raise InvalidSettingError(f"{name} must be a positive number, got {value!r}.", setting=name)
    if isinstance(value, int) and value > sys.float_info.max:  # no float can hold it
        raise InvalidSettingError(f"{name} must be at most {sys.float_info.max:.2g}, got more.", setting=name)


def check_n_jobs(value: Any) -> None:
    """Refuse what is neither None nor a whole number other than 0 (negative ones count from all processors)."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value == 0):
        raise InvalidSettingError(f"n_jobs must be None or a whole number other than 0, got {value!r}. Try 1.")


def check_learnable(name: str, value: Any, *, may_learn: bool = True) -> None:
    """Refuse what is no positive, finite number, nor "auto" where it may be learned."""
    if isinstance(value, str) and value == "auto" and may_learn:
        return
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
        choices = "a positive number or 'auto'" if may_learn else "a positive number"
        raise InvalidSettingError(f"{name} must be {choices}, got {value!r}. Try 1.0.", setting=name)
    if value == np.inf:
        raise InvalidSettingError(f"{name} must be finite, got inf. Try 1.0.", setting=name)
    check_positive(name, value)


INSTEAD = {
    "sample_weight": "Repeat rows instead, np.repeat(X, counts, axis=0); TreeHMM and TreeHMMMixture take counts.",
    "must_link": "BHC and NRMMixture take constraints.",
    "cannot_link": "BHC and NRMMixture take constraints.",
}


def refuses_others(method: Method) -> Method:
    """A method of an estimator that refuses named arguments it does not have, by the name of the estimator's class."""
    known = inspect.signature(method).parameters

    @functools.wraps(method)
    def refusing(self: Any, *arguments: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                advice = INSTEAD.get(name, "Leave it out.")
                raise TypeError(f"{type(self).__name__}.{method.__name__} takes no {name}. {advice}")
        return method(self, *arguments, **named)

    return refusing  # type: ignore[return-value]

"""How columns are understood and the likelihood used, in lines that people can read: of a mixed table one each."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MOST_COLUMNS = 100
"""Of more columns the first are on the page; all of them are in `likelihood_`."""
MOST_NUMBERS = 30


def column_rows(columns: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Pairs of a column and how it is understood.

    Examples
    --------
    >>> about = {"name": "age", "kind": "measurement", "family": "gaussian", "reason": "whole numbers from 18 to 90"}
    >>> column_rows([{**about, "alternatives": "poisson -2.1", "close": True}])
    [['column age', 'measurement, gaussian: whole numbers from 18 to 90; close choice; in nats: poisson -2.1']]
    """
    rows = []
    for column in columns[:MOST_COLUMNS]:
        remarks = ["close choice"] if column["close"] else []
        remarks += [f"in nats: {column['alternatives']}"] if column["alternatives"] else []
        text = f"{column['kind']}, {column['family']}: {'; '.join([column['reason'], *remarks])}"
        rows.append([f"column {column['name']}", text])
    return rows


def likelihood_rows(used: Any, names: Sequence[str]) -> list[list[str]]:
    """Pairs of a name and a text.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Bernoulli, Columns, Poisson
    >>> likelihood_rows(Poisson(shape=1.0, rate=2 / 3), ["children"])
    [['likelihood used', 'Poisson(shape=1, rate=0.666667)']]
    >>> likelihood_rows(Columns([Poisson(1.0, 0.5), Bernoulli(0.5, 0.5)]), ["children", "smokes"])[1:]
    [['likelihood of children', 'Poisson(shape=1, rate=0.5)'], ['likelihood of smokes', 'Bernoulli(a=0.5, b=0.5)']]
    """
    parts = getattr(used, "likelihoods", None)
    if not isinstance(parts, Sequence) or len(parts) != len(names):
        return [["likelihood used", in_words(used)]]
    families = collections.Counter(type(part).__name__ for part in parts)
    rows = [["likelihood used", "Columns: " + ", ".join(f"{number} {name}" for name, number in families.items())]]
    shown = list(zip(names, parts, strict=True))[:MOST_COLUMNS]
    rows += [[f"likelihood of {name}", in_words(part)] for name, part in shown]
    left = len(names) - len(shown)
    return [*rows, ["and more", f"{left:,} columns are not listed here"]] if left else rows


def in_words(likelihood: Any) -> str:
    """The family and its numbers, in six digits."""
    if not dataclasses.is_dataclass(likelihood):
        return str(likelihood)
    fields = ((field.name, getattr(likelihood, field.name)) for field in dataclasses.fields(likelihood))
    return f"{type(likelihood).__name__}({', '.join(f'{name}={_value(value)}' for name, value in fields)})"


def _value(value: Any) -> str:
    if not isinstance(value, tuple | list | np.ndarray):
        return _number(value)
    numbers = np.ravel(np.asarray(value)).tolist()
    rest = f", … {len(numbers):,} numbers" if len(numbers) > MOST_NUMBERS else ""
    return f"({', '.join(map(_number, numbers[:MOST_NUMBERS]))}{rest})"


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)

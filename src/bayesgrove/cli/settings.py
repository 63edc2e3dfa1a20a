"""`--set key=value`: from words on the command line to an estimator's parameters."""

import json
from collections.abc import Sequence
from typing import Any

from bayesgrove.core.errors import InvalidSettingError

CONVERGED = "converged"
"""What `--until` can say."""


def parse_settings(texts: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Settings from `key=value` words; values are JSON scalars, anything else is text."""
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            example = "concentration=2" if option == "--set" else "max_children=32"
            raise InvalidSettingError(f"{option} takes key=value, got {text!r}. Example: {option} {example}.")
        if key.strip() in settings:
            raise InvalidSettingError(f"{option} {key.strip()} is given twice; give each key once.")
        settings[key.strip()] = parse_value(value.strip())
    return settings


def parse_columns(text: str | None, likelihood: str | None) -> Any:
    """`--columns name=family,...` as a mapping, else the likelihood."""
    if text is None:
        return likelihood
    if likelihood not in (None, "auto"):
        raise InvalidSettingError(f"--columns names families of some columns and --likelihood {likelihood} of all.")
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, family = (piece.strip() for piece in part.rpartition("="))
        if not equals or not name or not family:
            raise InvalidSettingError(
                f"--columns takes name=family,..., got {part!r}. Example: --columns age=gaussian."
            )
        if name in found:
            raise InvalidSettingError(f"--columns names {name} twice; give each column once.")
        found[name] = family
    return found


def parse_value(text: str) -> Any:
    """A JSON scalar (number, true, false, null), else the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, list | dict) else value


def build_model(model_class: Any, settings: dict[str, Any]) -> Any:
    """An estimator with these settings; unknown keys are refused with the list of the known ones."""
    from bayesgrove.sweeps.plan import like_default

    defaults = model_class().get_params(deep=False)
    for key in settings:
        if key not in defaults:
            raise InvalidSettingError(
                f"{model_class.__name__} has no setting {key!r}; it has {', '.join(sorted(defaults))}.",
                key=key,
            )
    return model_class(**{key: like_default(defaults[key], value) for key, value in settings.items()})


def length_settings(until: str | None, time_limit: float | None, draws: int | None = None) -> dict[str, Any]:
    """How long chains run: what `--until` and `--time-limit` stand for.

    Examples
    --------
    >>> length_settings("converged", None)
    {'n_draws': 'auto', 'time_limit': None}
    >>> length_settings(None, 60.0)
    {'time_limit': 60.0}
    """
    if until is None:
        return {} if time_limit is None else {"time_limit": time_limit}
    if until != CONVERGED:
        raise InvalidSettingError(f"--until must be {CONVERGED!r}, got {until!r}.")
    if draws is not None:
        raise InvalidSettingError("--draws fixes the length and --until does not; give one of them.")
    return {"n_draws": "auto", "time_limit": time_limit}

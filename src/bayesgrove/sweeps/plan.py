"""What a sweep is made of: every setting with every repeat, named so that a finished one is known again."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bayesgrove.core.errors import InvalidSettingError

MOST_FITS = 100_000
OWN = ("random_state", "n_jobs", "run_dir", "resume", "verbose")
"""Parameters a sweep sets itself."""


class Fit(NamedTuple):
    """One fit: its settings, which repeat it is and with which seed, and a name made of all three."""

    settings: dict[str, Any]
    repeat: int
    seed: int
    key: str


def expand_grid(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every combination of a grid's values, the last key changing fastest; a list of settings as it is.

    Examples
    --------
    >>> expand_grid({"C": [0.1, 1.0], "depth": [2]})
    [{'C': 0.1, 'depth': 2}, {'C': 1.0, 'depth': 2}]
    """
    if not isinstance(grid, Mapping):
        listed = [dict(settings) for settings in grid]
        if not listed:
            raise InvalidSettingError("a sweep needs at least one setting, got an empty list.")
        return listed
    for key, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InvalidSettingError(f"a grid has a list of values for each key, {key} has {values!r}.", key=key)
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def plan_fits(settings: Sequence[Mapping[str, Any]], n_repeats: int, seed: int) -> list[Fit]:
    """All fits of a sweep; repeat r has the seed `seed + r` under every setting, so that these are compared alike."""
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, int) or n_repeats < 1:
        raise InvalidSettingError(f"n_repeats must be a whole number of at least 1, got {n_repeats!r}.")
    if len(settings) * n_repeats > MOST_FITS:
        raise InvalidSettingError(
            f"a sweep has at most {MOST_FITS:,} fits, got {len(settings):,} settings x {n_repeats:,} repeats. "
            "Make several sweeps of it."
        )
    fits = [
        Fit(dict(chosen), repeat, seed + repeat, fit_key(chosen, seed + repeat))
        for chosen in settings
        for repeat in range(n_repeats)
    ]
    if len({fit.key for fit in fits}) < len(fits):
        raise InvalidSettingError("two settings of a sweep are equal; give each once and use n_repeats.")
    return fits


def fit_key(settings: Mapping[str, Any], seed: int) -> str:
    """A short name of settings and seed, the same in every process."""
    text = json.dumps({"settings": settings, "seed": seed}, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def check_settings(estimator: Any, settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Settings the estimator has, whole numbers as floats where it has floats; others are refused by their names."""
    defaults = estimator.get_params(deep=False)
    for key in itertools.chain.from_iterable(settings):
        if key in OWN:
            raise InvalidSettingError(f"{key} is set by the sweep itself; take it out of the settings.", key=key)
        if key not in defaults:
            known = ", ".join(sorted(set(defaults) - set(OWN)))
            raise InvalidSettingError(f"{type(estimator).__name__} has no setting {key!r}; it has {known}.", key=key)
    return [{key: like_default(defaults[key], value) for key, value in chosen.items()} for chosen in settings]


def like_default(default: Any, value: Any) -> Any:
    """Whole numbers become floats where the default is one; other values are the estimator's to check."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and isinstance(default, float) else value

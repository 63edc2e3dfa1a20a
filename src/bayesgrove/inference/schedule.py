"""A schedule: which moves a chain makes, how often, in which phases. It is data, stored with the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bayesgrove.core.errors import InvalidSettingError

TUNE, DRAW = "tune", "draw"
Move = TypeVar("Move")


@dataclass(frozen=True)
class Step:
    """One line of a sweep: a move by its name, how many times in a row, and its settings in JSON's types."""

    move: str
    times: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


def chosen_move(moves: Mapping[str, Move], step: Step) -> Move:
    """The move a step names, of those a sampler has."""
    try:
        return moves[step.move]
    except KeyError:
        raise InvalidSettingError(f"a move is one of {', '.join(moves)}, got {step.move!r}.") from None


@dataclass(frozen=True)
class Schedule:
    """The moves of one sweep, before the first stored draw and from then on.

    Attributes
    ----------
    tune, draw : tuple of Step
        Sweeps of burn-in may use other moves than those that draws are taken from.
    n_tune : int
        Sweeps of burn-in.
    thin : int
        Sweeps per stored draw.
    refresh : int
        After every so many sweeps (counted from the first) the state is rebuilt from what is stored of it, so
        that a resumed chain goes on with the same bits and rounding errors do not pile up.

    Examples
    --------
    >>> schedule = Schedule(tune=(Step("gibbs"),), draw=(Step("gibbs"), Step("split-merge", 3)), n_tune=10)
    >>> Schedule.from_json(schedule.to_json()) == schedule
    True
    """

    tune: tuple[Step, ...]
    draw: tuple[Step, ...]
    n_tune: int
    thin: int = 1
    refresh: int = 10

    def __post_init__(self) -> None:
        for name, least in (("n_tune", 0), ("thin", 1), ("refresh", 1)):
            if getattr(self, name) < least:
                raise InvalidSettingError(f"{name} must be at least {least}, got {getattr(self, name)}.")

    def steps(self, sweep: int) -> tuple[Step, ...]:
        """The moves of a sweep, counted from 0."""
        return self.tune if sweep < self.n_tune else self.draw

    def to_json(self) -> dict[str, Any]:
        """JSON's types only."""
        return {
            **{name: [_step_to_json(step) for step in getattr(self, name)] for name in (TUNE, DRAW)},
            "n_tune": self.n_tune,
            "thin": self.thin,
            "refresh": self.refresh,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Schedule":
        """What `to_json` gave."""
        steps = {name: tuple(Step(*line) for line in document[name]) for name in (TUNE, DRAW)}
        return cls(**steps, n_tune=document["n_tune"], thin=document["thin"], refresh=document["refresh"])


def _step_to_json(step: Step) -> list[Any]:
    return [step.move, step.times, dict(step.options)]

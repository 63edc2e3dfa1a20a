"""Which moves a sweep of a nested hierarchy makes (section 4)."""

from typing import Any

from bayesgrove.inference.schedule import Schedule, Step

PATHS = ("gibbs", "mh")


def default_steps(
    *, path: str = "gibbs", regraft: bool = True, penalty: bool = False, n_discriminant: int = 1
) -> tuple[Step, ...]:
    """The moves of one sweep; without penalty Gibbs sweeps are one compiled call."""
    if path == "gibbs" and not penalty:
        return (Step("sweep", 1, {"regraft": regraft}),)
    steps = [Step("paths", 1, {"path": path})]
    if penalty:
        steps.append(Step("discriminants", n_discriminant))
    return (*steps, Step("weights", 1, {"regraft": regraft}), Step("means"))


def default_schedule(n_tune: int, *, thin: int = 1, refresh: int = 20, **options: Any) -> Schedule:
    """The same moves in burn-in and afterwards."""
    steps = default_steps(**options)
    return Schedule(steps, steps, n_tune, thin, refresh)

"""Which moves a sweep of a nested hierarchy makes (docs/theory/nested-hierarchies.md, Sweep)."""

from typing import Any

from bayesgrove.inference.schedule import Schedule, Step

PATHS = ("gibbs", "mh")


def default_steps(
    *,
    path: str = "gibbs",
    regraft: bool = True,
    split_merge: bool = False,
    penalty: bool = False,
    discriminants: str = "slice",
    n_discriminants: int = 1,
) -> tuple[Step, ...]:
    """The moves of one sweep; Gibbs sweeps are one compiled call where they can be.

    `discriminants` is their move: "slice", "augmented" or "gibbs".
    """
    last = (Step("split-merge"),) if split_merge else ()
    if path == "gibbs" and (not penalty or (regraft and discriminants == "slice")):
        return (Step("sweep", 1, {"regraft": regraft} | ({"n_slices": n_discriminants} if penalty else {})), *last)
    steps = [Step("paths", 1, {"path": path})]
    if penalty:
        steps.append(Step("discriminants", n_discriminants, {"update": discriminants}))
    return (*steps, Step("weights", 1, {"regraft": regraft}), Step("means"), *last)


def paper_steps(*, penalty: bool = False, paper_prior_precision: str = "1/nu0^2") -> tuple[Step, ...]:
    """The sampler of the paper, which does not leave its target invariant where C > 0."""
    steps = [Step("paths", 1, {"path": "mh", "own_only": True})]
    if penalty:
        options = {"update": "printed", "paper_prior_precision": paper_prior_precision}
        steps.append(Step("discriminants", 1, options))
    return (*steps, Step("weights", 1, {"regraft": False}), Step("means"))


def default_schedule(
    n_tune: int, *, sampler: str = "exact", thin: int = 1, refresh: int = 20, **options: Any
) -> Schedule:
    """The same moves in burn-in and afterwards; `sampler` is "exact" or "paper"."""
    steps = paper_steps(**options) if sampler == "paper" else default_steps(**options)
    return Schedule(steps, steps, n_tune, thin, refresh)

"""Which moves a sweep of CrossCat makes (docs/theory/cross-clustering.md, Sweep)."""

from typing import Any

from bayesgrove.inference.schedule import Schedule, Step


def default_steps(
    *,
    n_chains: int = 1,
    new_view: str = "sequential",
    n_proposals: int = 1,
    new_view_share: float = 0.25,
    number_share: float = 0.3,
    split_merge: int = 20,
    view_share: float = 0.2,
) -> tuple[Step, ...]:
    """The moves of one sweep; with coupled chains a swap ends it."""
    columns = {"new_view": new_view, "n_proposals": n_proposals, "share": new_view_share}
    steps = [Step("columns", 1, columns)]
    if view_share > 0.0:
        steps.append(Step("views", 1, {"share": view_share}))
    if split_merge > 0:
        steps.append(Step("split-merge", split_merge))
    steps += [Step("rows"), Step("numbers", 1, {"share": number_share}), Step("concentrations")]
    if n_chains > 1:
        steps.append(Step("swap"))
    return tuple(steps)


def default_schedule(n_tune: int, *, n_chains: int = 1, thin: int = 1, refresh: int = 10, **options: Any) -> Schedule:
    """Burn-in merges and divides views more often than the sweeps that draws are taken from."""
    tune = default_steps(n_chains=n_chains, **{**options, "view_share": 1.0})
    return Schedule(tune, default_steps(n_chains=n_chains, **options), n_tune, thin, refresh)

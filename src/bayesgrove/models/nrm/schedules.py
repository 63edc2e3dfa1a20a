"""Which moves each named sampler makes."""

from collections.abc import Callable
from typing import Any

from bayesgrove.inference.schedule import Schedule, Step

MOST_GIBBS_POINTS = 50_000
"""Of a larger table a sweep moves a uniform subset of this size: the number never depends on the state."""
NUMBERS = (Step("process"), Step("likelihood", 3))


def tree_guided(n_rows: int, n_global: int, n_local: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Anchors-first moves led by the guide tree, Gibbs sweeps, a local move; half the anchors are uniform pairs."""
    anchors = Step("anchors", n_global, {"laws": ["uniform", "tree"]})
    half = Step("gibbs", 1, {"n_points": min(MOST_GIBBS_POINTS, -(-n_rows // 2))})
    tune = (anchors, half, *NUMBERS)
    clusters = Step("anchors", 2, {"laws": ["cluster"]})
    local = Step("local", 1, {"depth": n_local, "most": 1_000})
    return tune, (anchors, clusters, whole(n_rows), local, *NUMBERS)


def split_merge(n_rows: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """One move of Jain and Neal and a Gibbs sweep."""
    steps = (Step("anchors", 1, {"laws": ["jain-neal"]}), whole(n_rows), *NUMBERS)
    return steps, steps


def gibbs(n_rows: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Gibbs sweeps only."""
    steps = (whole(n_rows), *NUMBERS)
    return steps, steps


def whole(n_rows: int) -> Step:
    """A Gibbs sweep over all rows, or a subset of many."""
    return Step("gibbs", 1, {"n_points": min(MOST_GIBBS_POINTS, n_rows)})


def paper(variant: str, n_global: int, n_local: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The published sampler: global moves, one local move, the numbers of the process."""
    steps = (Step("paper", 1, {"n_global": n_global, "depth": n_local, "variant": variant}), Step("process"))
    return steps, steps


SAMPLERS: dict[str, Callable[..., tuple[tuple[Step, ...], tuple[Step, ...]]]] = {
    "tree-guided": tree_guided,
    "split-merge": split_merge,
    "gibbs": gibbs,
}
WITH_TREES = ("tree-guided", "paper")
"""Samplers with global and local moves."""


def schedule_of(sampler: str, n_rows: int, *, n_global: int = 10, n_local: int = 2, **numbers: Any) -> Schedule:
    """The schedule of a named sampler, of "paper" with its variant; `numbers` are those of `Schedule`.

    `n_global` moves of a sweep split or merge; the local one draws a node `n_local` times, each time below the last.
    """
    name, _, variant = sampler.partition(":")
    moves = (n_global, n_local) if name in WITH_TREES else ()
    tune, draw = paper(variant, *moves) if name == "paper" else SAMPLERS[name](n_rows, *moves)
    return Schedule(tune=tune, draw=draw, **numbers)

"""Which moves each named sampler makes."""

from typing import Any

from bayesgrove.inference.schedule import Schedule, Step

MOST_GIBBS_POINTS = 50_000
"""Of a larger table a sweep moves a uniform subset of this size: the number never depends on the state."""
NUMBERS = (Step("process"), Step("likelihood", 3))


def tree_guided(n_rows: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Anchors-first moves led by the guide tree, Gibbs sweeps, a local move; half the anchors are uniform pairs."""
    anchors = Step("anchors", 10, {"laws": ["uniform", "tree"]})
    half = Step("gibbs", 1, {"n_points": min(MOST_GIBBS_POINTS, -(-n_rows // 2))})
    tune = (anchors, half, *NUMBERS)
    clusters = Step("anchors", 2, {"laws": ["cluster"]})
    local = Step("local", 1, {"depth": 2, "most": 1_000})
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


def paper(variant: str) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The published sampler: 10 global moves, one local move, the numbers of the process."""
    steps = (Step("paper", 1, {"n_global": 10, "depth": 2, "variant": variant}), Step("process"))
    return steps, steps


SAMPLERS = {"tree-guided": tree_guided, "split-merge": split_merge, "gibbs": gibbs}


def schedule_of(sampler: str, n_rows: int, **numbers: Any) -> Schedule:
    """The schedule of a named sampler, of "paper" with its variant; `numbers` are those of `Schedule`."""
    name, _, variant = sampler.partition(":")
    tune, draw = paper(variant) if name == "paper" else SAMPLERS[name](n_rows)
    return Schedule(tune=tune, draw=draw, **numbers)

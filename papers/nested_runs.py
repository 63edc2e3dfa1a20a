"""Chains of `BHMC` and `RBHMC` on one table, and numbers of their draws chain by chain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.estimators.bhmc import BHMC
from bayesgrove.estimators.rbhmc import RBHMC
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.stats.partitions import relabel
from bayesgrove.stats.paths import best_f_measure, inner_distances, path_nodes, sibling_distances
from papers.nested_cases import Case

PLAIN = ""
SAMPLERS = ("exact", "paper")
COUNTS = ("nodes", "level_1", "leaves", "largest", "aid", "aod")
"""Nodes that have siblings, children of the root, leaves, share of the largest child of the root, AID, AOD."""
LEAST_MATCHES = 5
"""Fewer draws of the pool with so many nodes say too little."""
CLEAR = 2.26
"""Standard errors that make a difference clear: 95 % of Student's law for ten chains."""

Scores = Mapping[str, np.ndarray]
"""By name: COUNTS and f1, f2, ... by level, each (chain, draw)."""


class Method(NamedTuple):
    """A model: its penalty ("" for BHMC), its sampler, strength and margin, and a factor of alpha."""

    penalty: str = PLAIN
    sampler: str = "exact"
    C: float = 0.0
    margin: float = 1.0
    alpha_factor: float = 1.0

    @property
    def words(self) -> str:
        """For tables and pictures."""
        if self.penalty == PLAIN:
            return "BHMC"
        printed = ", printed sampler" if self.sampler == "paper" else ""
        return f"{self.penalty} ({self.C:g}, {self.margin:g}){printed}"

    def columns(self) -> dict[str, Any]:
        """The first columns of a table."""
        if self.penalty == PLAIN:
            return {"penalty": "none", "sampler": self.sampler, "alpha_factor": self.alpha_factor}
        return {"penalty": self.penalty, "sampler": self.sampler, "C": self.C, "margin": self.margin}


VARIANCES = {"component_variance": 1.0, "base_variance": 1.0}
"""The paper's."""


class Length(NamedTuple):
    """Of a run: chains, sweeps of burn-in, draws kept of each chain, sweeps per draw."""

    n_chains: int
    n_tune: int
    n_draws: int
    thin: int


def fit(case: Case, method: Method, length: Length, seed: int) -> Any:
    """The fitted model; its tree is the draw of the largest (regularised) likelihood, as in the paper."""
    alpha = case.settings["alpha"] * method.alpha_factor
    common = {**VARIANCES, **case.settings, "alpha": alpha, **length._asdict(), "select": "best", "random_state": seed}
    if method.penalty == PLAIN:
        return BHMC(sampler=method.sampler, **common).fit(case.X)
    scale = "rms" if method.penalty.startswith("chance") else None
    options: dict[str, Any] = {"C": method.C, "margin": method.margin, "penalty": method.penalty, "margin_scale": scale}
    return RBHMC(sampler=method.sampler, **options, **common).fit(case.X)


def score_tree(rows: np.ndarray, classes: np.ndarray, levels: np.ndarray) -> list[float]:
    """COUNTS and the F-measure of each level of one tree; `classes` are numbers from 0 on."""
    nodes = path_nodes(levels)
    is_shown, first = nodes.has_sibling, nodes.size[nodes.level == 1]
    inner = inner_distances(rows, nodes)[is_shown & (nodes.size > 1)]
    outer = sibling_distances(rows, nodes)
    counts = [is_shown.sum(), first.size, (nodes.level == levels.shape[1]).sum(), first.max() / len(rows)]
    distances = [inner.mean() if inner.size else np.nan, outer.mean() if outer.size else np.nan]
    f = [best_f_measure(own - own.min(), classes) for own in nodes.node.T]
    return [float(number) for number in (*counts, *distances, *f)]


def score_names(depth: int) -> tuple[str, ...]:
    """Names of what `score_tree` gives."""
    return (*COUNTS, *level_names(depth))


def level_names(depth: int) -> list[str]:
    """f1, f2, ..."""
    return [f"f{level}" for level in range(1, depth + 1)]


def score_draws(case: Case, paths: np.ndarray) -> Scores:
    """Scores of draws of shape (chain, draw, row, level)."""
    classes = relabel(case.classes)
    found = np.array([[score_tree(case.X, classes, levels) for levels in chain] for chain in paths])
    return {name: found[:, :, place] for place, name in enumerate(score_names(paths.shape[3]))}


def best_scores(case: Case, posterior: PathPosterior) -> Scores:
    """Scores of the draw of the largest (regularised) likelihood of each chain: (chain, 1)."""
    scalars = posterior.scalars
    best = np.argmax(scalars["rcdl" if "rcdl" in scalars else "cdl"], axis=1)
    return score_draws(case, posterior.paths[np.arange(best.size), best][:, None])


# Over chains


def chain_means(values: np.ndarray) -> np.ndarray:
    """Mean over the draws of each chain that have the number; nan for a chain without any."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def mean_and_spread(per_chain: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation over chains; nan where there are none, or one."""
    known = per_chain[np.isfinite(per_chain)]
    return float(known.mean()) if known.size else np.nan, float(known.std(ddof=1)) if known.size > 1 else np.nan


def mean_and_error(per_chain: np.ndarray) -> tuple[float, float]:
    """Mean over chains and its standard error."""
    mean, spread = mean_and_spread(per_chain)
    return mean, spread / np.sqrt(max(int(np.isfinite(per_chain).sum()), 1))


def clear_sign(mean: float, error: float) -> int:
    """-1 or 1 where a mean is clearly below or above 0, else 0, also where nothing is known.

    Examples
    --------
    >>> clear_sign(3.0, 1.0), clear_sign(-3.0, 1.0), clear_sign(2.0, 1.0), clear_sign(2.0, float("nan"))
    (1, -1, 0, 0)
    """
    return int(np.sign(mean)) if abs(mean) > CLEAR * error else 0


def apart(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Difference of the means of two groups of chains, and its standard error."""
    (mean, error), (other, other_error) = mean_and_error(first), mean_and_error(second)
    return mean - other, float(np.hypot(error, other_error))


def pool_means(pools: Iterable[Scores]) -> dict[str, np.ndarray]:
    """Mean of each score over all draws with 0, 1, 2, ... nodes; nan where there are few."""
    drawn = list(pools)
    nodes = np.concatenate([pool["nodes"].ravel() for pool in drawn]).astype(int)
    found = {}
    for name in drawn[0]:
        values = np.concatenate([pool[name].ravel() for pool in drawn])
        known = np.isfinite(values)
        count = np.bincount(nodes[known], minlength=nodes.max() + 1)
        total = np.bincount(nodes[known], values[known], minlength=nodes.max() + 1)
        found[name] = np.where(count >= LEAST_MATCHES, total / np.maximum(count, 1), np.nan)
    return found


def matched(scores: Scores, pool: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Difference of each draw from the mean of the pool's draws with as many nodes, as means over chains."""
    nodes, means = scores["nodes"].astype(int), pool[name]
    reference = np.where(nodes < means.size, means[np.minimum(nodes, means.size - 1)], np.nan)
    return chain_means(scores[name] - reference)


def matched_share(scores: Scores, pool: Mapping[str, np.ndarray]) -> float:
    """Share of the draws whose number of nodes the pool has."""
    nodes, means = scores["nodes"].astype(int), pool["nodes"]
    return float(np.mean((nodes < means.size) & np.isfinite(means[np.minimum(nodes, means.size - 1)])))


# Rows of tables


def score_row(method: Method, scores: Scores, names: Sequence[str]) -> dict[str, Any]:
    """Means over draws and chains; of distances and F-measures also the spread over chains."""
    row = method.columns()
    for name in names:
        mean, spread = mean_and_spread(chain_means(scores[name]))
        row[name] = none_if_unknown(mean)
        if name not in COUNTS[:4]:
            row[f"{name}_sd"] = none_if_unknown(spread)
    return row


def matched_row(method: Method, scores: Scores, pool: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Differences from BHMC at equal numbers of nodes with their standard errors over chains."""
    row = {**method.columns(), "share_matched": matched_share(scores, pool)}
    for name in ("aid", "aod", *(name for name in scores if name not in COUNTS)):
        mean, error = mean_and_error(matched(scores, pool, name))
        row |= {f"d_{name}": none_if_unknown(mean), f"d_{name}_se": none_if_unknown(error)}
    return row


def none_if_unknown(value: float) -> float | None:
    """JSON has no nan."""
    return float(value) if np.isfinite(value) else None

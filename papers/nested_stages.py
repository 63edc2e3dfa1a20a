"""Stages of the nested experiments: a pool of BHMC, traces, a grid of settings, case trees; tables and pictures."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.inference.result import Result
from bayesgrove.plot import level_scores, level_tree, score_traces, sensitivity
from papers.nested_cases import Case
from papers.nested_claims import grid_of, later_half
from papers.nested_runs import (
    COUNTS,
    SAMPLERS,
    Length,
    Method,
    Scores,
    best_scores,
    chain_means,
    fit,
    level_names,
    matched_row,
    mean_and_spread,
    none_if_unknown,
    pool_means,
    score_draws,
    score_names,
    score_row,
)
from papers.outcome import Row, Tell

POOL_FACTORS = (0.01, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0)
"""Of alpha: BHMC with fewer and with more nodes."""
TRACED = (0.01, 1.0)
CHANCE_DEFAULT = Method("chance", "exact", 0.03, 0.2)
"""The setting we recommend."""
PICTURED = ("aid", "aod", "f1")


class Plan(NamedTuple):
    """What is run and for how long."""

    strengths: Sequence[float]
    margins: Sequence[float]
    chance_strengths: Sequence[float]
    chance_margins: Sequence[float]
    pool: Length
    traces: Length
    grid: Length
    chance: Length
    cases: Length


class Pool(NamedTuple):
    """BHMC at several alphas."""

    base: Scores
    """At the paper's alpha."""
    means: Mapping[str, np.ndarray]
    """Of all draws of all alphas by their number of nodes."""
    rows: list[Row]


class CaseFit(NamedTuple):
    """A long run, without its chains, which are large."""

    result: Result
    levels: np.ndarray
    """Of the tree shown, (row, level)."""
    cdl: float
    """Of the same."""
    draws: Scores
    best: Scores
    """Of the best draw of each chain."""


class Study(NamedTuple):
    """All that was found of a table."""

    pool: Pool
    traces: Mapping[Method, Result]
    grid: Mapping[Method, Scores]
    cases: Mapping[Method, CaseFit]
    tables: Mapping[str, Sequence[Row]]
    figures: Mapping[str, Callable[..., Any]]


def study(case: Case, plan: Plan, methods: Sequence[Method], seed: int, tell: Tell) -> Study:
    """All stages; `methods` are those whose case trees are shown."""
    pool = fit_pool(case, plan.pool, seed, tell)
    traces = fit_traces(case, plan.traces, seed, tell)
    grid = fit_grid(case, plan, seed, tell)
    cases = fit_cases(case, methods, plan.cases, seed, tell)
    tables = {
        "traces": trace_rows(traces),
        **grid_tables(case, grid, pool),
        "case trees": case_rows(case, cases),
        "levels": level_rows(cases),
    }
    return Study(pool, traces, grid, cases, tables, pictures(case, pool, grid, traces, cases))


def fit_pool(case: Case, length: Length, seed: int, tell: Tell) -> Pool:
    """BHMC at all alphas of the pool."""
    found = {}
    for factor in POOL_FACTORS:
        tell(f"{case.name}: BHMC, alpha x {factor:g}")
        method = Method(alpha_factor=factor)
        found[method] = score_draws(case, fit(case, method, length, seed).posterior_.paths)
    names = score_names(case.settings["depth"])
    rows: list[Row] = [{"data": case.name, **score_row(method, scores, names)} for method, scores in found.items()]
    return Pool(found[Method()], pool_means(found.values()), rows)


def fit_traces(case: Case, length: Length, seed: int, tell: Tell) -> dict[Method, Result]:
    """Chains from their start on, weak and strong penalty, both samplers."""
    found = {}
    for sampler in SAMPLERS:
        for strength in TRACED:
            method = Method("max", sampler, strength, 1.0)
            tell(f"{case.name}: from the start, {method.words}")
            found[method] = fit(case, method, length, seed).result_
    return found


def grid_methods(plan: Plan) -> list[Method]:
    """The paper's penalty with both samplers, then the chance-normalised one, which the printed sampler has not."""
    published = [Method("max", s, c, m) for s in SAMPLERS for c in plan.strengths for m in plan.margins]
    return published + [Method("chance", "exact", c, m) for c in plan.chance_strengths for m in plan.chance_margins]


def fit_grid(case: Case, plan: Plan, seed: int, tell: Tell) -> dict[Method, Scores]:
    """Scores of all settings."""
    found = {}
    for method in grid_methods(plan):
        tell(f"{case.name}: grid, {method.words}")
        length = plan.chance if method.penalty == "chance" else plan.grid
        found[method] = score_draws(case, fit(case, method, length, seed).posterior_.paths)
    return found


def part_of(grid: Mapping[Method, Scores], penalty: str, sampler: str) -> dict[Method, Scores]:
    """The settings of one penalty and sampler."""
    return {method: scores for method, scores in grid.items() if (method.penalty, method.sampler) == (penalty, sampler)}


def fit_cases(case: Case, methods: Sequence[Method], length: Length, seed: int, tell: Tell) -> dict[Method, CaseFit]:
    """Long runs whose best trees are shown."""
    found = {}
    for method in methods:
        tell(f"{case.name}: case tree, {method.words}")
        model = fit(case, method, length, seed)
        draws, best = score_draws(case, model.posterior_.paths), best_scores(case, model.posterior_)
        found[method] = CaseFit(model.result_, model.level_labels_, model.scores_["cdl"], draws, best)
    return found


# Tables


def grid_tables(case: Case, grid: Mapping[Method, Scores], pool: Pool) -> dict[str, list[Row]]:
    """Scores of all settings, and differences from BHMC at equal numbers of nodes."""
    names = score_names(case.settings["depth"])
    return {
        "bhmc": pool.rows,
        "settings": [{"data": case.name, **score_row(method, scores, names)} for method, scores in grid.items()],
        "matched": [{"data": case.name, **matched_row(m, scores, pool.means)} for m, scores in grid.items()],
    }


def likelihoods_of(result: Result) -> dict[str, np.ndarray]:
    """CDL and RCDL of all draws, (chain, draw)."""
    scalars: Any = result.posterior.scalars if result.posterior is not None else {}
    return {name: scalars[name] for name in ("cdl", "rcdl")}


def trace_rows(traces: Mapping[Method, Result]) -> list[Row]:
    """Level and fluctuation of the likelihoods in the second half of the chains."""
    rows: list[Row] = []
    for method, result in traces.items():
        row = method.columns()
        for name, trace in likelihoods_of(result).items():
            half = later_half(trace)
            mean, spread = mean_and_spread(half.mean(axis=1))
            row |= {f"{name}_first": float(trace[:, 0].mean()), name: mean}
            row |= {f"{name}_sd_of_chains": spread, f"{name}_sd_along": float(half.std(axis=1).mean())}
        rows.append(row)
    return rows


def level_rows(cases: Mapping[Method, CaseFit]) -> list[Row]:
    """F by level: of the best tree of each chain, and of all draws."""
    rows: list[Row] = []
    for method, found in cases.items():
        for name in (name for name in found.draws if name not in COUNTS):
            (best, best_sd), (drawn, drawn_sd) = (
                mean_and_spread(chain_means(scores[name])) for scores in (found.best, found.draws)
            )
            row = {"model": method.words, "level": int(name[1:]), "f_best": best, "f_best_sd": none_if_unknown(best_sd)}
            rows.append({**row, "f_draws": drawn, "f_draws_sd": none_if_unknown(drawn_sd)})
    return rows


def case_rows(case: Case, cases: Mapping[Method, CaseFit]) -> list[Row]:
    """The tree shown of each model: that of the best draw of all chains."""
    rows: list[Row] = []
    for method, found in cases.items():
        scores = score_draws(case, found.levels[None, None])
        numbers = {name: none_if_unknown(float(values[0, 0])) for name, values in scores.items()}
        rows.append({"model": method.words, "cdl": found.cdl, **numbers})
    return rows


# Pictures


def pictures(
    case: Case,
    pool: Pool,
    grid: Mapping[Method, Scores],
    traces: Mapping[Method, Result],
    cases: Mapping[Method, CaseFit],
) -> dict[str, Callable[..., Any]]:
    """Functions of axes by the name of their file."""
    found: dict[str, Callable[..., Any]] = {}
    for penalty, sampler in dict.fromkeys((method.penalty, method.sampler) for method in grid):
        found |= maps_of(part_of(grid, penalty, sampler), pool.base, f"{penalty}, {sampler} sampler")
    for method, result in traces.items():
        found[f"traces {method.words}"] = partial(score_traces, result, title=method.words)
    f = {method.words: np.column_stack([own.best[n][:, 0] for n in level_names(case.settings["depth"])])
         for method, own in cases.items()}  # fmt: skip
    found["levels"] = partial(level_scores, f, title="best trees of the chains")
    for method, own in cases.items():
        shown: dict[str, Any] = {"leaf_labels": case.names, "images": case.images, "title": method.words}
        found[f"tree {method.words}"] = partial(level_tree, own.result, **shown)
    return found


def maps_of(grid: Mapping[Method, Scores], base: Scores, title: str) -> dict[str, Callable[..., Any]]:
    """Heat maps over strength and margin of one penalty and sampler."""
    strengths, margins = (sorted({getattr(method, key) for method in grid}) for key in ("C", "margin"))
    found: dict[str, Callable[..., Any]] = {}
    for name in PICTURED:
        middle = mean_and_spread(chain_means(base[name]))[0]
        values = grid_of(grid, name)
        options: dict[str, Any] = {"name": name.upper(), "reference": middle, "title": title}
        found[f"{name} {title}"] = partial(sensitivity, values, strengths, margins, **options)
    return found

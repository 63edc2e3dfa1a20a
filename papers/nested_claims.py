"""Verdicts on what Huang et al. say of RBHMC, and on what we say of the chance-normalised penalty.

The paper prints no numbers, so a claim is a direction. It holds, or fails, where the direction is clear over chains
(`nested_runs.CLEAR`); in between it is undecided.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from papers.nested_runs import (
    COUNTS,
    Method,
    Scores,
    apart,
    chain_means,
    clear_sign,
    matched,
    mean_and_error,
)
from papers.outcome import Claim, sign_test

SEVERAL, FAR_MORE, NEARLY_A_LINE, HALF, UNLIKELY = 2, 2.0, 0.9, 0.5, 0.05
MOST_MORE = 1.5
"""A tree with so many times the leaves of another is larger."""
LEAST_STEPS = 4
"""Of two steps, one always makes half of the whole."""
WHO = {"exact": "exact sampler", "paper": "printed sampler"}
Grid = Mapping[Method, Scores]


def of_sampler(sampler: str, claim: str) -> str:
    """A claim, and the sampler it is tried with."""
    return f"{claim} [{WHO[sampler]}]"


def plus_minus(mean: float, error: float) -> str:
    """A difference and its standard error."""
    return f"{mean:+.3g}±{error:.2g}" if np.isfinite(mean) else "unknown"


def all_signs(signs: Sequence[int]) -> bool | None:
    """True if all are positive, False if one is negative, None otherwise."""
    return True if all(sign > 0 for sign in signs) else False if any(sign < 0 for sign in signs) else None


# Convergence


def later_half(trace: np.ndarray) -> np.ndarray:
    """The second half of the draws of each chain."""
    return trace[:, trace.shape[1] // 2 :]


def fluctuation(trace: np.ndarray) -> np.ndarray:
    """Standard deviation of the second half of each chain."""
    return np.asarray(later_half(trace).std(axis=1))


def judge_plateau(place: str, sampler: str, traces: Mapping[str, np.ndarray]) -> Claim:
    """Whether CDL and RCDL rise from their first draw and then stay: the last two quarters agree."""
    words, verdicts = [], []
    for name, trace in traces.items():
        quarter = trace.shape[1] // 4
        rise = mean_and_error(later_half(trace).mean(axis=1) - trace[:, 0])
        drift = mean_and_error(trace[:, -quarter:].mean(axis=1) - trace[:, -2 * quarter : -quarter].mean(axis=1))
        words.append(f"{name.upper()} rises by {plus_minus(*rise)}, then drifts by {plus_minus(*drift)}")
        stays = clear_sign(*drift) == 0
        verdicts.append(clear_sign(*rise) if stays else min(clear_sign(*rise), 0))
    return Claim(of_sampler(sampler, f"{place}: CDL and RCDL rise to a plateau"), "; ".join(words), all_signs(verdicts))


def judge_likeness(place: str, sampler: str, cdl: np.ndarray, rcdl: np.ndarray) -> Claim:
    """Whether the two curves lie within the fluctuation of one of them."""
    gap, spread = float((later_half(cdl) - later_half(rcdl)).mean()), float(fluctuation(cdl).mean())
    ours = f"RCDL is {gap:.3g} nats below CDL, which varies by {spread:.3g} along a chain"
    return Claim(of_sampler(sampler, f"{place}: at C = .01 RCDL is about CDL"), ours, gap <= spread)


def judge_fluctuation(claim: str, sampler: str, weak: np.ndarray, strong: np.ndarray, least: float) -> Claim:
    """Whether RCDL varies more at C = 1 than at .01, by a factor of at least so much."""
    first, second = fluctuation(weak), fluctuation(strong)
    ratio = float(second.mean() / first.mean())
    ours = f"varies by {second.mean():.3g} nats along a chain at C = 1, {first.mean():.3g} at .01: {ratio:.2g} times"
    sign = clear_sign(*apart(second, least * first))
    return Claim(of_sampler(sampler, claim), ours, None if sign == 0 else sign > 0)


def judge_steadiness(sampler: str, own: np.ndarray, other: np.ndarray | None) -> Claim:
    """Whether CDL varies less on Fashion than on Animals, relative to its size."""
    claim = of_sampler(sampler, "5: Fashion is steadier than Animals")
    if other is None:
        return Claim(claim, "Animals are not at hand", None)
    parts = [fluctuation(trace) / np.abs(later_half(trace).mean(axis=1)) for trace in (own, other)]
    sign = clear_sign(*apart(*parts))
    ours = f"CDL varies by {parts[0].mean():.2%} of its size on Fashion, {parts[1].mean():.2%} on Animals (C = .01)"
    return Claim(claim, ours, None if sign == 0 else sign < 0)


# Sensitivity


def against(scores: Scores, base: Scores, name: str) -> tuple[float, float]:
    """Difference of a score from BHMC, and its standard error."""
    return apart(chain_means(scores[name]), chain_means(base[name]))


def is_separated(scores: Scores, base: Scores) -> bool:
    """Whether AID is clearly below, and AOD clearly above that of BHMC."""
    return clear_sign(*against(scores, base, "aid")) < 0 and clear_sign(*against(scores, base, "aod")) > 0


def judge_settings(sampler: str, grid: Grid, base: Scores) -> Claim:
    """Whether several settings are tighter and further apart than BHMC."""
    better = [method for method, scores in grid.items() if is_separated(scores, base)]
    ours = f"{len(better)} of {len(grid)} settings" + "".join(f" ({m.C:g}, {m.margin:g})" for m in better)
    claim = "2: several settings (C, margin) lower AID and raise AOD against BHMC"
    return Claim(of_sampler(sampler, claim), ours, len(better) >= SEVERAL)


def judge_setting(claim: str, sampler: str, scores: Scores, base: Scores) -> Claim:
    """Whether one setting is tighter and further apart than BHMC."""
    inner, outer = against(scores, base, "aid"), against(scores, base, "aod")
    ours = f"AID {plus_minus(*inner)}, AOD {plus_minus(*outer)} against BHMC"
    return Claim(of_sampler(sampler, claim), ours, all_signs([-clear_sign(*inner), clear_sign(*outer)]))


def grid_of(grid: Grid, name: str) -> np.ndarray:
    """Mean of a score by strength and margin, both in rising order."""
    strengths, margins = (sorted({getattr(method, key) for method in grid}) for key in ("C", "margin"))
    found = np.full((len(strengths), len(margins)), np.nan)
    for method, scores in grid.items():
        place = strengths.index(method.C), margins.index(method.margin)
        found[place] = mean_and_error(chain_means(scores[name]))[0]
    return found


def known_means(values: np.ndarray, axis: int) -> np.ndarray:
    """Means of the finite numbers along an axis."""
    return chain_means(values if axis == 1 else values.T)


def judge_influence(sampler: str, grid: Grid) -> Claim:
    """Whether AID depends more on C than on the margin."""
    values = grid_of(grid, "aid")
    by_strength, by_margin = (
        float(np.nanmax(m) - np.nanmin(m)) for m in (known_means(values, 1), known_means(values, 0))
    )
    ours = f"mean AID ranges over {by_strength:.3g} by C, {by_margin:.3g} by margin"
    return Claim(of_sampler(sampler, "2: C matters more than the margin"), ours, by_strength > by_margin)


def judge_bend(sampler: str, grid: Grid) -> Claim:
    """Whether AID over C is no line: the share of its variance that a line explains."""
    values = known_means(grid_of(grid, "aid"), 1)
    strengths = np.array(sorted({method.C for method in grid}))
    known = np.isfinite(values)
    is_enough = known.sum() > 2 and np.ptp(values[known]) > 0.0
    explained = float(np.corrcoef(strengths[known], values[known])[0, 1] ** 2) if is_enough else np.nan
    ours = f"a line through AID over C explains {explained:.0%} of its variance"
    holds = None if np.isnan(explained) else explained < NEARLY_A_LINE
    return Claim(of_sampler(sampler, "2: the effect is not linear in C"), ours, holds)


def judge_smoothness(sampler: str, grid: Grid) -> Claim:
    """Whether no single step of C makes more than half of the whole change of AID."""
    values = known_means(grid_of(grid, "aid"), 1)
    values = values[np.isfinite(values)]
    claim = of_sampler(sampler, "6: the dependence on C is smooth")
    if values.size < LEAST_STEPS or np.ptp(values) == 0.0:
        return Claim(claim, "too few settings with siblings", None)
    share = float(np.abs(np.diff(values)).max() / np.ptp(values))
    return Claim(claim, f"the largest step of C makes {share:.0%} of the range of AID", share <= HALF)


# Classes


def f_names(scores: Scores) -> list[str]:
    """f1, f2, ..."""
    return [name for name in scores if name not in COUNTS]


def judge_levels(claim: str, sampler: str, best: Scores, base: Scores, names: Sequence[str]) -> Claim:
    """Whether F of the best trees is above that of BHMC at all these levels."""
    found = [against(best, base, name) for name in names]
    ours = ", ".join(f"{name.upper()} {plus_minus(*one)}" for name, one in zip(names, found, strict=True))
    return Claim(of_sampler(sampler, claim), ours, all_signs([clear_sign(*one) for one in found]))


def judge_first_level(sampler: str, best: Scores, base: Scores) -> Claim:
    """Whether more chains are above than below the middle of BHMC at level 1."""
    gaps = (best["f1"][:, 0] - np.median(base["f1"])).tolist()
    n_above = sum(gap > 0.0 for gap in gaps)
    ours = f"{n_above} of {len(gaps)} best trees are above the median of BHMC"
    holds = True if sign_test(gaps) <= UNLIKELY else False if sign_test([-gap for gap in gaps]) <= UNLIKELY else None
    return Claim(of_sampler(sampler, "4: F at level 1 is sometimes worse, skewed to better"), ours, holds)


def judge_poor(sampler: str, scores: Scores, base: Scores) -> Claim:
    """Whether F is worse at all levels and the largest node of level 1 larger."""
    names = f_names(scores)
    worse = [-clear_sign(*against(scores, base, name)) for name in names]
    largest = against(scores, base, "largest")
    ours = ", ".join(f"{name.upper()} {plus_minus(*against(scores, base, name))}" for name in names)
    ours += f"; share of the largest node of level 1 {plus_minus(*largest)}"
    verdict = all_signs([*worse, clear_sign(*largest)])
    return Claim(of_sampler(sampler, "7: (1, 1) gives a poor, skewed tree"), ours, verdict)


# Ours


def judge_chance(where: str, scores: Scores, pool: Mapping[str, np.ndarray]) -> list[Claim]:
    """Separation and classes of the chance-normalised penalty against BHMC at equal numbers of nodes."""
    found = {name: mean_and_error(matched(scores, pool, name)) for name in ("aid", "aod", *f_names(scores))}
    words = {name: f"{name.upper()} {plus_minus(*one)}" for name, one in found.items()}
    signs = [-clear_sign(*found["aid"]), clear_sign(*found["aod"])]
    levels = f_names(scores)
    is_known = bool(np.isfinite([found[name] for name in levels]).all())
    return [
        Claim(
            f"ours, {where}: at equal numbers of nodes the chance-normalised penalty lowers AID and raises AOD",
            f"{words['aid']}, {words['aod']}",
            all_signs(signs),
        ),
        Claim(
            f"ours, {where}: and F is worse at no level",
            ", ".join(words[name] for name in levels),
            all(clear_sign(*found[name]) >= 0 for name in levels) if is_known else None,
        ),
    ]


def judge_growth(claim: str, found: Mapping[int, tuple[Scores, Scores]]) -> Claim:
    """Whether trees have not many more leaves than those of BHMC, by number of rows."""
    leaves = {n_rows: [chain_means(scores["leaves"]).mean() for scores in pair] for n_rows, pair in found.items()}
    words = [f"{own:.3g} against {base:.3g} at {n_rows} rows" for n_rows, (own, base) in leaves.items()]
    holds = all(own <= MOST_MORE * base for own, base in leaves.values())
    return Claim(claim, f"leaves: {'; '.join(words)}", holds)

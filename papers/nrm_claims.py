"""Verdicts on what Lee and Choi say of tree-guided samplers.

Run k of all samplers begins with the same labels, so runs are compared in pairs: a direction holds, or fails, where a
sign test is clear. Few runs cannot be clear, and leave it undecided.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import stats

from papers.nrm_runs import (
    GIBBS,
    SPLIT_MERGE,
    Run,
    best_log_joint,
    distance_of_ratio,
    effective_per_second,
    law_of_clusters,
    reached_after,
    seconds_per_sweep,
)
from papers.outcome import Claim, sign_test

SMALL = 0.05
"""Error probability of a test."""
NEAR = 0.5
"""Log joints that differ by less are alike."""
LEAST_SPREAD = 0.1
"""Standard deviations of log joints below this are alike."""
CLOSE = 12.0
"""From so far below the best log joint of all a chain has found what there is to find: it is -1590 on the toy data."""
FAR_NEARER = 10.0
FEWEST_RUNS = 5
"""Fewer runs decide nothing: a sign test of four cannot, and no other test shall."""
BASELINES = (GIBBS, SPLIT_MERGE)
Runs = Mapping[str, Sequence[Run]]
Measure = Callable[[Run], float]


def clear_sign(differences: Sequence[float]) -> bool | None:
    """True if they are positive, False if negative, None where a sign test cannot tell."""
    if np.isnan(differences).any():
        return None
    if sign_test(differences) < SMALL:
        return True
    return False if sign_test([-difference for difference in differences]) < SMALL else None


def all_hold(answers: Sequence[bool | None]) -> bool | None:
    """True if all hold, False if one fails."""
    return False if any(answer is False for answer in answers) else None if None in answers else True


def of_sampler(process: str, name: str, claim: str) -> str:
    """A claim, the process and the sampler it is tried with."""
    return f"{claim} [{process}, {name}]"


def means(by_name: Runs, names: Sequence[str], measure: Measure, form: str) -> str:
    """Means over runs, in words."""
    return ", ".join(f"{name} {np.mean([measure(run) for run in by_name[name]]):{form}}" for name in names)


def pairwise(by_name: Runs, name: str, other: str, measure: Measure, near: float = 0.0) -> bool | None:
    """Whether a measure is larger than another sampler's, run by run; what is nearly equal counts half."""
    own, theirs = ([measure(run) for run in by_name[who]] for who in (name, other))
    differences = [a - b for a, b in zip(own, theirs, strict=True)]
    return clear_sign([0.0 if abs(difference) < near else difference for difference in differences])


def judge_higher(process: str, name: str, by_name: Runs) -> Claim:
    """A higher log joint in equal time."""
    claim = "a higher log joint than Gibbs and split-merge in equal time"
    ours = means(by_name, (name, *BASELINES), best_log_joint, ".1f")
    holds = all_hold([pairwise(by_name, name, other, best_log_joint, NEAR) for other in BASELINES])
    return Claim(of_sampler(process, name, claim), f"largest log joint: {ours}", holds)


def judge_sooner(process: str, name: str, by_name: Runs) -> Claim:
    """The same height sooner."""
    claim = f"comes within {CLOSE:g} of the best log joint of all sooner than Gibbs and split-merge"
    level = close_to_best(by_name)
    times = {who: [reached_after(run, level) for run in by_name[who]] for who in (name, *BASELINES)}
    ours = ", ".join(
        f"{who} {np.median(own):.2g} ({np.isfinite(own).sum()} of {len(own)} runs)" for who, own in times.items()
    )
    answers = []
    for other in BASELINES:
        # Two that never come there are alike; infinite less infinite is no number.
        pairs = zip(times[other], times[name], strict=True)
        answers.append(clear_sign([float(np.sign(b - a)) if a != b else 0.0 for b, a in pairs]))
    return Claim(of_sampler(process, name, claim), f"median CPU seconds: {ours}", all_hold(answers))


def close_to_best(by_name: Runs) -> float:
    """The height that counts as having found what there is."""
    return max(best_log_joint(run) for runs in by_name.values() for run in runs) - CLOSE


def judge_spread(process: str, name: str, by_name: Runs) -> Claim:
    """A smaller spread of runs."""
    claim = "a smaller spread over runs than Gibbs and split-merge"
    n_runs = len(by_name[name])
    if n_runs < FEWEST_RUNS:
        return Claim(of_sampler(process, name, claim), f"too few runs to tell: {n_runs}", None)
    spreads = {who: float(np.std([best_log_joint(run) for run in by_name[who]], ddof=1)) for who in (name, *BASELINES)}
    ours = ", ".join(f"{who} {spread:.2g}" for who, spread in spreads.items())
    answers = [clear_ratio(spreads[other], spreads[name], n_runs - 1) for other in BASELINES]
    return Claim(of_sampler(process, name, claim), f"sd of the largest log joint: {ours}", all_hold(answers))


def clear_ratio(larger: float, smaller: float, degrees: int) -> bool | None:
    """Whether one standard deviation exceeds another, by an F test; None where it cannot tell."""
    ratio = (max(larger, LEAST_SPREAD) / max(smaller, LEAST_SPREAD)) ** 2
    if stats.f.sf(ratio, degrees, degrees) < SMALL:
        return True
    return False if stats.f.cdf(ratio, degrees, degrees) < SMALL else None


def judge_ratio(process: str, name: str, by_name: Runs) -> Claim:
    """Proposals whose log ratio is far nearer to 0."""
    claim = f"mean log r at least {FAR_NEARER:g} times nearer to 0 than split-merge's"
    own, theirs = ([distance_of_ratio(run) for run in by_name[who]] for who in (name, SPLIT_MERGE))
    ours = f"mean log r {-np.mean(own):.1f}, split-merge {-np.mean(theirs):.1f}"
    holds = clear_sign([b / FAR_NEARER - a for a, b in zip(own, theirs, strict=True)])
    return Claim(of_sampler(process, name, claim), ours, holds)


def judge_effective(process: str, name: str, by_name: Runs) -> Claim:
    """More effective draws."""
    claim = "a larger effective sample size than Gibbs and split-merge in equal time"
    ours = means(by_name, (name, *BASELINES), effective_per_second, ".3g")
    holds = all_hold([pairwise(by_name, name, other, effective_per_second) for other in BASELINES])
    return Claim(of_sampler(process, name, claim), f"of the log joint, by CPU second: {ours}", holds)


def judge_time(process: str, name: str, by_name: Runs) -> Claim:
    """Iterations that take less time."""
    claim = "an iteration takes less time than one of Gibbs or split-merge"
    own = np.mean([seconds_per_sweep(run) for run in by_name[name]])
    ratios = {other: np.mean([seconds_per_sweep(run) for run in by_name[other]]) / own for other in BASELINES}
    ours = ", ".join(f"{other} {ratio:.2g} times as long" for other, ratio in ratios.items())
    holds = all_hold([pairwise(by_name, other, name, seconds_per_sweep) for other in BASELINES])
    return Claim(of_sampler(process, name, claim), ours, holds)


def judge_law(process: str, name: str, by_name: Runs, claim: str, number: int, least: float, most: float) -> Claim:
    """The share of sweeps with so many clusters lies between two bounds; undecided where runs scatter around them."""
    shares = [law_of_clusters([run]).get(number, 0.0) for run in by_name[name]]
    mean = float(np.mean(shares))
    ours = f"{mean:.2f} of the sweeps have {number} clusters, {min(shares):.2f} to {max(shares):.2f} by run"
    if len(shares) < FEWEST_RUNS:
        return Claim(of_sampler(process, name, claim), ours, None)
    error = 2.0 * float(np.std(shares, ddof=1)) / np.sqrt(len(shares))
    inside = least <= mean - error and mean + error <= most
    outside = mean + error < least or mean - error > most
    return Claim(of_sampler(process, name, claim), ours, True if inside else False if outside else None)

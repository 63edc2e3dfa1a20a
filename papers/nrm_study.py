"""The mixture experiments: runs of all samplers, tables, claims and pictures."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.stats.partitions import adjusted_rand
from papers import nrm_claims as judge
from papers.nrm_cases import PROCESSES, MixtureCase, Published, noisy_start
from papers.nrm_runs import (
    BURN_IN,
    OURS,
    PRINTED,
    SAMPLERS,
    Run,
    best_log_joint,
    distance_of_ratio,
    effective_draws,
    effective_per_second,
    law_of_clusters,
    run_chain,
    seconds_per_sweep,
)
from papers.outcome import Claim, Row, Tell

N_TIMES = 12
"""Rows of the curves."""
COLOURS = {"Gibbs": "#8c6d31", "split-merge": "#3182bd", "as printed": "#d6616b", "ours": "#31a354"}


class Plan(NamedTuple):
    """What is run, how often and for how long."""

    processes: Sequence[str]
    n_runs: int
    seconds: float
    """CPU time of each chain."""


Study = Mapping[str, Mapping[str, Sequence[Run]]]
"""Runs by process and sampler; run k of all samplers begins with the same labels."""


def study(case: MixtureCase, plan: Plan, seed: int, tell: Tell) -> Study:
    """All chains."""
    found: dict[str, dict[str, list[Run]]] = {}
    for process in plan.processes:
        found[process] = {name: [] for name in SAMPLERS}
        for number in range(plan.n_runs):
            first = noisy_start(case, PROCESSES[process], seed + number)
            for name, runs in found[process].items():
                run = run_chain(case, PROCESSES[process], name, first, seed + number, plan.seconds)
                runs.append(run)
                tell(
                    f"{case.name}, {process}, run {number + 1} of {plan.n_runs}, {name}: {run.seconds.size} sweeps, "
                    f"log joint at most {best_log_joint(run):.1f}, {run.n_clusters[-1]:.0f} clusters"
                )
    return found


# Tables


def tables(case: MixtureCase, found: Study, published: Mapping[tuple[str, str], Published]) -> dict[str, Sequence[Row]]:
    """Samplers beside the authors' logs, log joint by time, laws of the number of clusters."""
    return {
        "samplers": [
            sampler_row(case, process, name, runs, published.get((process, name)))
            for process, by_name in found.items()
            for name, runs in by_name.items()
        ],
        "log joint by time": [row for process, by_name in found.items() for row in curve_rows(process, by_name)],
        "numbers of clusters": [row for process, by_name in found.items() for row in law_rows(process, by_name)],
    }


def sampler_row(case: MixtureCase, process: str, name: str, runs: Sequence[Run], logs: Published | None) -> Row:
    """Means over runs; the authors' figures where there are any."""
    best = np.array([best_log_joint(run) for run in runs])
    row: dict[str, Any] = {"process": process, "sampler": name}
    if logs is not None:
        row |= {"logs_log_joint": logs.log_joint, "logs_sd": logs.log_joint_sd, "logs_log_r": logs.log_r}
    row |= {
        "log_joint": float(best.mean()),
        "sd": float(best.std(ddof=1)) if best.size > 1 else None,
        "log_r": mean_known([-distance_of_ratio(run) for run in runs]),
        "accepted": mean_known([share_accepted(run) for run in runs]),
        "ms_per_sweep": 1e3 * float(np.mean([seconds_per_sweep(run) for run in runs])),
        "ess_per_sweep": mean_known([effective_draws(r.log_joint[r.later]) / r.log_joint[r.later].size for r in runs]),
        "ess_per_second": mean_known([effective_per_second(run) for run in runs]),
        "clusters": float(np.mean([run.n_clusters[run.later].mean() for run in runs])),
    }
    if case.classes is not None:
        row["ari"] = float(np.mean([adjusted_rand(case.classes, run.labels) for run in runs]))
    return row


def share_accepted(run: Run) -> float:
    """Mean probability that a proposal is accepted; nan where there are none."""
    return float(np.exp(np.minimum(run.log_r, 0.0)).mean()) if run.log_r.size else np.nan


def mean_known(values: Sequence[float]) -> float | None:
    """Mean of those that are numbers."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def times_of(by_name: Mapping[str, Sequence[Run]]) -> np.ndarray:
    """Times for the curves, evenly spaced on a log scale, at which every run has swept."""
    first = max(run.seconds[0] for runs in by_name.values() for run in runs)
    last = min(run.seconds[-1] for runs in by_name.values() for run in runs)
    return np.geomspace(first, max(first, last), N_TIMES)


def mean_curve(runs: Sequence[Run], times: np.ndarray) -> np.ndarray:
    """Mean over runs of the log joint of the last sweep before each time."""
    return np.mean([run.log_joint[np.searchsorted(run.seconds, times, side="right") - 1] for run in runs], axis=0)


def curve_rows(process: str, by_name: Mapping[str, Sequence[Run]]) -> list[Row]:
    """Mean log joint by CPU time."""
    times = times_of(by_name)
    curves = {name: mean_curve(runs, times) for name, runs in by_name.items()}
    return [
        {"process": process, "seconds": float(time), **{name: float(curve[k]) for name, curve in curves.items()}}
        for k, time in enumerate(times)
    ]


def law_rows(process: str, by_name: Mapping[str, Sequence[Run]]) -> list[Row]:
    """Shares of sweeps by number of clusters."""
    laws = {name: law_of_clusters(runs) for name, runs in by_name.items()}
    numbers = sorted({number for law in laws.values() for number in law})
    return [
        {"process": process, "clusters": number, **{name: law.get(number, 0.0) for name, law in laws.items()}}
        for number in numbers
    ]


# Verdicts and pictures


def claims(found: Study) -> list[Claim]:
    """The paper's claims for the sampler as printed and for ours."""
    verdicts: list[Claim] = []
    for process, by_name in found.items():
        for name in (PRINTED, OURS):
            verdicts += [
                judge.judge_higher(process, name, by_name),
                judge.judge_sooner(process, name, by_name),
                judge.judge_spread(process, name, by_name),
                judge.judge_ratio(process, name, by_name),
                judge.judge_effective(process, name, by_name),
                judge.judge_time(process, name, by_name),
            ]
    return verdicts


def figures(case: MixtureCase, found: Study) -> dict[str, Callable[..., Any]]:
    """Log joint by time, one picture a process."""
    return {
        f"log joint by time, {process}": partial(draw_curves, f"{case.name}, {process}", by_name)
        for process, by_name in found.items()
    }


def draw_curves(title: str, by_name: Mapping[str, Sequence[Run]], ax: Any) -> None:
    """Every run thin, their mean thick."""
    times = times_of(by_name)
    for name, runs in by_name.items():
        for run in runs:
            ax.plot(run.seconds, run.log_joint, color=COLOURS[name], alpha=0.25, linewidth=0.7)
        ax.plot(times, mean_curve(runs, times), color=COLOURS[name], linewidth=2.2, label=name)
    later = np.concatenate([run.log_joint[run.later] for runs in by_name.values() for run in runs])
    low, high = np.quantile(later, 0.001), later.max()
    ax.set_ylim(low - 0.3 * (high - low), high + 0.05 * (high - low))
    ax.set_xscale("log")
    ax.set(xlabel="CPU seconds", ylabel="log joint", title=title)
    ax.legend(loc="lower right")


def notes(plan: Plan) -> list[str]:
    """What to know."""
    return [
        f"{plan.n_runs} runs a sampler, {plan.seconds:g} CPU seconds each, compiling not counted; run k of all "
        "begins with the same noisy incremental clustering, whose time does not count.",
        "As printed: the authors' program (10 global moves, a local move of depth 2); it does not leave the posterior "
        "invariant, so its law of K is not the posterior's. Split-merge: one move of Jain and Neal, 10 scans, and a "
        "Gibbs sweep. Ours: `NRMMixture`'s default moves. Times are those of our programs of all four.",
        "log_r: mean log acceptance ratio of split-merge proposals, all of the printed sampler, of the others some "
        "drawn every tenth sweep and computed to the end, though the sampler would have refused most of them earlier.",
        "Claims are judged by runs in pairs (sign test, 5 %) or by an F test of spreads; what neither settles is "
        f"undecided, and so is all with fewer than {judge.FEWEST_RUNS} runs. Laws and effective sizes leave out the "
        f"first {BURN_IN:.0%} of the sweeps. Marginals are not counted.",
    ]

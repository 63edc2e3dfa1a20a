"""Bacciu and Castellana on their synthetic trees: Table 1, objectives and components by iteration; and ours."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.datasets import load_synthetic_trees
from papers import htmm_claims as judge
from papers.htmm_published import INF_SYNTHETIC, MIX_SYNTHETIC, ROOT, TRUTH_SYNTHETIC, Grid
from papers.htmm_runs import (
    HOW,
    Method,
    Run,
    Scores,
    TreeCase,
    fit,
    fit_ours,
    from_one_cluster,
    make_case,
    score,
    silhouette,
)
from papers.htmm_tables import (
    Draw,
    Trials,
    class_figure,
    class_rows,
    methods_of,
    our_row,
    silhouette_rows,
    sweep_rows,
    trace_figure,
    try_all,
)
from papers.outcome import Claim, Outcome, Row, Tell

PUBLISHED: dict[str, Grid] = {"root": ROOT, "mix": MIX_SYNTHETIC, "inf": INF_SYNTHETIC}
BEST = Method("inf", "printed", 4, 1.5)
"""Where the paper has the truth's silhouette in every run."""
N_CLASSES = 3
LEAST_ARI, LEAST_SILHOUETTE = 0.98, 0.51


class Plan(NamedTuple):
    """What is run, and how often."""

    states: Sequence[int]
    settings: Sequence[float]
    n_runs: int
    n_checked: int
    """Runs of the paper's best setting."""
    ours: Sequence[tuple[int, float]]
    """States and strengths of our fits; the first are the defaults."""
    n_ours: int
    our_chains: Mapping[str, int]
    n_sweeps: int
    """Of chains from one cluster."""


SHORT = {"n_chains": 1, "n_tune": 20, "n_draws": 80}
"""Our chains: from a variational start a hundred sweeps show what there is."""
FULL = Plan(
    states=(2, 3, 4, 5, 6, 7, 8),
    settings=(1, 3, 5, 7, 1.5, 2),
    n_runs=5,
    n_checked=30,
    ours=((4, 1.0), (4, 0.5), (4, 2.0), (8, 1.0), (2, 1.0)),
    n_ours=10,
    our_chains=SHORT,
    n_sweeps=100,
)
QUICK = Plan(
    states=(3, 4),
    settings=(1, 3, 7, 1.5),
    n_runs=2,
    n_checked=5,
    ours=((4, 1.0),),
    n_ours=1,
    our_chains={"n_chains": 1, "n_tune": 10, "n_draws": 20},
    n_sweeps=20,
)


class Study(NamedTuple):
    """All that was found."""

    trials: Trials
    checked: Scores
    absent: Mapping[str, Scores]
    ours: Mapping[tuple[int, float], Scores]
    our_runs: Sequence[Run]
    """Of the defaults."""
    from_one: Sequence[np.ndarray]


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All stages."""
    case = make_case("synthetic", load_synthetic_trees(data_home), load_synthetic_trees(data_home, "test"))
    found = study(case, QUICK if quick else FULL, seed, tell)
    return Outcome(
        "Mixtures of hidden tree Markov models on synthetic trees (Bacciu and Castellana)",
        tables(case, found),
        claims(found),
        notes(case, quick),
        figures(case, found),
    )


def study(case: TreeCase, plan: Plan, seed: int, tell: Tell) -> Study:
    """All fits."""
    trials = try_all(case, methods_of(PUBLISHED, plan.states, plan.settings), plan.n_runs, seed, tell)
    tell(f"{case.name}: the paper's best setting, {plan.n_checked} runs")
    checked = score(case, [fit(case, BEST, seed + number) for number in range(plan.n_checked)])
    others = [BEST._replace(missing=missing) for missing in ("bottom", "renorm")]
    absent = try_all(case, others, plan.n_runs, seed, tell).scores
    ours: dict[tuple[int, float], list[Run]] = {}
    for n_states, strength in plan.ours:
        tell(f"{case.name}: ours, C={n_states} alpha={strength:g}, {plan.n_ours} runs")
        settings = {"n_states": n_states, "prior_strength": strength, **plan.our_chains}
        ours[n_states, strength] = [fit_ours(case, seed + number, **settings)[1] for number in range(plan.n_ours)]
    tell(f"{case.name}: ours from one cluster, {plan.n_ours} chains")
    from_one = [from_one_cluster(case, 4, plan.n_sweeps, seed + number) for number in range(plan.n_ours)]
    return Study(
        trials,
        checked,
        {method.missing: scores for method, scores in absent.items()},
        {place: score(case, runs) for place, runs in ours.items()},
        ours[plan.ours[0]],
        from_one,
    )


def tables(case: TreeCase, found: Study) -> dict[str, Sequence[Row]]:
    """Table 1, what else was run, and the numbers of the pictures."""
    return {
        "table 1": silhouette_rows(PUBLISHED, found.trials),
        "ours": [our_row(own, C=n_states, alpha=strength) for (n_states, strength), own in found.ours.items()],
        "absent children": [our_row(own, missing=missing) for missing, own in found.absent.items()],
        "components by sweep": sweep_rows(found.trials, traced(found.trials, "inf")),
        "clusters by class": class_rows("ours", found.our_runs[0].test, case.test_classes),
    }


def traced(trials: Trials, kind: str) -> list[Method]:
    """The methods of a kind at four states, as printed."""
    return [method for method in trials.runs if (method.kind, method.how, method.n_states) == (kind, "printed", 4)]


def claims(found: Study) -> list[Claim]:
    """The paper's, as printed and with exact steps; then what we expect of its procedure, and of ours."""
    trials, verdicts = found.trials, []
    for how in HOW:
        verdicts += [
            judge.judge_single(trials, how),
            judge.judge_mixtures(trials, how),
            judge.judge_truth(trials, how, INF_SYNTHETIC, TRUTH_SYNTHETIC),
            judge.judge_weak_prior(trials, how),
            judge.judge_spare(trials, how),
            judge.judge_infinite(trials, how),
            judge.judge_peak(trials, BEST._replace(how=how), N_CLASSES),
        ]
    verdicts += [judge.judge_procedure(found.checked, N_CLASSES, 0.5, 0.95), judge.judge_absent(found.absent, 0.35)]
    return verdicts + our_claims(found)


def our_claims(found: Study) -> list[Claim]:
    """Defaults in every run, other settings in most, chains from one cluster."""
    (first, scores), *others = found.ours.items()
    verdicts = [
        judge.judge_ours(f"C={first[0]}", scores, (N_CLASSES, N_CLASSES), LEAST_SILHOUETTE, LEAST_ARI),
        *(
            judge.judge_recovery(f"C={n_states}, alpha={strength:g}", own, N_CLASSES, 0.9, 0.97)
            for (n_states, strength), own in others
            if n_states >= 4
        ),
    ]
    return [*verdicts, judge.judge_from_one(found.from_one, LEAST_ARI, 0.9)]


def figures(case: TreeCase, found: Study) -> dict[str, Draw]:
    """Objectives of MIX, components of INF, clusters by classes."""
    trials = found.trials
    return {
        "objective of mix": trace_figure(trials, traced(trials, "mix"), "MIX as printed, C = 4", "log-likelihood"),
        "components of inf": trace_figure(trials, traced(trials, "inf"), "INF as printed, C = 4", "components"),
        "clusters by class": class_figure("Ours, C = 4, test trees", found.our_runs[0].test, case.test_classes),
    }


def notes(case: TreeCase, quick: bool) -> list[str]:
    """What to know."""
    truth = silhouette(case.train, case.train_classes), silhouette(case.test, case.test_classes)
    found = [
        f"Silhouettes are those of test trees by the paper's definition; the classes themselves have {truth[0]:.4f} "
        f"(train) and {truth[1]:.4f} (test), 0.51 in the paper. Means and spreads leave out runs with one cluster.",
        "As printed: the authors' E-step and weight of a new component, which are no EM and no Gibbs sampling. Exact "
        "steps: the same procedure with an exact E-step, normalised weights and first tables from the prior.",
        "Columns of printed and exact: test silhouette, its spread, train silhouette, ARI with the classes, clusters.",
        "Ours is InfiniteTreeHMMMixture with its defaults, but one chain of a hundred sweeps; test trees are predicted "
        "one by one.",
    ]
    return [*found, "Quick: two runs a setting, too few for verdicts."] if quick else found

"""Bacciu and Castellana on INEX 2005: Tables 2 and 3, components by sweep, clusters by classes; and ours."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.datasets import load_inex05
from papers import htmm_claims as judge
from papers.htmm_published import (
    BEST_INEX,
    BLOCKS,
    INF_CLUSTERS,
    INF_INEX,
    MIX_CLUSTERS,
    MIX_INEX,
    Grid,
)
from papers.htmm_runs import (
    HOW,
    Hierarchy,
    Method,
    Run,
    Scores,
    TreeCase,
    fit_ours,
    make_case,
    score,
    silhouette,
    sparse_hierarchy,
)
from papers.htmm_tables import (
    Draw,
    Trials,
    best_run,
    class_figure,
    class_rows,
    cluster_rows,
    method_name,
    methods_of,
    our_row,
    silhouette_rows,
    sweep_rows,
    trace_figure,
    try_all,
)
from papers.outcome import Claim, Outcome, Row, Tell

SILHOUETTES: dict[str, Grid] = {"mix": MIX_INEX, "inf": INF_INEX}
CLUSTERS: dict[str, Grid] = {"mix": MIX_CLUSTERS, "inf": INF_CLUSTERS}
LEAST_ARI, LEAST, LEAST_FEWER = 0.98, 0.30, 0.28
SPARSE = (8, 0.1)
"""States and strength of the start whose hierarchy is cut."""
FEW_ACTIVE = 5


class Plan(NamedTuple):
    """What is run, and how often."""

    states: Sequence[int]
    settings: Sequence[float]
    n_runs: int
    our_states: Sequence[int]
    n_ours: int
    our_settings: Mapping[str, Any]
    n_sparse: int


FULL = Plan(
    states=(2, 4, 8),
    settings=(6, 11, 22, 1, 1.2, 1.5, 2),
    n_runs=5,
    our_states=(8, 4),
    n_ours=5,
    our_settings={"n_chains": 1, "n_tune": 10, "n_draws": 40},
    n_sparse=3,
)
QUICK = Plan(
    states=(2,),
    settings=(6, 1.5, 2),
    n_runs=1,
    our_states=(8,),
    n_ours=1,
    our_settings={"n_chains": 1, "n_tune": 2, "n_draws": 6, "n_init": 1},
    n_sparse=0,
)


class Study(NamedTuple):
    """All that was found."""

    trials: Trials
    ours: Mapping[int, Sequence[Run]]
    """By number of states."""
    scores: Mapping[int, Scores]
    """ARI with the five blocks."""
    hierarchies: Sequence[Hierarchy]


def run(*, quick: bool, seed: int, data_home: Any, tell: Tell) -> Outcome:
    """All stages."""
    case = make_case("INEX05", load_inex05(data_home), load_inex05(data_home, "test"))
    found = study(case, QUICK if quick else FULL, seed, tell)
    return Outcome(
        "Mixtures of hidden tree Markov models on INEX 2005 (Bacciu and Castellana)",
        tables(case, found),
        claims(case, found),
        notes(case, quick),
        figures(case, found),
    )


def study(case: TreeCase, plan: Plan, seed: int, tell: Tell) -> Study:
    """All fits."""
    trials = try_all(case, methods_of(SILHOUETTES, plan.states, plan.settings), plan.n_runs, seed, tell)
    ours: dict[int, list[Run]] = {}
    for n_states in plan.our_states:
        tell(f"{case.name}: ours, C={n_states}, {plan.n_ours} runs")
        settings = {"n_states": n_states, **plan.our_settings}
        ours[n_states] = [fit_ours(case, seed + number, **settings)[1] for number in range(plan.n_ours)]
    hierarchies = []
    for number in range(plan.n_sparse):
        tell(f"{case.name}: hierarchy of a sparse start, {number + 1} of {plan.n_sparse}")
        hierarchies.append(sparse_hierarchy(case, *SPARSE, seed + number))
    blocks = blocks_of(case.train_classes)
    return Study(trials, ours, {n: score(case, runs, blocks) for n, runs in ours.items()}, hierarchies)


def blocks_of(classes: np.ndarray) -> np.ndarray:
    """The block of similar classes that each class belongs to."""
    number = {own: block for block, members in enumerate(BLOCKS) for own in members}
    return np.array([number[own] for own in classes.tolist()])


# Tables


def tables(case: TreeCase, found: Study) -> dict[str, Sequence[Row]]:
    """Tables 2 and 3, ours, the cuts of hierarchies, clusters by classes."""
    trials = found.trials
    shown = shown_runs(found)
    return {
        "table 2": silhouette_rows(SILHOUETTES, trials),
        "table 3": cluster_rows(CLUSTERS, trials),
        "ours": our_rows(case, found),
        "hierarchy": [row for number, own in enumerate(found.hierarchies) for row in cut_rows(case, own, number)],
        "components by sweep": sweep_rows(trials, traced(trials)),
        "clusters by class": [
            row for name, own in shown.items() for row in class_rows(name, own.test, case.test_classes)
        ],
    }


def our_rows(case: TreeCase, found: Study) -> list[Row]:
    """Our fits, with the ARI against the five blocks and against the eleven classes."""
    rows: list[Row] = []
    for n_states, runs in found.ours.items():
        classes = score(case, runs).ari.mean()
        rows.append({**our_row(found.scores[n_states], C=n_states), "ari_classes": float(classes)})
    return rows


def cut_rows(case: TreeCase, own: Hierarchy, number: int) -> list[Row]:
    """Silhouette of each cut, and the log ratio of the merge that led to it."""
    n_components = own.log_ratios.size + 1
    rows: list[Row] = []
    for size, clusters in sorted(own.by_size.items(), reverse=True):
        rows.append(
            {
                "start": number,
                "clusters": size,
                "silhouette": silhouette(case.test, clusters[own.components]),
                "log_ratio": None if size == n_components else float(own.log_ratios[n_components - size - 1]),
                "gap": "here" if size == np.unique(own.gap).size else "",
            }
        )
    return rows


def traced(trials: Trials) -> list[Method]:
    """INF at two states, as printed."""
    return [method for method in trials.runs if (method.kind, method.how, method.n_states) == ("inf", "printed", 2)]


def shown_runs(found: Study) -> dict[str, Run]:
    """The best runs of the paper's models, and ours."""
    best = [best_run(found.trials, kind, how) for kind in ("mix", "inf") for how in HOW]
    shown = {method_name(own[0]): own[1] for own in best if own is not None}
    return shown | {f"ours C={n_states}": runs[0] for n_states, runs in found.ours.items()}


# Verdicts


def claims(case: TreeCase, found: Study) -> list[Claim]:
    """The paper's, as printed and with exact steps, then ours."""
    trials, verdicts = found.trials, []
    for how in HOW:
        verdicts += [
            judge.judge_best(trials, "mix", how, MIX_INEX),
            judge.judge_best(trials, "inf", how, INF_INEX),
            judge.judge_falls(trials, how, "alpha"),
            judge.judge_falls(trials, how, "C"),
            judge.judge_active(trials, how, FEW_ACTIVE),
            judge.judge_split_class(how, best_run(trials, "inf", how), case.test_classes),
        ]
    return verdicts + our_claims(case, found)


def our_claims(case: TreeCase, found: Study) -> list[Claim]:
    """Five blocks in every run; hierarchies that find them too."""
    verdicts = [judge_above_paper(found.scores)]
    for n_states, scores in found.scores.items():
        least = LEAST if n_states >= max(found.scores) else LEAST_FEWER
        name = f"C={n_states}, five blocks of similar classes"
        verdicts.append(judge.judge_ours(name, scores, (5, 6), least, LEAST_ARI if least == LEAST else 0.9))
    if found.hierarchies:
        gaps = [silhouette(case.test, own.gap[own.components]) for own in found.hierarchies]
        before = [silhouette(case.test, own.components) for own in found.hierarchies]
        sizes = [int(np.unique(own.gap).size) for own in found.hierarchies]
        verdicts.append(judge.judge_gap(gaps, sizes, before, LEAST))
    return verdicts


def judge_above_paper(scores: Mapping[int, Scores]) -> Claim:
    """Every run of ours beats the paper's best."""
    least = {n_states: float(own.test.min()) for n_states, own in scores.items()}
    ours = "; ".join(f"C={n_states}: at least {value:.4f}" for n_states, value in least.items())
    claim = f"ours: every run has a larger silhouette than the paper's best ({BEST_INEX:.2f})"
    return Claim(claim, ours, min(least.values()) > BEST_INEX)


# Pictures and notes


def figures(case: TreeCase, found: Study) -> dict[str, Draw]:
    """Components of INF by sweep; clusters by classes of the best runs."""
    drawn: dict[str, Draw] = {
        f"clusters by class, {name}": class_figure(f"{name}, test trees", own.test, case.test_classes)
        for name, own in shown_runs(found).items()
    }
    own = traced(found.trials)
    return {"components of inf": trace_figure(found.trials, own, "INF as printed, C = 2", "components"), **drawn}


def notes(case: TreeCase, quick: bool) -> list[str]:
    """What to know."""
    blocks = silhouette(case.test, blocks_of(case.test_classes))
    found = [
        f"Silhouettes are those of test trees by the paper's definition; the eleven classes have "
        f"{silhouette(case.test, case.test_classes):.4f}, five blocks of similar classes {blocks:.4f}. A silhouette is "
        "no recovery of classes: see the ARI with both. Means and spreads leave out runs with one cluster.",
        "As printed: the authors' E-step and weight of a new component, which are no EM and no Gibbs sampling. Exact "
        "steps: the same procedure with an exact E-step, normalised weights and first tables from the prior.",
        "Table 3 counts clusters with test trees; columns *_train those with trees fitted.",
        "Ours is InfiniteTreeHMMMixture with its defaults, but one chain of fifty sweeps; test trees are predicted one "
        "by one. ARI: with the blocks.",
    ]
    return [*found, "Quick: one run of a few settings, and one short chain of ours."] if quick else found

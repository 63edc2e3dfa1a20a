"""Verdicts on what Bacciu and Castellana say of mixtures of hidden tree Markov models, and on what we say of ours.

A claim of a table is judged by the means over runs; a claim about runs by all of them.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from papers.htmm_published import Grid
from papers.htmm_runs import Method, Run, Scores, mean_and_spread
from papers.htmm_tables import Trials, method_name
from papers.outcome import Claim

NEAR = 0.01
"""Difference of mean silhouettes that counts as none."""
NOT_CLUSTERED = 0.1
"""A silhouette no larger than this shows no clusters."""
EARLY, MOSTLY = 3, 0.8
"""Sweeps by which a peak is early; share of runs."""


def of_how(how: str, claim: str) -> str:
    """A claim, and the steps it is tried with."""
    return f"{claim} [{'as printed' if how == 'printed' else 'exact steps'}]"


def means_of(trials: Trials, kind: str, how: str, name: str = "test") -> dict[tuple[int, float], float]:
    """Means over runs by states and setting, for the published way of absent children."""
    return {
        (method.n_states, method.setting): trials.mean(kind, how, method.n_states, method.setting, name)
        for method in trials.scores
        if (method.kind, method.how, method.missing) == (kind, how, "bottom_prior")
    }


def listed(numbers: Sequence[float]) -> str:
    """Numbers with two digits."""
    return ", ".join("one cluster" if np.isnan(number) else f"{number:.2f}" for number in numbers)


# Table 1


def judge_single(trials: Trials, how: str) -> Claim:
    """One model does not cluster."""
    root = list(means_of(trials, "root", how).values())
    ours = f"at most {np.nanmax(root):.3f} ({listed(root)})"
    holds = bool(np.nanmax(root) <= NOT_CLUSTERED)
    return Claim(of_how(how, "Table 1: one model and its root's state show no clusters (at most 0.03)"), ours, holds)


def judge_mixtures(trials: Trials, how: str) -> Claim:
    """All mixtures do."""
    largest = np.nanmax(list(means_of(trials, "root", how).values()))
    mixtures = [*means_of(trials, "mix", how).values(), *means_of(trials, "inf", how).values()]
    ours = f"mixtures {np.nanmin(mixtures):.2f} to {np.nanmax(mixtures):.2f}, one model at most {largest:.2f}"
    holds = bool(np.nanmin(mixtures) > largest + NOT_CLUSTERED)
    return Claim(of_how(how, "Table 1: all mixtures do (0.33 to 0.51)"), ours, holds)


def judge_truth(trials: Trials, how: str, published: Grid, truth: float) -> Claim:
    """INF reaches the silhouette of the truth where the paper says so."""
    cells = [place for place, cell in published.items() if cell.mean >= truth]
    found = {place: trials.mean("inf", how, *place) for place in cells}
    known = {place: mean for place, mean in found.items() if Method("inf", how, *place) in trials.scores}
    ours = "; ".join(f"C={states} alpha={alpha:g}: {listed([mean])}" for (states, alpha), mean in known.items())
    holds = all(mean >= truth - NEAR for mean in known.values()) if known else None
    return Claim(of_how(how, f"Table 1: INF has the truth's {truth:.2f} at C >= 4, alpha >= 1.5"), ours, holds)


def judge_weak_prior(trials: Trials, how: str) -> Claim:
    """The flat prior is the worst."""
    means = means_of(trials, "inf", how)
    alphas = sorted({alpha for _, alpha in means})
    states = sorted({n for n, _ in means})
    if len(alphas) < 2:
        return Claim(of_how(how, "Table 1: INF is worst at alpha = 1"), "one alpha only", None)
    worst = [np.nanargmin([means[n, alpha] for alpha in alphas]) == 0 for n in states]
    ours = "; ".join(f"C={n}: {listed([means[n, alpha] for alpha in alphas])}" for n in states)
    return Claim(of_how(how, "Table 1: INF is worst at alpha = 1, for each C"), ours, all(worst))


def judge_spare(trials: Trials, how: str) -> Claim:
    """Spare components do no harm to MIX."""
    means = means_of(trials, "mix", how)
    sizes, states = sorted({size for _, size in means}), sorted({n for n, _ in means})
    if len(sizes) < 2:
        return Claim(of_how(how, "Table 1: spare components do not harm MIX"), "one number of components only", None)
    kept = [means[n, sizes[-1]] >= means[n, sizes[0]] - NEAR for n in states]
    ours = "; ".join(f"C={n}: {listed([means[n, size] for size in sizes])}" for n in states)
    return Claim(of_how(how, "Table 1: spare components do not harm MIX (T = 7 against 3)"), ours, all(kept))


def judge_infinite(trials: Trials, how: str) -> Claim:
    """The best infinite mixture beats the best finite one."""
    best = {kind: np.nanmax(list(means_of(trials, kind, how).values())) for kind in ("mix", "inf")}
    ours = f"INF {best['inf']:.3f}, MIX {best['mix']:.3f} at their best"
    return Claim(of_how(how, "Table 1: INF at its best (0.51) beats MIX (0.47)"), ours, bool(best["inf"] > best["mix"]))


def judge_peak(trials: Trials, method: Method, n_true: int) -> Claim:
    """Components are many at first and soon few."""
    traces = [run.trace for run in trials.runs[method]]
    early = [int(np.argmax(trace)) < EARLY for trace in traces]
    ends = [int(trace[-1]) for trace in traces]
    falls = [int(np.flatnonzero(trace != trace[-1]).max(initial=-1)) + 2 for trace in traces]
    ours = (
        f"peaks of {' '.join(str(int(trace.max())) for trace in traces)}, ends {' '.join(map(str, ends))}, "
        f"the end reached in sweep {' '.join(map(str, falls))}"
    )
    holds = all(early) and np.mean([end == n_true for end in ends]) >= MOSTLY
    claim = f"Fig. 6: INF makes many components at first, then falls to {n_true} ({method_name(method)})"
    return Claim(claim, ours, bool(holds))


# Of our own: what independent runs of the printed procedure gave


def judge_procedure(scores: Scores, n_true: int, least: float, least_ari: float) -> Claim:
    """The printed procedure at its best setting, over many runs."""
    share, mean, ari = np.mean(scores.clusters == n_true), mean_and_spread(scores.test)[0], scores.ari.mean()
    ours = (
        f"{int(np.sum(scores.clusters == n_true))} of {scores.clusters.size} runs, mean silhouette {mean:.3f}, mean "
        f"ARI {ari:.3f}; of the first five {int(np.sum(scores.clusters[:5] == n_true))}, "
        f"{mean_and_spread(scores.test[:5])[0]:.3f}, {scores.ari[:5].mean():.3f}"
    )
    holds = bool(share >= MOSTLY and mean >= least and ari >= least_ari)
    return Claim("specification: INF as printed, C=4, alpha=1.5, has 3 clusters in 4 of 5 runs, >= 0.50", ours, holds)


def judge_absent(found: Mapping[str, Scores], most: float) -> Claim:
    """Other ways of absent children do not find the classes."""
    means = {missing: mean_and_spread(scores.test)[0] for missing, scores in found.items()}
    ours = "; ".join(f"{missing}: {listed([mean])}" for missing, mean in means.items())
    holds = all(not mean > most for mean in means.values())
    return Claim(f'specification: missing="bottom" and "renorm" reach at most {most:g}', ours, holds)


def judge_ours(name: str, scores: Scores, n_true: tuple[int, int], least: float, least_ari: float) -> Claim:
    """Every run of ours has as many clusters as wanted, silhouettes and ARI at least so large."""
    inside = (scores.clusters >= n_true[0]) & (scores.clusters <= n_true[1])
    wanted = f"{n_true[0]}" if n_true[0] == n_true[1] else f"{n_true[0]} or {n_true[1]}"
    ours = (
        f"{int(inside.sum())} of {inside.size} runs with {wanted} clusters, silhouette at least "
        f"{scores.test.min():.4f}, ARI at least {scores.ari.min():.3f}"
    )
    holds = bool(inside.all() and scores.test.min() >= least and scores.ari.min() >= least_ari)
    return Claim(f"ours, {name}: every run has {wanted} clusters, >= {least:g}, ARI >= {least_ari:g}", ours, holds)


def judge_recovery(name: str, scores: Scores, n_true: int, share: float, least_ari: float) -> Claim:
    """Most runs of ours have as many clusters as wanted, and ARI at least so large."""
    good = (scores.clusters == n_true) & (scores.ari >= least_ari)
    ours = f"{int(good.sum())} of {good.size} runs; ARI at least {scores.ari.min():.3f}"
    claim = f"ours, {name}: K = {n_true} and ARI >= {least_ari:g} in {share:.0%} of the runs"
    return Claim(claim, ours, bool(good.mean() >= share))


def judge_from_one(traces: Sequence[np.ndarray], least_ari: float, share: float) -> Claim:
    """Chains leave one cluster."""
    reached = [int(np.argmax(trace >= least_ari)) + 1 for trace in traces if (trace >= least_ari).any()]
    ours = f"{len(reached)} of {len(traces)} chains" + (
        f", after {min(reached)} to {max(reached)} sweeps" if reached else ""
    )
    claim = f"ours, from one cluster: ARI >= {least_ari:g} within {len(traces[0])} sweeps in 9 of 10 chains"
    return Claim(claim, ours, len(reached) >= share * len(traces))


# Tables 2 and 3


def judge_best(trials: Trials, kind: str, how: str, published: Grid) -> Claim:
    """The paper's best setting has about its silhouette here."""
    place = max(published, key=lambda own: published[own].mean)
    cell, found = published[place], means_of(trials, kind, how)
    method = Method(kind, how, *place)
    if method not in trials.scores:
        return Claim(of_how(how, f"Table 2: best {kind.upper()}"), "not run", None)
    best = max(found, key=lambda own: -np.inf if np.isnan(found[own]) else found[own])
    mean, spread = mean_and_spread(trials.scores[method].test)
    ours = f"{mean:.3f} ({spread:.3f}) there; the best is {found[best]:.3f} at {method_name(Method(kind, how, *best))}"
    claim = f"Table 2: {kind.upper()} is best at {method_name(method).split(' ', 2)[2]}, {cell}"
    return Claim(of_how(how, claim), ours, bool(abs(mean - cell.mean) <= max(cell.spread, NEAR)))


def judge_falls(trials: Trials, how: str, by: str) -> Claim:
    """The number of clusters of INF falls with alpha, or with C, in most steps of the table."""
    means = means_of(trials, "inf", how, "test_clusters")
    states, alphas = sorted({n for n, _ in means}), sorted({alpha for _, alpha in means})
    lines = (
        [[means[n, alpha] for alpha in alphas] for n in states]
        if by == "alpha"
        else [[means[n, alpha] for n in states] for alpha in alphas]
    )
    names = [f"C={n}" for n in states] if by == "alpha" else [f"alpha={alpha:g}" for alpha in alphas]
    ours = "; ".join(
        f"{name}: {', '.join(f'{mean:.1f}' for mean in line)}" for name, line in zip(names, lines, strict=True)
    )
    claim = of_how(how, f"Table 3: INF has fewer clusters with a larger {by}")
    if len(lines[0]) < 2:
        return Claim(claim, "one setting only", None)
    return Claim(claim, ours, all(line[-1] < line[0] for line in lines))


def judge_active(trials: Trials, how: str, most: float) -> Claim:
    """MIX leaves most components empty at its best setting."""
    method = Method("mix", how, 2, 22)
    claim = of_how(how, "Table 3: the best MIX uses few of its 22 components (3.4)")
    if method not in trials.scores:
        return Claim(claim, "not run", None)
    mean = float(trials.scores[method].test_clusters.mean())
    return Claim(claim, f"{mean:.1f} have test trees on average", mean <= most)


def judge_split_class(how: str, best: tuple[Method, Run] | None, classes: np.ndarray) -> Claim:
    """The best infinite mixture has six clusters, and divides class 1."""
    claim = of_how(how, "6.2: the best INF has 6 clusters, class 1 in two of them")
    if best is None:
        return Claim(claim, "no run with two clusters", None)
    method, run = best
    n_clusters = np.unique(run.test).size
    counts = np.bincount(np.unique(run.test, return_inverse=True)[1].reshape(-1)[classes == 1], minlength=n_clusters)
    parts = int(np.sum(counts >= 0.1 * counts.sum()))
    ours = f"{method_name(method)}: {n_clusters} clusters, class 1 in {parts} (with a tenth of it at least)"
    return Claim(claim, ours, n_clusters == 6 and parts == 2)


def judge_gap(silhouettes: Sequence[float], sizes: Sequence[int], before: Sequence[float], least: float) -> Claim:
    """The gap cut of a hierarchy over too many components."""
    ours = "; ".join(
        f"{size} clusters, {own:.4f} (without the cut {first:.3f})"
        for size, own, first in zip(sizes, silhouettes, before, strict=True)
    )
    holds = all(own >= least for own in silhouettes)
    return Claim(f'ours: cut("gap") after a sparse start has a silhouette of at least {least:.2f}', ours, holds)

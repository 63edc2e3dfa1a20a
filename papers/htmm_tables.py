"""Stages, tables and pictures that both tree experiments have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.metrics import confusion_table
from bayesgrove.plot.settings_maps import write_cells
from papers.htmm_published import Grid
from papers.htmm_runs import HOW, Method, Run, Scores, TreeCase, columns, fit, mean_and_spread, score
from papers.outcome import Row, Tell

Draw = Callable[..., Any]
SETTING = {"root": "", "mix": "T", "inf": "alpha"}
"""What the second number of a method is."""


class Trials(NamedTuple):
    """Runs of methods and their scores."""

    runs: Mapping[Method, Sequence[Run]]
    scores: Mapping[Method, Scores]

    def mean(self, kind: str, how: str, n_states: int, setting: float, name: str = "test") -> float:
        """Mean of a score over runs that have it; nan for a method that was not run."""
        scores = self.scores.get(Method(kind, how, n_states, setting))
        return np.nan if scores is None else mean_and_spread(getattr(scores, name).astype(float))[0]


def methods_of(published: Mapping[str, Grid], states: Iterable[int], settings: Iterable[float]) -> list[Method]:
    """The methods of the paper's tables, as printed and exact, at some of its settings."""
    wanted, chosen = set(states), set(settings)
    places = [(kind, *place) for kind, grid in published.items() for place in grid]
    return [
        Method(kind, how, n_states, setting)
        for kind, n_states, setting in places
        if n_states in wanted and setting in chosen
        for how in HOW
    ]


def try_all(case: TreeCase, methods: Iterable[Method], n_runs: int, seed: int, tell: Tell) -> Trials:
    """Several runs of every method, with seeds in order."""
    runs, scores = {}, {}
    for method in methods:
        runs[method] = [fit(case, method, seed + number) for number in range(n_runs)]
        scores[method] = score(case, runs[method])
        test, seconds = mean_and_spread(scores[method].test)[0], scores[method].seconds.sum()
        tell(f"{case.name}: {method_name(method)}, {n_runs} runs: {test:.3f} ({seconds:.0f} s)")
    return Trials(runs, scores)


def method_name(method: Method) -> str:
    """A method in words."""
    parts = [method.kind.upper(), method.how, f"C={method.n_states}"]
    if SETTING[method.kind]:
        parts.append(f"{SETTING[method.kind]}={method.setting:g}")
    return " ".join([*parts, *([method.missing] if method.missing != "bottom_prior" else [])])


# Tables


def silhouette_rows(published: Mapping[str, Grid], trials: Trials) -> list[Row]:
    """Silhouettes of the test trees beside the paper's."""
    rows: list[Row] = []
    for kind, grid in published.items():
        for (n_states, setting), cell in grid.items():
            own = [Method(kind, how, n_states, setting) for how in HOW]
            if own[0] in trials.scores:
                row = {**place_columns(own[0]), "paper": str(cell)}
                rows.append(row | {k: v for m in own for k, v in columns(m.how, trials.scores[m]).items()})
    return rows


def cluster_rows(published: Mapping[str, Grid], trials: Trials) -> list[Row]:
    """Numbers of clusters with test trees beside the paper's."""
    rows: list[Row] = []
    for kind, grid in published.items():
        for (n_states, setting), cell in grid.items():
            own = [Method(kind, how, n_states, setting) for how in HOW]
            if own[0] in trials.scores:
                row = {**place_columns(own[0]), "paper": str(cell)}
                for method in own:
                    mean, spread = mean_and_spread(trials.scores[method].test_clusters.astype(float))
                    row |= {method.how: mean, f"{method.how}_sd": spread}
                    row |= {f"{method.how}_train": float(trials.scores[method].clusters.mean())}
                rows.append(row)
    return rows


def place_columns(method: Method) -> dict[str, Any]:
    """Model, states and setting."""
    return {"model": method.kind.upper(), "C": method.n_states, "setting": setting_name(method)}


def setting_name(method: Method) -> str:
    """T or alpha with its value."""
    return f"{SETTING[method.kind]}={method.setting:g}" if SETTING[method.kind] else ""


def our_row(scores: Scores, **settings: Any) -> Row:
    """Our fits of one setting: the worst run counts."""
    return {
        **settings,
        "runs": scores.test.size,
        "clusters": " ".join(map(str, scores.clusters.tolist())),
        "test": mean_and_spread(scores.test)[0],
        "test_least": float(np.min(scores.test)),
        "train": mean_and_spread(scores.train)[0],
        "ari": float(scores.ari.mean()),
        "ari_least": float(scores.ari.min()),
        "seconds": float(scores.seconds.mean()),
    }


def sweep_rows(trials: Trials, methods: Iterable[Method]) -> list[Row]:
    """Number of components after each sweep, mean over runs, a column for each method."""
    found = {method_name(method): np.mean([run.trace for run in trials.runs[method]], axis=0) for method in methods}
    n_sweeps = max((trace.size for trace in found.values()), default=0)
    return [
        {"sweep": sweep + 1, **{name: float(trace[sweep]) for name, trace in found.items()}}
        for sweep in range(n_sweeps)
    ]


def class_rows(name: str, labels: np.ndarray, classes: np.ndarray) -> list[Row]:
    """How many trees of each class each cluster has."""
    table = confusion_table(labels, classes)
    names = [f"class {own}" for own in table.classes.tolist()]
    return [
        {"model": name, "cluster": number, **dict(zip(names, counts, strict=True))}
        for number, counts in enumerate(table.counts.tolist())
    ]


def best_run(trials: Trials, kind: str, how: str) -> tuple[Method, Run] | None:
    """The run of the largest silhouette among the settings of a kind, of the setting with the largest mean."""
    means = {
        method: mean_and_spread(scores.test)[0]
        for method, scores in trials.scores.items()
        if (method.kind, method.how) == (kind, how) and np.isfinite(scores.test).any()
    }
    if not means:
        return None
    method = max(means, key=lambda own: means[own])
    return method, trials.runs[method][int(np.nanargmax(trials.scores[method].test))]


# Pictures


def trace_figure(trials: Trials, methods: Sequence[Method], title: str, measure: str) -> Draw:
    """Traces of all runs of some methods, a colour each."""
    lines = {method_name(method): [run.trace for run in trials.runs[method]] for method in methods}
    return partial(draw_traces, lines, title, measure)


def draw_traces(lines: Mapping[str, Sequence[np.ndarray]], title: str, measure: str, ax: Any) -> Any:
    """A thin line a run, named once."""
    for number, (name, traces) in enumerate(lines.items()):
        for which, trace in enumerate(traces):
            sweeps = np.arange(1, len(trace) + 1)
            ax.plot(sweeps, trace, color=f"C{number}", alpha=0.6, label=name if which == 0 else None)
    if measure == "components":
        ax.set_yscale("log")
    ax.set(xlabel="iteration", ylabel=measure, title=title)
    ax.legend()
    return ax


def class_figure(title: str, labels: np.ndarray, classes: np.ndarray) -> Draw:
    """Clusters by classes."""
    return partial(draw_classes, title, labels, classes)


def draw_classes(title: str, labels: np.ndarray, classes: np.ndarray, ax: Any) -> Any:
    """Shares of each class in colours, numbers of trees as text."""
    table = confusion_table(labels, classes)
    share = table.counts / table.counts.sum(axis=0)
    image = ax.imshow(share, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0.0, vmax=1.0)
    write_cells(ax, image, np.where(table.counts > 0, table.counts, np.nan), share, missing="")
    ax.set_xticks(np.arange(table.classes.size), [str(name) for name in table.classes])
    ax.set_yticks(np.arange(len(share)))
    ax.set(xlabel="class", ylabel="cluster", title=title)
    return ax

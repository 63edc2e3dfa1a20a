"""Slow, clear twin of the CrossCat sampler: its law over all cross-partitions, and every move of partitions.

A cross-partition is (views, rows): `views` the view of each column, `rows` one partition of the rows per view, all
numbered by first appearance. A move draws only by `choose(probabilities) -> index` (see `enumerate_moves`).
"""

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from reference import likelihoods as twins
from reference.enumerate_moves import Choose

Labels = tuple[int, ...]
State = tuple[Labels, tuple[Labels, ...]]
MODELS = {
    "bern": twins.bernoulli,
    "binom": twins.binomial,
    "cat": twins.categorical,
    "pois": twins.poisson,
    "nig": twins.gaussian,
}


class Model(NamedTuple):
    """A small table: cells by column (None is missing), each column's family and numbers, both concentrations."""

    columns: tuple[tuple[float | None, ...], ...]
    families: tuple[tuple, ...]
    alpha_rows: float
    alpha_columns: float

    @property
    def n_rows(self) -> int:
        return len(self.columns[0])


def model_of(values, families, alpha_rows, alpha_columns):
    """The model of a table given as rows, NaN or None a missing cell."""
    cells = [[None if x is None or math.isnan(x) else float(x) for x in row] for row in values]
    columns = tuple(zip(*cells, strict=True))
    return Model(columns, tuple(tuple(family) for family in families), alpha_rows, alpha_columns)


@cache
def partitions(n: int) -> tuple[Labels, ...]:
    """All partitions of n items, as labels by first appearance."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, k) for labels in found for k in range(max(labels) + 2)]
    return tuple(found)


def relabel(labels) -> Labels:
    """The same partition with labels by first appearance."""
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


def blocks(labels) -> list[list[int]]:
    """Items of each block."""
    return [[i for i, label in enumerate(labels) if label == k] for k in sorted(set(labels))]


def log_crp(labels, alpha: float) -> float:
    """Log probability under the Chinese restaurant process."""
    sizes = [len(block) for block in blocks(labels)]
    total = math.lgamma(alpha) - math.lgamma(len(labels) + alpha) + len(sizes) * math.log(alpha)
    return total + math.fsum(math.lgamma(size) for size in sizes)


@cache
def log_marginal(model: Model, j: int, rows: tuple[int, ...]) -> float:
    """lm_j of a set of rows; missing cells are not counted."""
    kind, *numbers = model.families[j]
    cells = [model.columns[j][i] for i in rows if model.columns[j][i] is not None]
    return MODELS[kind](cells, *numbers) if cells else 0.0


def log_column(model: Model, j: int, labels: Labels) -> float:
    """Log marginal of a column under row labels."""
    return math.fsum(log_marginal(model, j, tuple(block)) for block in blocks(labels))


def log_joint(model: Model, state: State) -> float:
    """The target (docs/theory/cross-clustering.md, CrossCat target), concentrations and columns' numbers fixed."""
    views, rows = state
    total = log_crp(views, model.alpha_columns) + sum(log_crp(labels, model.alpha_rows) for labels in rows)
    return total + math.fsum(log_column(model, j, rows[v]) for j, v in enumerate(views))


def all_states(model: Model) -> list[State]:
    """Every cross-partition: 4,065 of a 4 x 3 table."""
    return [
        (views, rows)
        for views in partitions(len(model.columns))
        for rows in itertools.product(partitions(model.n_rows), repeat=max(views) + 1)
    ]


class Law(NamedTuple):
    """States and their probabilities under p^beta."""

    states: list[State]
    probabilities: np.ndarray
    log_evidence: float


@cache
def law_of(model: Model, beta: float = 1.0) -> Law:
    """The exact law by enumeration."""
    states = all_states(model)
    logs = beta * np.array([log_joint(model, state) for state in states])
    log_evidence = float(np.logaddexp.reduce(logs))
    return Law(states, np.exp(logs - log_evidence), log_evidence)


@cache
def column_law(model: Model, beta: float = 1.0) -> dict[Labels, float]:
    """Law of the views alone: row partitions of the views are independent given the columns'."""
    logs = {}
    for views in partitions(len(model.columns)):
        logs[views] = beta * log_crp(views, model.alpha_columns) + sum(
            log_view(model, tuple(block), beta) for block in blocks(views)
        )
    top = float(np.logaddexp.reduce(list(logs.values())))
    return {views: math.exp(value - top) for views, value in logs.items()}


@cache
def log_view(model: Model, columns: tuple[int, ...], beta: float) -> float:
    """log of the sum over row partitions of (CRP(z) prod_j p(x_j | z))^beta."""
    logs = [
        beta * (log_crp(z, model.alpha_rows) + math.fsum(log_column(model, j, z) for j in columns))
        for z in partitions(model.n_rows)
    ]
    return float(np.logaddexp.reduce(logs))


# What moves share


def normal(views, rows) -> State:
    """The state in normal form; views nobody uses are left out."""
    order = list(dict.fromkeys(views))
    return tuple(order.index(v) for v in views), tuple(relabel(rows[v]) for v in order)


def proportional(logs) -> list[float]:
    """Probabilities proportional to exp(logs)."""
    top = max(logs)
    weights = [math.exp(value - top) for value in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


# Rows


def gibbs_row(model: Model, state: State, view: int, row: int, choose: Choose, beta: float = 1.0) -> State:
    """One row of one view leaves its cluster and joins one, or a new one."""
    views, rows = state
    labels = rows[view]
    options = [relabel((*labels[:row], k, *labels[row + 1 :])) for k in range(max(labels) + 2)]
    options = list(dict.fromkeys(options))
    columns = [j for j, v in enumerate(views) if v == view]

    def log_weight(z):
        return log_crp(z, model.alpha_rows) + math.fsum(log_column(model, j, z) for j in columns)

    chosen = options[choose(proportional([beta * log_weight(z) for z in options]))]
    return views, (*rows[:view], chosen, *rows[view + 1 :])


def split_merge(model: Model, state: State, view: int, choose: Choose, beta: float = 1.0) -> State:
    """Sequentially allocated split or merge of two anchors' clusters."""
    views, rows = state
    labels, n = rows[view], model.n_rows
    columns = [j for j, v in enumerate(views) if v == view]
    i = choose([1 / n] * n)
    j = choose([0.0 if k == i else 1 / (n - 1) for k in range(n)])
    others = [k for k in range(n) if k not in (i, j) and labels[k] in (labels[i], labels[j])]
    orders = list(itertools.permutations(others))
    order = orders[choose([1 / len(orders)] * len(orders))]
    together = labels[i] == labels[j]

    def log_weight(side):
        return math.lgamma(len(side)) + math.fsum(log_marginal(model, c, tuple(sorted(side))) for c in columns)

    sides, log_q = ([i], [j]), 0.0
    for k in order:
        gains = [beta * (log_weight([*side, k]) - log_weight(side)) for side in sides]
        chances = proportional(gains)
        side = choose(chances) if together else (0 if labels[k] == labels[i] else 1)
        log_q += gains[side] - float(np.logaddexp(*gains))
        sides[side].append(k)
    log_ratio = math.log(model.alpha_rows) + sum(map(log_weight, sides)) - log_weight([*sides[0], *sides[1]])
    log_ratio = beta * log_ratio - log_q
    if together:
        proposed = [max(labels) + 1 if k in sides[1] else label for k, label in enumerate(labels)]
    else:
        proposed, log_ratio = [labels[i] if label == labels[j] else label for label in labels], -log_ratio
    chance = math.exp(min(0.0, log_ratio))
    if choose([chance, 1.0 - chance]) == 1:
        return state
    return views, (*rows[:view], relabel(proposed), *rows[view + 1 :])


# Columns (docs/theory/cross-clustering.md, Column move)


def sequential_weights(model: Model, j: int, rows: list[list[int]], row: int) -> list[float]:
    """Probabilities of joining each cluster, and of a new one, of the sequential proposal."""
    weights = []
    for cluster in [*rows, []]:
        gain = log_marginal(model, j, (*cluster, row)) - log_marginal(model, j, tuple(cluster))
        weights.append((len(cluster) or model.alpha_rows) * math.exp(gain))
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def log_sequential(model: Model, j: int, labels: Labels) -> float:
    """log Q of proposal (ii)."""
    clusters: list[list[int]] = []
    total = 0.0
    for row, k in enumerate(relabel(labels)):
        total += math.log(sequential_weights(model, j, clusters, row)[k])
        if k == len(clusters):
            clusters.append([])
        clusters[k].append(row)
    return total


def log_proposal(model: Model, j: int, labels: Labels, kind: str) -> float:
    """log Q of either proposal."""
    return log_crp(labels, model.alpha_rows) if kind == "prior" else log_sequential(model, j, labels)


@cache
def proposal_law(model: Model, j: int, kind: str) -> tuple[tuple[Labels, ...], tuple[float, ...]]:
    """All partitions and their probabilities under Q."""
    found = partitions(model.n_rows)
    chances = [math.exp(log_proposal(model, j, labels, kind)) for labels in found]
    total = math.fsum(chances)
    return found, tuple(chance / total for chance in chances)


def column_move(
    model: Model, state: State, j: int, choose: Choose, *, kind="sequential", n_draws: int = 1, beta: float = 1.0
) -> State:
    """A column leaves its view and joins one, or one of `n_draws` new ones."""
    views, rows = state
    others = [v for c, v in enumerate(views) if c != j]
    alone = views[j] not in others
    labels, chances = proposal_law(model, j, kind)
    fresh = [rows[views[j]]] if alone else []
    while len(fresh) < n_draws:
        fresh.append(labels[choose(chances)])
    existing = sorted(set(others))
    logs = [beta * (math.log(others.count(v)) + log_column(model, j, rows[v])) for v in existing]
    for z in fresh:
        log_new = math.log(model.alpha_columns) + log_crp(z, model.alpha_rows) + log_column(model, j, z)
        logs.append(beta * log_new - log_proposal(model, j, z, kind) - math.log(n_draws))
    chosen = choose(proportional(logs))
    if chosen < len(existing):
        return normal((*views[:j], existing[chosen], *views[j + 1 :]), rows)
    return normal((*views[:j], len(rows), *views[j + 1 :]), (*rows, fresh[chosen - len(existing)]))


def column_among_existing(model: Model, state: State, j: int, choose: Choose, beta: float = 1.0) -> State:
    """A column that is not alone chooses among the views there are."""
    views, rows = state
    others = [v for c, v in enumerate(views) if c != j]
    if views[j] not in others:
        return state
    existing = sorted(set(others))
    logs = [beta * (math.log(others.count(v)) + log_column(model, j, rows[v])) for v in existing]
    return normal((*views[:j], existing[choose(proportional(logs))], *views[j + 1 :]), rows)


def swap(model: Model, pair: tuple[State, State], betas: tuple[float, float], choose: Choose) -> tuple[State, State]:
    """Neighbouring chains exchange their states."""
    gap = log_joint(model, pair[1]) - log_joint(model, pair[0])
    chance = math.exp(min(0.0, (betas[0] - betas[1]) * gap))
    return pair[::-1] if choose([chance, 1.0 - chance]) == 0 else pair


def pushed(law: Law, move: Callable[[State, Choose], State], outcomes) -> np.ndarray:
    """The law after one move, without a matrix."""
    index = {state: k for k, state in enumerate(law.states)}
    after = np.zeros(len(law.states))
    for state, probability in zip(law.states, law.probabilities, strict=True):
        for reached, chance in outcomes(lambda choose, state=state: move(state, choose)):
            after[index[reached]] += probability * chance
    return after

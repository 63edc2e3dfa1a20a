"""Slow, clear twin of the move that merges two views or divides one (`models/cross/mcmc_views`)."""

import itertools
import math

import numpy as np

from reference.crosscat import Labels, Model, State, log_column, log_crp, log_marginal, normal, proportional, relabel
from reference.enumerate_moves import Choose

MERGE_SHARE, LEAST_WEIGHT = 0.8, 0.01


def allocation_weights(model: Model, columns, clusters, row: int, beta: float) -> list[float]:
    """Probabilities of joining each cluster, and of a new one."""

    def log_weight(cluster):
        gains = [log_marginal(model, j, (*cluster, row)) - log_marginal(model, j, tuple(cluster)) for j in columns]
        return math.log(len(cluster) or model.alpha_rows) + math.fsum(gains)

    return proportional([beta * log_weight(cluster) for cluster in [*clusters, []]])


def allocate(model: Model, columns, order, beta: float, choose: Choose | None, labels=None) -> tuple[Labels, float]:
    """Rows put into clusters in an order, drawn or as `labels` have them; the labels and log Q."""
    clusters: list[list[int]] = []
    log_q = 0.0
    for row in order:
        chances = allocation_weights(model, columns, clusters, row, beta)
        if labels is None:
            k = choose(chances)
        else:
            k = next((c for c, cluster in enumerate(clusters) if labels[cluster[0]] == labels[row]), len(clusters))
        log_q += math.log(chances[k])
        if k == len(clusters):
            clusters.append([])
        clusters[k].append(row)
    place = {row: k for k, cluster in enumerate(clusters) for row in cluster}
    return relabel([place[row] for row in range(len(order))]), log_q


def adjusted_rand(first: Labels, second: Labels) -> float:
    """Agreement of two partitions, by counting pairs one by one."""
    pairs = list(itertools.combinations(range(len(first)), 2))
    one, two = ([labels[i] == labels[j] for i, j in pairs] for labels in (first, second))
    both = sum(a and b for a, b in zip(one, two, strict=True))
    chance = sum(one) * sum(two) / len(pairs)
    room = 0.5 * (sum(one) + sum(two)) - chance
    return (both - chance) / room if room > 0.0 else 0.0


def pair_weight(rows, pair) -> float:
    """How likely a pair of views is drawn, before normalisation."""
    return max(adjusted_rand(rows[pair[0]], rows[pair[1]]), 0.0) + LEAST_WEIGHT


def log_pair(rows, pair) -> float:
    """Log probability of drawing a pair of views."""
    total = math.fsum(pair_weight(rows, other) for other in itertools.combinations(range(len(rows)), 2))
    return math.log(pair_weight(rows, pair) / total)


def log_view(model: Model, columns, labels: Labels) -> float:
    """Rows and cells of one view."""
    return log_crp(labels, model.alpha_rows) + math.fsum(log_column(model, j, labels) for j in columns)


def members(views, v) -> list[int]:
    """Columns of a view."""
    return [j for j, view in enumerate(views) if view == v]


def log_ratio(model: Model, split: State, merged: State, pair, goal: int, log_qs, beta: float) -> float:
    """log r of the merge of a pair of views of `split` into view `goal` of `merged`."""
    one, two = (members(split[0], v) for v in pair)
    log_p = log_crp(merged[0], model.alpha_columns) - log_crp(split[0], model.alpha_columns)
    log_p += log_view(model, one + two, merged[1][goal])
    log_p -= sum(log_view(model, columns, split[1][v]) for columns, v in ((one, pair[0]), (two, pair[1])))
    log_whole, log_one, log_two = log_qs
    n_wide = sum(len(members(merged[0], v)) > 1 for v in range(len(merged[1])))
    log_split = math.log(1.0 - MERGE_SHARE) - math.log(n_wide) - (len(one + two) - 1) * math.log(2.0)
    return beta * log_p + log_split + log_one + log_two - math.log(MERGE_SHARE) - log_pair(split[1], pair) - log_whole


def accepted(choose: Choose, log_r: float) -> bool:
    chance = math.exp(min(0.0, log_r))
    return choose([chance, 1.0 - chance]) == 0


def draw_order(model: Model, choose: Choose):
    orders = list(itertools.permutations(range(model.n_rows)))
    return orders[choose([1 / len(orders)] * len(orders))]


def merge(model: Model, state: State, choose: Choose, beta: float) -> State:
    """Two views become one."""
    views, rows = state
    pairs = list(itertools.combinations(range(len(rows)), 2))
    weights = np.array([pair_weight(rows, pair) for pair in pairs])
    pair = pairs[choose((weights / weights.sum()).tolist())]
    order = draw_order(model, choose)
    one, two = (members(views, v) for v in pair)
    labels, log_whole = allocate(model, sorted(one + two), order, beta, choose)
    log_qs = (
        log_whole,
        allocate(model, one, order, beta, None, rows[pair[0]])[1],
        allocate(model, two, order, beta, None, rows[pair[1]])[1],
    )
    raw_views = [pair[0] if v == pair[1] else v for v in views]
    raw_rows = [labels if v == pair[0] else z for v, z in enumerate(rows)]
    after = normal(raw_views, raw_rows)
    goal = after[0][one[0]]
    return after if accepted(choose, log_ratio(model, state, after, pair, goal, log_qs, beta)) else state


def split(model: Model, state: State, choose: Choose, beta: float) -> State:
    """The columns of a view are divided."""
    views, rows = state
    wide = [v for v in range(len(rows)) if len(members(views, v)) > 1]
    if not wide:
        return state
    view = wide[choose([1 / len(wide)] * len(wide))]
    first, *others = members(views, view)
    gone = [j for j in others if choose([0.5, 0.5]) == 0]
    if not gone:
        return state
    order = draw_order(model, choose)
    stay = [first, *(j for j in others if j not in gone)]
    log_whole = allocate(model, [first, *others], order, beta, None, rows[view])[1]
    (kept, log_one), (new, log_two) = (allocate(model, side, order, beta, choose) for side in (stay, gone))
    raw_views = [len(rows) if j in gone else v for j, v in enumerate(views)]
    after = normal(raw_views, [*(kept if v == view else z for v, z in enumerate(rows)), new])
    pair = tuple(sorted((after[0][first], after[0][gone[0]])))
    in_order = (log_one, log_two) if after[0][first] == pair[0] else (log_two, log_one)
    log_r = log_ratio(model, after, state, pair, view, (log_whole, *in_order), beta)
    return after if accepted(choose, -log_r) else state


def split_merge_views(model: Model, state: State, choose: Choose, beta: float = 1.0) -> State:
    """One proposal."""
    if choose([MERGE_SHARE, 1.0 - MERGE_SHARE]) == 0:
        return merge(model, state, choose, beta) if len(state[1]) > 1 else state
    return split(model, state, choose, beta)

"""Greedy trees of the rows in a view: exact, one remembered partner per cluster, nothing allocated while growing.

The rule and its ties are those of Bayesian hierarchical clustering: the pair of largest log odds merges; scores are
compared after rounding to 2**-30, then the smallest first id, then the smallest second id wins. Each pair belongs to
the younger cluster, which remembers its best older partner; it looks again only when it is on top and its partner is
dead. Constants of single cells cancel in every score and are added when a tree is handed out.

The gain of a pair of rows (log marginal together minus apart) adds over columns, so that of a union of views is the sum
of theirs: the first half of every tree costs the same whatever the number of columns.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.row_scores import (
    Clusters,
    field_scores,
    load_rows,
    look_up,
    merge_fields,
    new_clusters,
    union_scores,
)
from bayesgrove.models.cross.view_table import COUNTED, ViewTable
from bayesgrove.stats.fastlog import SAFE_FLAGS
from bayesgrove.stats.special import log_add

TIE_SCALE = 2.0**30
NOBODY = 1e300
"""log q where no cluster is: no partner there can be the best."""
LEAST_HOLES = 12
PLACES = 16
"""Places come in multiples of a cache line of codes."""
NONE = -1e308
"""Key of an owner without a partner."""


class Bench(NamedTuple):
    """All that growing a row tree needs, to be used again and again by one thread."""

    clusters: Clusters
    sizes: np.ndarray
    """(places,) rows of the cluster at a place."""
    log_q: np.ndarray
    node: np.ndarray
    best: np.ndarray
    """(places,) id of the remembered partner."""
    key: np.ndarray
    """(places,) rounded score with it, NONE where there is none."""
    score: np.ndarray
    position: np.ndarray
    """(nodes,) place of a living node, NULL otherwise."""
    children: np.ndarray
    log_odds: np.ndarray
    node_log_q: np.ndarray
    node_log_d: np.ndarray
    log_weight: np.ndarray
    """(rows + 1,) log concentration + lgamma(size)."""


def many_holes(n_live: int) -> int:
    """When to close holes."""
    return max(LEAST_HOLES, n_live // 8)


def needs(table: ViewTable) -> tuple[np.ndarray, np.ndarray]:
    """Parts of each column, and whether it has fields."""
    return np.diff(table.part_start), (table.kind != COUNTED).astype(np.int64)


def new_bench(table: ViewTable, n_parts: int, n_fields: int, log_concentration: float) -> Bench:
    """Room to grow trees of views of so many parts and columns with fields."""
    n = table.n_rows
    n_places = -(-(n + many_holes(n) + 3) // PLACES) * PLACES
    n_nodes = 2 * n - 1
    weight = np.array([-np.inf] + [log_concentration + math.lgamma(size) for size in range(1, n + 1)])
    return Bench(
        clusters=new_clusters(n_parts, n_fields, n_places),
        sizes=np.ones(n_places, np.int64),
        log_q=np.full(n_places, NOBODY),
        node=np.full(n_places, NULL),
        best=np.full(n_places, NULL),
        key=np.full(n_places, NONE),
        score=np.zeros(n_places),
        position=np.full(n_nodes, NULL),
        children=np.zeros((n - 1, 2), np.int64),
        log_odds=np.zeros(n_nodes),
        node_log_q=np.zeros(n_nodes),
        node_log_d=np.zeros(n_nodes),
        log_weight=weight,
    )


def n_pairs(n_rows: int) -> int:
    """Length of a vector of gains."""
    return n_rows * (n_rows - 1) // 2


# Kernels use plain loops (assigning to slices takes seconds to compile) and pass the arrays they need only.


@kernel
def load_leaves(table, bench, columns):
    """Start from single rows."""
    load_rows(table, bench.clusters, columns)
    singles, log_one = table.singles, bench.log_weight[1]
    sizes, log_q, node, key, position = bench.sizes, bench.log_q, bench.node, bench.key, bench.position
    n = singles.shape[1]
    for p in range(node.size):
        sizes[p], log_q[p], node[p], key[p] = 1, NOBODY, NULL, NONE
    for i in range(n):
        node[i] = position[i] = i
        log_q[i] = log_one
        bench.node_log_d[i], bench.log_odds[i] = log_one, np.inf
    for column in columns:
        for i in range(n):
            log_q[i] += singles[column, i]
    for i in range(n):
        bench.node_log_q[i] = log_q[i]


@kernel
def pair_gains(table, bench, columns, out):
    """Gains of all pairs of rows in a view: pair (a < b) at b (b - 1) / 2 + a."""
    load_leaves(table, bench, columns)
    log_q, log_one, score = bench.log_q, bench.log_weight[1], bench.score
    for b in range(1, table.values.shape[1]):
        for a in range(b):
            score[a] = 0.0
        union_scores(table, bench.clusters, b, b, score)
        for a in range(b):
            out[b * (b - 1) // 2 + a] = score[a] - (log_q[a] - log_one) - (log_q[b] - log_one)


@kernel(inline="always")
def first_of_top(score, own_q, b):
    """Place of the first of the largest scores before place b, and the rounded score; (NULL, NONE) without any."""
    top = -NOBODY
    for a in range(b):
        top = max(top, score[a])
    rounded, found = NONE, NULL
    if top > -0.5 * NOBODY:
        rounded, found, nearly = np.rint((top - own_q) * TIE_SCALE), 0, top - 2.0 / TIE_SCALE
        while score[found] < nearly or np.rint((score[found] - own_q) * TIE_SCALE) < rounded:
            found += 1
    return found, rounded


@kernel(fastmath=SAFE_FLAGS)
def own_partners(table, bench):
    """First best partners from the rows themselves."""
    score, log_q, best, key = bench.score, bench.log_q, bench.best, bench.key
    for b in range(1, table.values.shape[1]):
        for a in range(b):
            score[a] = bench.log_weight[2] - log_q[a]
        union_scores(table, bench.clusters, b, b, score)
        best[b], key[b] = first_of_top(score, log_q[b], b)


@kernel(fastmath=SAFE_FLAGS)
def shared_partners(gains_a, gains_b, n, log_concentration, score, best, key):
    """First best partners from the gains of two views."""
    for b in range(1, n):
        start = b * (b - 1) // 2
        for a in range(b):
            score[a] = gains_a[start + a] + gains_b[start + a]
        best[b], key[b] = first_of_top(score, log_concentration, b)


@kernel(inline="always")
def top_owner(key, best, end):
    """Place of the owner whose pair comes first by (score, first id, second id); NULL: there is none."""
    top = NONE
    for p in range(end):
        top = max(top, key[p])
    winner = NULL
    if top > NONE:
        for p in range(end):
            if key[p] == top and (winner == NULL or best[p] < best[winner]):
                winner = p
    return winner


@kernel
def close_holes(codes, n_parts, fields, n_fields, node, end):
    """Move the statistics of the living clusters together, keeping their order."""
    for part in range(n_parts):
        at = 0
        for p in range(end):
            codes[part, at] = codes[part, p]
            at += node[p] != NULL
    for k in range(n_fields):
        for field in range(fields.shape[1]):
            at = 0
            for p in range(end):
                fields[k, field, at] = fields[k, field, p]
                at += node[p] != NULL


@kernel(fastmath=SAFE_FLAGS)
def merge_all(table, bench):
    """Merge until one cluster is left; owners must know their first partners.

    One function: handing arrays to others would cost more than what they do with them.
    """
    clusters, numbers = bench.clusters, table.table
    codes, code_table, fields = clusters.codes, clusters.code_table, clusters.fields
    n_parts, n_fields, n = clusters.used[0], clusters.used[1], table.values.shape[1]
    sizes, log_q, node, best, key, score = bench.sizes, bench.log_q, bench.node, bench.best, bench.key, bench.score
    position, log_weight, node_log_q, node_log_d = bench.position, bench.log_weight, bench.node_log_q, bench.node_log_d
    log_odds, children = bench.log_odds, bench.children
    end = live = n
    while live > 1:
        b = top_owner(key, best, end)
        if b == NULL:
            return NOT_FINITE
        a = position[best[b]]
        if a != NULL:
            id_a, id_b, id_c = node[a], node[b], 2 * n - live
            log_one = log_weight[sizes[a] + sizes[b]]
            for part in range(n_parts):
                codes[part, end] = codes[part, a] + codes[part, b]
                codes[part, a] = codes[part, b] = 0  # still looked up: must stay inside the tables
                log_one += numbers[code_table[part] + codes[part, end]]
            if n_fields > 0:
                log_one += merge_fields(table.kind, table.params, fields, clusters.field_column, n_fields, end, a, b)
            apart = log_q[a] + log_q[b]
            log_odds[id_c], node_log_q[id_c] = log_one - apart, log_add(log_one, apart)
            node_log_d[id_c] = log_add(log_weight[sizes[a] + sizes[b]], node_log_d[id_a] + node_log_d[id_b])
            children[id_c - n, 0], children[id_c - n, 1] = id_a, id_b
            sizes[end], log_q[end], node[end], position[id_c] = sizes[a] + sizes[b], node_log_q[id_c], id_c, end
            position[id_a] = position[id_b] = NULL
            for p in (a, b):
                sizes[p], log_q[p], node[p], key[p] = 1, NOBODY, NULL, NONE
            b, end, live = end, end + 1, live - 1
            if end - live > max(LEAST_HOLES, live // 8):
                close_holes(codes, n_parts, fields, n_fields, node, end)
                end = renumber(sizes, log_q, node, best, key, position, end)
                b = end - 1
        for p in range(b):
            score[p] = log_weight[sizes[b] + sizes[p]] - log_q[p]
        look_up(codes, code_table, n_parts, numbers, b, b, score)
        if n_fields > 0:
            field_scores(table.kind, table.params, fields, clusters.field_column, n_fields, b, b, score)
        partner, key[b] = first_of_top(score, log_q[b], b)
        best[b] = node[partner]
    return OK


@kernel
def renumber(sizes, log_q, node, best, key, position, end):
    """The rest of `close_holes`; gives back the new end."""
    free = 0
    for p in range(end):
        if node[p] != NULL:
            sizes[free], log_q[free], node[free] = sizes[p], log_q[p], node[p]
            best[free], key[free] = best[p], key[p]
            position[node[free]] = free
            free += 1
    for p in range(free, end):
        sizes[p], log_q[p], node[p], key[p] = 1, NOBODY, NULL, NONE
    return free


@kernel
def grow_rows(table, bench, columns, gains_a, gains_b):
    """The greedy tree of the rows in a view, left on the bench; gains of the two halves of the view, or empty."""
    n = table.values.shape[1]
    load_leaves(table, bench, columns)
    if gains_a.size > 0:
        shared_partners(gains_a, gains_b, n, bench.log_weight[1], bench.score, bench.best, bench.key)
    else:
        own_partners(table, bench)
    status = merge_all(table, bench)
    return status if math.isfinite(bench.node_log_q[2 * n - 2]) else NOT_FINITE


def require_finite(status: int) -> None:
    """Turn a kernel's status into an error."""
    if status != OK:
        raise NumericalError(
            "a tree of rows met log odds that are not finite. Check the prior's numbers against the scale of the data."
        )

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
from scipy.special import gammaln

from bayesgrove.agglomeration.ties import TIE_SCALE
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
from bayesgrove.stats.fastlog import SAFE_FLAGS, stand_alone
from bayesgrove.stats.special import log_add

NOBODY = 1e300
"""log q where no cluster is: no partner there can be the best."""
FORGOTTEN = 40.0
"""Log odds beyond which the smaller of two terms is lost in the larger."""
LEAST_HOLES = 12
LARGEST_STORED = 1024
"""Rows up to which scores are kept; they are then looked up where an owner has lost its partner."""
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
    offset: np.ndarray
    """(places,) what is taken off an owner's scores before they are compared."""
    slot: np.ndarray
    """(places,) row and column of `stored`; the last column, of no cluster, is -NOBODY."""
    stored: np.ndarray
    """(rows, rows + 1) scores of owners with older clusters, or (0, 0) where they are computed again at need."""
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


def log_weights(n: int, log_concentration: float) -> np.ndarray:
    """Log concentration + lgamma(size) for sizes 0 .. n + 1; the root looks up the last for slots that are dead."""
    return log_concentration + gammaln(np.maximum(np.arange(n + 2.0), 1.0))


def needs(table: ViewTable) -> tuple[np.ndarray, np.ndarray]:
    """Parts of each column, and whether it has fields."""
    return np.diff(table.part_start), (table.kind != COUNTED).astype(np.int64)


def new_bench(table: ViewTable, n_parts: int, n_fields: int, log_concentration: float) -> Bench:
    """Room to grow trees of views of so many parts and columns with fields."""
    n = table.n_rows
    n_places = -(-(n + many_holes(n) + 3) // PLACES) * PLACES
    n_nodes = 2 * n - 1
    return Bench(
        clusters=new_clusters(n_parts, n_fields, n_places),
        sizes=np.ones(n_places, np.int64),
        log_q=np.full(n_places, NOBODY),
        node=np.full(n_places, NULL),
        best=np.full(n_places, NULL),
        key=np.full(n_places, NONE),
        score=np.zeros(n_places),
        offset=np.zeros(n_places),
        slot=np.full(n_places, n),
        stored=np.full((n, n + 1) if n <= LARGEST_STORED else (0, 0), -NOBODY),
        position=np.full(n_nodes, NULL),
        children=np.zeros((n - 1, 2), np.int64),
        log_odds=np.zeros(n_nodes),
        node_log_q=np.zeros(n_nodes),
        node_log_d=np.zeros(n_nodes),
        log_weight=log_weights(n, log_concentration),
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
        sizes[p], log_q[p], node[p], key[p], bench.slot[p] = 1, NOBODY, NULL, NONE, n
    for i in range(n):
        node[i] = position[i] = bench.slot[i] = i
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
def first_of_top(score, offset, b):
    """Place of the first of the largest scores before place b, and the rounded score; (NULL, NONE) without any."""
    top = -NOBODY
    for a in range(b):
        top = score[a] if score[a] > top else top  # becomes vector code, unlike max
    rounded, found = NONE, NULL
    if top > -0.5 * NOBODY:
        rounded, found, nearly = np.rint((top - offset) * TIE_SCALE), 0, top - 2.0 / TIE_SCALE
        while score[found] < nearly or np.rint((score[found] - offset) * TIE_SCALE) < rounded:
            found += 1
    return found, rounded


@kernel(fastmath=SAFE_FLAGS)
def row_partners(table, bench):
    """First best partners from the rows themselves."""
    score, log_q, best, key, offset, stored = (
        bench.score,
        bench.log_q,
        bench.best,
        bench.key,
        bench.offset,
        bench.stored,
    )
    for b in range(1, table.values.shape[1]):
        for a in range(b):
            score[a] = bench.log_weight[2] - log_q[a]
        union_scores(table, bench.clusters, b, b, score)
        offset[b] = log_q[b]
        best[b], key[b] = first_of_top(score, offset[b], b)
        keep_scores(score, stored, b)


@kernel(inline="always")
def keep_scores(score, stored, b):
    """Store the scores of a single row with all before it."""
    if stored.shape[0] > 0:
        for a in range(b):
            stored[b, a] = score[a]


@kernel(fastmath=SAFE_FLAGS)
def gain_partners(gains, views, log_concentration, bench):
    """First best partners from the gains of some views or columns that make up the view."""
    stand_alone()
    score, best, key, offset, stored = bench.score, bench.best, bench.key, bench.offset, bench.stored
    for b in range(1, bench.children.shape[0] + 1):
        start = b * (b - 1) // 2
        first, second = gains[views[0]], gains[views[1]]
        for a in range(b):
            score[a] = first[start + a] + second[start + a]
        for k in range(2, views.size):
            more = gains[views[k]]
            for a in range(b):
                score[a] += more[start + a]
        offset[b] = log_concentration
        best[b], key[b] = first_of_top(score, log_concentration, b)
        keep_scores(score, stored, b)


@kernel(inline="always")
def top_owner(key, best, end):
    """Place of the owner whose pair comes first by (score, first id, second id); NULL: there is none."""
    top = NONE
    for p in range(end):
        top = key[p] if key[p] > top else top
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


@kernel
def renumber(bench, end):
    """The rest of `close_holes`; gives back the new end."""
    sizes, log_q, node, best, key = bench.sizes, bench.log_q, bench.node, bench.best, bench.key
    slot, offset, position, free = bench.slot, bench.offset, bench.position, 0
    for p in range(end):
        if node[p] != NULL:
            sizes[free], log_q[free], node[free] = sizes[p], log_q[p], node[p]
            best[free], key[free], slot[free], offset[free] = best[p], key[p], slot[p], offset[p]
            position[node[free]] = free
            free += 1
    for p in range(free, end):
        sizes[p], log_q[p], node[p], key[p], slot[p] = 1, NOBODY, NULL, NONE, bench.children.shape[0] + 1
    return free


@kernel(fastmath=SAFE_FLAGS)
def merge_all(table, bench):
    """Merge until one cluster is left; owners must know their first partners.

    One function, its arrays taken out first: handing them on would cost more than what is done with them.
    """
    stand_alone()
    clusters, numbers, kind, params, n = bench.clusters, table.table, table.kind, table.params, table.values.shape[1]
    codes, code_table, n_parts = clusters.codes, clusters.code_table, clusters.used[0]
    fields, field_column, n_fields = clusters.fields, clusters.field_column, clusters.used[1]
    sizes, log_q, node, best, key, score = bench.sizes, bench.log_q, bench.node, bench.best, bench.key, bench.score
    position, log_weight, slot, stored, offset = (
        bench.position,
        bench.log_weight,
        bench.slot,
        bench.stored,
        bench.offset,
    )
    children, log_odds, node_log_q, node_log_d = bench.children, bench.log_odds, bench.node_log_q, bench.node_log_d
    end = live = n
    while live > 1:
        b = top_owner(key, best, end)
        if b == NULL:
            return NOT_FINITE
        a = position[best[b]]
        is_known = a == NULL and stored.shape[0] > 0
        if a != NULL:
            id_a, id_b, c, id_c, size = node[a], node[b], end, 2 * n - live, sizes[a] + sizes[b]
            log_one, apart = log_weight[size], log_q[a] + log_q[b]
            for part in range(n_parts):
                codes[part, c] = codes[part, a] + codes[part, b]
                codes[part, a] = codes[part, b] = 0  # still looked up: must stay inside the tables
                log_one += numbers[code_table[part] + codes[part, c]]
            if n_fields > 0:
                log_one += merge_fields(kind, params, fields, field_column, n_fields, c, a, b)
            log_odds[id_c], log_q[c] = log_one - apart, max(log_one, apart)
            if abs(log_one - apart) < FORGOTTEN:
                log_q[c] = log_add(log_one, apart)
            node_log_q[id_c] = offset[c] = log_q[c]
            node_log_d[id_c] = log_add(log_weight[size], node_log_d[id_a] + node_log_d[id_b])
            children[id_c - n, 0], children[id_c - n, 1] = id_a, id_b
            sizes[c], node[c], slot[c], position[id_c] = size, id_c, slot[a], c
            position[id_a] = position[id_b] = NULL
            for p in (a, b):
                sizes[p], log_q[p], node[p], key[p], slot[p] = 1, NOBODY, NULL, NONE, n
            b, end, live = c, end + 1, live - 1
            if end - live > max(LEAST_HOLES, live // 8):
                close_holes(codes, n_parts, fields, n_fields, node, end)
                end = renumber(bench, end)
                b = end - 1
        row = slot[b]
        if is_known:
            for p in range(b):
                score[p] = stored[row, slot[p]]
        else:
            for p in range(b):
                score[p] = log_weight[sizes[b] + sizes[p]] - log_q[p]
            look_up(codes, code_table, n_parts, numbers, b, b, score)
            if n_fields > 0:
                field_scores(kind, params, fields, field_column, n_fields, b, b, score)
            if stored.shape[0] > 0:
                for p in range(b):
                    stored[row, slot[p]] = score[p]
        partner, key[b] = first_of_top(score, offset[b], b)
        best[b] = node[partner]
    return OK


@kernel
def grow_rows(table, bench, columns, gains, views):
    """The greedy tree of the rows in a view, left on the bench.

    `gains` are those of some views, of which `views` (at least two) make up the view; without any, first scores come
    from the rows themselves.
    """
    n = table.values.shape[1]
    load_leaves(table, bench, columns)
    if gains.shape[1] > 0 and views.size > 1:
        gain_partners(gains, views, bench.log_weight[1], bench)
    else:
        row_partners(table, bench)
    status = merge_all(table, bench)
    return status if math.isfinite(bench.node_log_q[2 * n - 2]) else NOT_FINITE


def require_finite(status: int) -> None:
    """Turn a kernel's status into an error."""
    if status != OK:
        raise NumericalError(
            "a tree of rows met log odds that are not finite. Check the prior's numbers against the scale of the data."
        )

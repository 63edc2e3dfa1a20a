"""Trees of the rows in a view: agglomerative, one remembered partner per cluster, nothing allocated while growing.

The pair of the highest score merges, by one of the two orders of `row_partners`. Scores are compared after rounding to
2**-30, then the smallest first id, then the smallest second id wins. Each pair belongs to the younger cluster, which
remembers its best older partner; it looks again only when it is on top and its partner is dead. Constants of single
cells cancel in every score and are added when a tree is handed out. Whatever the order, q, d and the log odds of the
nodes are those of Bayesian hierarchical clustering, and q of the root gives a bound.

It stands beside `agglomeration.agglomerate`, which serves any likelihood, because searches for views grow thousands of
small trees of mixed columns: over 300 rows in 12 yes/no columns one takes 0.5 ms here and 100 ms there, in 12 Gaussian
columns 2.4 and 77 ms (CPU).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.cross.other_columns import close_row_holes, merge_others, new_rows, other_scores
from bayesgrove.models.cross.row_partners import (
    NOBODY,
    NONE,
    PLACES,
    begin_scores,
    first_of_top,
    gain_partners,
    row_partners,
    temper_scores,
    whole_turns,
)
from bayesgrove.models.cross.row_scores import (
    Clusters,
    field_scores,
    load_rows,
    look_up,
    merge_fields,
    new_clusters,
    union_scores,
)
from bayesgrove.models.cross.view_table import COUNTED, OTHER, ViewTable
from bayesgrove.stats.fastlog import SAFE_FLAGS, stand_alone
from bayesgrove.stats.special import log_add

FORGOTTEN = 40.0
"""Log odds beyond which the smaller of two terms is lost in the larger."""
LEAST_HOLES = 12
LARGEST_STORED = 1024
"""Rows up to which scores are kept; they are then looked up where an owner has lost its partner."""
PLACE_BITS = 31
NO_OWNER = (1 << 62) - 1
"""A partner's id and the owner's place are compared as one number."""


class Bench(NamedTuple):
    """All that growing a row tree needs, to be used again and again by one thread."""

    clusters: Clusters
    sizes: np.ndarray
    """(places,) rows of the cluster at a place; unsigned, as `slot`: indices below 0 need not be looked for."""
    share: np.ndarray
    """(places,) 1 / sizes."""
    base: np.ndarray
    """(places,) what scores with the cluster at a place are compared to: its log q or, tempered, its log marginal."""
    node: np.ndarray
    best: np.ndarray
    """(places,) id of the remembered partner."""
    key: np.ndarray
    """(places,) rounded score with it, NONE where there is none."""
    score: np.ndarray
    """(places and PLACES more,) of the owner that looks for a partner, -NOBODY from its own place on."""
    offset: np.ndarray
    """(places,) what is taken off an owner's scores before they are compared."""
    slot: np.ndarray
    """(places,) row and column of `stored`; the last column, of no cluster, is -NOBODY."""
    stored: np.ndarray
    """(rows, rows + 1) scores of owners with older clusters, or (0, 0) where they are computed again at need."""
    position: np.ndarray
    """(nodes,) place of a living node, NULL otherwise."""
    living: np.ndarray
    """(places,) room for the places in use."""
    children: np.ndarray
    log_odds: np.ndarray
    node_log_q: np.ndarray
    node_log_d: np.ndarray
    log_weight: np.ndarray
    """(rows + 1,) log concentration + lgamma(size)."""
    is_tempered: bool
    """Whether pairs merge in the size-tempered order, otherwise in that of the log odds."""


def many_holes(n_live: int) -> int:
    """When to close holes."""
    return max(LEAST_HOLES, n_live // 8)


def log_weights(n: int, log_concentration: float) -> np.ndarray:
    """Log concentration + lgamma(size) for sizes 0 .. n + 1; the root looks up the last for slots that are dead."""
    return log_concentration + gammaln(np.maximum(np.arange(n + 2.0), 1.0))


def needs(table: ViewTable) -> tuple[np.ndarray, np.ndarray]:
    """Parts of each column, and whether it has fields."""
    return np.diff(table.part_start), ((table.kind != COUNTED) & (table.kind != OTHER)).astype(np.int64)


def new_bench(table: ViewTable, n_parts: int, n_fields: int, log_concentration: float, *, is_tempered: bool) -> Bench:
    """Room to grow trees of views of so many parts and columns with fields."""
    n = table.n_rows
    n_places = -(-(n + many_holes(n) + 3) // PLACES) * PLACES
    n_nodes = 2 * n - 1
    return Bench(
        clusters=new_clusters(n_parts, n_fields, n_places, new_rows(table.kind, table.width, n_places)),
        sizes=np.ones(n_places, np.uint32),
        share=np.ones(n_places),
        base=np.full(n_places, NOBODY),
        node=np.full(n_places, NULL),
        best=np.full(n_places, NULL),
        key=np.full(n_places, NONE),
        score=np.full(n_places + PLACES, -NOBODY),
        offset=np.zeros(n_places),
        slot=np.full(n_places, n, np.uint32),
        stored=np.full((n, n + 1) if n <= LARGEST_STORED else (0, 0), -NOBODY),
        position=np.full(n_nodes, NULL),
        living=np.zeros(n_places, np.uint32),
        children=np.zeros((n - 1, 2), np.int64),
        log_odds=np.zeros(n_nodes),
        node_log_q=np.zeros(n_nodes),
        node_log_d=np.zeros(n_nodes),
        log_weight=log_weights(n, log_concentration),
        is_tempered=is_tempered,
    )


def n_pairs(n_rows: int) -> int:
    """Length of a vector of gains."""
    return n_rows * (n_rows - 1) // 2


# Kernels use plain loops (assigning to slices takes seconds to compile) and pass the arrays they need only.


@borrower
def load_leaves(table, bench, columns):
    """Start from single rows."""
    load_rows(table, bench.clusters, columns)
    singles, log_one = table.singles, bench.log_weight[1]
    sizes, base, node, key, position = bench.sizes, bench.base, bench.node, bench.key, bench.position
    n, log_q = singles.shape[1], bench.node_log_q
    for p in range(node.size):
        sizes[p], base[p], node[p], key[p], bench.slot[p] = 1, NOBODY, NULL, NONE, n
        bench.share[p] = 1.0
    for p in range(bench.score.size):
        bench.score[p] = -NOBODY
    for i in range(n):
        node[i] = position[i] = bench.slot[i] = i
        bench.node_log_d[i] = log_q[i] = log_one
        bench.log_odds[i] = np.inf
    for column in columns:
        for i in range(n):
            log_q[i] += singles[column, i]
    for i in range(n):
        base[i] = log_q[i] - log_one if bench.is_tempered else log_q[i]


@kernel
def pair_gains(table, bench, columns, out):
    """Gains of all pairs of rows in a view: pair (a < b) at b (b - 1) / 2 + a."""
    load_leaves(table, bench, columns)
    log_q, log_one, score = bench.node_log_q, bench.log_weight[1], bench.score
    for b in range(1, table.values.shape[1]):
        for a in range(b):
            score[a] = 0.0
        union_scores(table, bench.clusters, b, b, score)
        for a in range(b):
            out[b * (b - 1) // 2 + a] = score[a] - (log_q[a] - log_one) - (log_q[b] - log_one)


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def top_owner(key, best, end):
    """Place of the owner whose pair comes first by (score, first id, second id); NULL: there is none."""
    stand_alone()
    top, turns = NONE, whole_turns(end)
    for p in range(turns):
        top = key[p] if key[p] > top else top
    if top == NONE:
        return NULL
    first = NO_OWNER
    for p in range(turns):
        pair = (best[p] << PLACE_BITS) | p if key[p] == top else NO_OWNER
        first = pair if pair < first else first
    return first & (1 << PLACE_BITS) - 1


@borrower
def list_living(node, end, living):
    """Write the places of living clusters in their order."""
    at = 0
    for p in range(end):
        living[at] = p
        at += node[p] != NULL


@borrower
def close_holes(codes, n_parts, fields, n_fields, living, live):
    """Move the statistics of the living clusters together, keeping their order."""
    for part in range(n_parts):
        for at in range(live):
            codes[part, at] = codes[part, living[at]]
    for k in range(n_fields):
        for field in range(fields.shape[1]):
            for at in range(live):
                fields[k, field, at] = fields[k, field, living[at]]


@borrower
def renumber(bench, live, end):
    """The rest of `close_holes`."""
    sizes, base, node, best, key = bench.sizes, bench.base, bench.node, bench.best, bench.key
    slot, offset, position, living, share = bench.slot, bench.offset, bench.position, bench.living, bench.share
    for at in range(live):
        p = living[at]
        sizes[at], base[at], slot[at], offset[at] = sizes[p], base[p], slot[p], offset[p]
    for at in range(live):
        p = living[at]
        best[at], key[at], node[at], share[at] = best[p], key[p], node[p], share[p]
        position[node[at]] = at
    for p in range(live, end):
        sizes[p], base[p], node[p], key[p], slot[p] = 1, NOBODY, NULL, NONE, bench.children.shape[0] + 1
        share[p] = 1.0


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def merge_all(table, bench):
    """Merge until one cluster is left; owners must know their first partners.

    One function, its arrays taken out first: handing them on would cost more than what is done with them.
    """
    stand_alone()
    clusters, numbers, kind, params, n = bench.clusters, table.table, table.kind, table.params, table.values.shape[1]
    codes, code_table, n_parts = clusters.codes, clusters.code_table, clusters.used[0]
    fields, field_column, n_fields = clusters.fields, clusters.field_column, clusters.used[1]
    rows, other_column, n_others = clusters.rows, clusters.other_column, clusters.used[2]
    sizes, base, node, best, key, score = bench.sizes, bench.base, bench.node, bench.best, bench.key, bench.score
    position, log_weight, slot, stored, offset, living = (
        bench.position,
        bench.log_weight,
        bench.slot,
        bench.stored,
        bench.offset,
        bench.living,
    )
    children, log_odds, node_log_q, node_log_d = bench.children, bench.log_odds, bench.node_log_q, bench.node_log_d
    is_tempered, share = bench.is_tempered, bench.share
    end = live = n
    while live > 1:
        b = top_owner(key, best, end)
        if b == NULL:
            return NOT_FINITE
        a = position[best[b]]
        is_known = a == NULL and stored.shape[0] > 0
        if a != NULL:
            id_a, id_b, c, id_c, size = node[a], node[b], end, 2 * n - live, sizes[a] + sizes[b]
            log_one, apart = log_weight[size], node_log_q[id_a] + node_log_q[id_b]
            for part in range(n_parts):
                codes[part, c] = codes[part, a] + codes[part, b]
                codes[part, a] = codes[part, b] = 0  # still looked up: must stay inside the tables
                log_one += numbers[code_table[part] + codes[part, c]]
            if n_fields > 0:
                log_one += merge_fields(kind, params, fields, field_column, n_fields, c, a, b)
            if n_others > 0:
                log_one += merge_others(table, rows, other_column, n_others, c, a, b)
            log_odds[id_c], node_log_q[id_c] = log_one - apart, max(log_one, apart)
            if abs(log_one - apart) < FORGOTTEN:
                node_log_q[id_c] = log_add(log_one, apart)
            base[c] = log_one - log_weight[size] if is_tempered else node_log_q[id_c]
            offset[c] = 0.0 if is_tempered else base[c]
            node_log_d[id_c] = log_add(log_weight[size], node_log_d[id_a] + node_log_d[id_b])
            children[id_c - n, 0], children[id_c - n, 1] = id_a, id_b
            sizes[c], node[c], slot[c], position[id_c] = size, id_c, slot[a], c
            share[c] = 1.0 / size
            position[id_a] = position[id_b] = NULL
            for p in (a, b):
                sizes[p], base[p], node[p], key[p], slot[p] = 1, NOBODY, NULL, NONE, n
                share[p] = 1.0
            b, end, live = c, end + 1, live - 1
            if end - live > max(LEAST_HOLES, live // 8):
                list_living(node, end, living)
                close_holes(codes, n_parts, fields, n_fields, living, live)
                close_row_holes(rows, n_others, living, live)
                renumber(bench, live, end)
                b, end = live - 1, live
        row = slot[b]
        if is_known:
            for p in range(b):
                score[p] = stored[row, slot[p]]
        else:
            begin_scores(score, base, sizes, log_weight, is_tempered, b)
            look_up(codes, code_table, n_parts, numbers, b, b, score)
            if n_fields > 0:
                field_scores(kind, params, fields, field_column, n_fields, b, b, score)
            if n_others > 0:
                other_scores(table, rows, other_column, n_others, b, b, score)
            if is_tempered:
                temper_scores(score, share, b)
            if stored.shape[0] > 0:
                for p in range(b):
                    stored[row, slot[p]] = score[p]
        for p in range(b, b + PLACES):
            score[p] = -NOBODY
        partner, key[b] = first_of_top(score, offset[b], b)
        best[b] = node[partner]
    return OK


@borrower
def grow_rows(table, bench, columns, gains, views):
    """The tree of the rows in a view, left on the bench.

    `gains` are those of some views, of which `views` (at least two) make up the view; without any, first scores come
    from the rows themselves.
    """
    n = table.values.shape[1]
    load_leaves(table, bench, columns)
    if gains.shape[1] > 0 and views.size > 1:
        gain_partners(gains, views, bench)
    else:
        row_partners(table, bench)
    status = merge_all(table, bench)
    return status if math.isfinite(bench.node_log_q[2 * n - 2]) else NOT_FINITE


def require_finite(status: int) -> None:
    """Turn a kernel's status into an error."""
    if status != OK:
        raise NumericalError(
            "a tree of rows met log odds that are not finite. Check the hyperparameters against the scale of the data."
        )

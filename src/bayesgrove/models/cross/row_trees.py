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
from bayesgrove.core.jit import borrower, kernel
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
PLACES = 32
"""Places come in multiples of what one turn of a vector loop takes: single numbers left over cost more than the rest.

Places that are not in use are searched, too, and hold what cannot win."""
NONE = -1e308
"""Key of an owner without a partner."""
PLACE_BITS = 31
NO_OWNER = (1 << 62) - 1
"""A partner's id and the owner's place are compared as one number."""


class Bench(NamedTuple):
    """All that growing a row tree needs, to be used again and again by one thread."""

    clusters: Clusters
    sizes: np.ndarray
    """(places,) rows of the cluster at a place; unsigned, as `slot`: indices below 0 need not be looked for."""
    log_q: np.ndarray
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
        sizes=np.ones(n_places, np.uint32),
        log_q=np.full(n_places, NOBODY),
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
    sizes, log_q, node, key, position = bench.sizes, bench.log_q, bench.node, bench.key, bench.position
    n = singles.shape[1]
    for p in range(node.size):
        sizes[p], log_q[p], node[p], key[p], bench.slot[p] = 1, NOBODY, NULL, NONE, n
    for p in range(bench.score.size):
        bench.score[p] = -NOBODY
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
def whole_turns(end):
    """The places before `end` and those that fill the last turn of a vector loop."""
    return (end + PLACES - 1) // PLACES * PLACES


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def first_of_top(score, offset, b):
    """Place of the first of the largest scores before place b, and the rounded score; (NULL, NONE) without any.

    Scores from b on, as far as the turn goes, are -NOBODY.
    """
    stand_alone()
    top, end = -NOBODY, whole_turns(b)
    for a in range(end):
        top = score[a] if score[a] > top else top  # becomes vector code, unlike max
    rounded, found = NONE, NULL
    if top > -0.5 * NOBODY:
        nearly, found = top - 2.0 / TIE_SCALE, end
        for a in range(end):
            place = a if score[a] >= nearly else end
            found = place if place < found else found
        rounded = np.rint((top - offset) * TIE_SCALE)
        while score[found] < nearly or np.rint((score[found] - offset) * TIE_SCALE) < rounded:
            found += 1
    return found, rounded


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
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


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def gain_partners(gains, views, log_concentration, bench):
    """First best partners from the gains of some views or columns that make up the view."""
    stand_alone()
    score, best, key, offset, stored = bench.score, bench.best, bench.key, bench.offset, bench.stored
    first, second = gains[views[0]], gains[views[1]]
    for b in range(1, bench.children.shape[0] + 1):
        start = b * (b - 1) // 2
        for a in range(b):
            score[a] = first[start + a] + second[start + a]
        for k in range(2, views.size):
            view = views[k]
            for a in range(b):
                score[a] += gains[view, start + a]
        offset[b] = log_concentration
        best[b], key[b] = first_of_top(score, log_concentration, b)
        keep_scores(score, stored, b)


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
    sizes, log_q, node, best, key = bench.sizes, bench.log_q, bench.node, bench.best, bench.key
    slot, offset, position, living = bench.slot, bench.offset, bench.position, bench.living
    for at in range(live):
        p = living[at]
        sizes[at], log_q[at], slot[at], offset[at] = sizes[p], log_q[p], slot[p], offset[p]
    for at in range(live):
        p = living[at]
        best[at], key[at], node[at] = best[p], key[p], node[p]
        position[node[at]] = at
    for p in range(live, end):
        sizes[p], log_q[p], node[p], key[p], slot[p] = 1, NOBODY, NULL, NONE, bench.children.shape[0] + 1


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def merge_all(table, bench):
    """Merge until one cluster is left; owners must know their first partners.

    One function, its arrays taken out first: handing them on would cost more than what is done with them.
    """
    stand_alone()
    clusters, numbers, kind, params, n = bench.clusters, table.table, table.kind, table.params, table.values.shape[1]
    codes, code_table, n_parts = clusters.codes, clusters.code_table, clusters.used[0]
    fields, field_column, n_fields = clusters.fields, clusters.field_column, clusters.used[1]
    sizes, log_q, node, best, key, score = bench.sizes, bench.log_q, bench.node, bench.best, bench.key, bench.score
    position, log_weight, slot, stored, offset, living = (
        bench.position,
        bench.log_weight,
        bench.slot,
        bench.stored,
        bench.offset,
        bench.living,
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
                list_living(node, end, living)
                close_holes(codes, n_parts, fields, n_fields, living, live)
                renumber(bench, live, end)
                b, end = live - 1, live
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
        for p in range(b, b + PLACES):
            score[p] = -NOBODY
        partner, key[b] = first_of_top(score, offset[b], b)
        best[b] = node[partner]
    return OK


@borrower
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

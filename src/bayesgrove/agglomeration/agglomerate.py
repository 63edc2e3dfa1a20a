"""Greedy agglomeration by log odds or in the size-tempered order, exact, with one remembered partner per cluster.

Each pair (a, b) is owned by the younger cluster b. An owner remembers its best older partner only. Older clusters never
gain candidates, so a remembered score is an upper bound even after the partner has died: the owner on top is rescanned
only when its partner is dead. Clusters stand in order of their ids; a merged one is appended, holes are closed now and
then. Ties: scores are rounded to 2**-30, then the smallest first id, then the smallest second id wins.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.scorers import LANES, NOBODY, Clusters, block_scores, fill_lane
from bayesgrove.agglomeration.ties import rounded
from bayesgrove.core.constants import NOT_FINITE, NULL, OK
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.likelihoods.contract import log_marginal, merge
from bayesgrove.stats.special import log_add

OWNERS_AT_ONCE = 64
CACHE_LINE = 64
SINGLE_ULP = 2.0**-23
END, LIVE, DONE, EVALUATIONS, ATOMS = 0, 1, 2, 3, 4
"""Counters: first free place, living clusters, merges done, scores evaluated, clusters at the start."""


class Steps(NamedTuple):
    """What `advance` does."""

    loads: bool = False
    """Start from the atoms."""
    first_owner: int = 0
    last_owner: int = 0
    """Leaves whose best older partner is looked for."""
    n_merges: int = 0


class Agglomeration(NamedTuple):
    """Everything the next merge needs, and the tree so far (nodes by id: leaves first, then merges in order)."""

    clusters: Clusters
    node: np.ndarray
    """(capacity,) id of the cluster at a position, NULL where there is none."""
    best: np.ndarray
    """(capacity,) id of the remembered partner."""
    key: np.ndarray
    """(capacity,) rounded score with it; -inf: no older cluster is left."""
    tile_key: np.ndarray
    """(capacity / 64,) largest key in each tile."""
    scores: np.ndarray
    """(n_slots, n_slots) all scores by slot, or (0, 0) when they are computed again at need."""
    slot: np.ndarray
    """(n_nodes,) row of `scores` a node uses."""
    position: np.ndarray
    """(n_nodes,) position of a living node, NULL otherwise."""
    children: np.ndarray
    log_odds: np.ndarray
    log_q: np.ndarray
    log_d: np.ndarray
    counters: np.ndarray


def capacity_for(n_atoms: int) -> int:
    """Places that never run out: holes are closed when they are many."""
    return -(-(n_atoms + many_holes(n_atoms) + 2) // LANES) * LANES


@kernel
def many_holes(n_live):
    """When to close holes: moving n clusters now and then costs least for about the square root of n of them."""
    return max(LANES, int(8.0 * math.sqrt(n_live)))


def aligned_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros that start at a cache line: vector loads that straddle two lines take twice as long."""
    size = math.prod(shape)
    raw = np.zeros(size + CACHE_LINE // 8)
    start = -(raw.ctypes.data // 8) % (CACHE_LINE // 8)
    return raw[start : start + size].reshape(shape)


def new_agglomeration(n_atoms: int, n_stats: int, n_scorer_fields: int, scores: str = "light") -> Agglomeration:
    """Room for up to `n_atoms` clusters; `load` fills it."""
    capacity = capacity_for(n_atoms)
    side = 0 if scores == "light" else n_atoms
    n_nodes = 2 * n_atoms - 1
    return Agglomeration(
        clusters=Clusters(
            rows=np.zeros((capacity, n_stats)),
            tiles=aligned_zeros((capacity // LANES, n_scorer_fields, LANES)),
            sizes=aligned_zeros((capacity,)),
            base=aligned_zeros((capacity,)),
        ),
        node=np.zeros(capacity, np.int64),
        best=np.zeros(capacity, np.int64),
        key=np.zeros(capacity),
        tile_key=np.zeros(capacity // LANES),
        scores=np.empty((side, side), np.float32 if scores == "matrix32" else np.float64),
        slot=np.zeros(n_nodes, np.int64),
        position=np.zeros(n_nodes, np.int64),
        children=np.zeros((n_atoms - 1, 2), np.int64),
        log_odds=np.zeros(n_nodes),
        log_q=np.zeros(n_nodes),
        log_d=np.zeros(n_nodes),
        counters=np.zeros(5, np.int64),
    )


# Kernels here use plain loops: assigning to slices of arrays takes seconds to compile.


@kernel
def load(scorer, state, prior, rows, sizes, log_q, log_d):
    """Start from these clusters."""
    clusters, n = state.clusters, sizes.size
    all_rows, all_sizes, base = clusters.rows, clusters.sizes, clusters.base
    node, slot, position, width = state.node, state.slot, state.position, rows.shape[1]
    for p in range(node.size):
        clear_place(clusters.tiles, base, node, state.best, state.key, p)
        all_sizes[p] = 1.0
    for i in range(n):
        for s in range(width):
            all_rows[i, s] = rows[i, s]
        all_sizes[i] = sizes[i]
        base[i] = log_marginal(prior, rows[i]) if scorer.tempered else log_q[i]
        node[i] = position[i] = slot[i] = i
        fill_lane(scorer, clusters, i)
        state.log_odds[i], state.log_q[i], state.log_d[i] = np.inf, log_q[i], log_d[i]
    for tile in range(state.tile_key.size):
        state.tile_key[tile] = -np.inf
    state.counters[END] = state.counters[LIVE] = state.counters[ATOMS] = n
    state.counters[DONE], state.counters[EVALUATIONS] = 0, n * (n - 1) // 2


@borrower
def clear_place(tiles, base, node, best, key, p):
    """No cluster and no owner at position p; zeros in its lane, so that what a scorer computes there is finite.

    Its size stays as it was, so that tiles of single rows stay alike.
    """
    base[p], node[p], best[p], key[p] = NOBODY, NULL, NULL, -np.inf
    for field in range(tiles.shape[1]):
        tiles[p // LANES, field, p % LANES] = 0.0


@kernel
def first_partners(scorer, state, first_owner, last_owner):
    """Best older partner of each of a range of leaves; ranges are independent, so threads may share the work."""
    best, key, scores = state.best, state.key, state.scores
    out, top = np.empty((OWNERS_AT_ONCE, LANES)), np.empty((OWNERS_AT_ONCE, 1))
    for low in range(first_owner, last_owner, OWNERS_AT_ONCE):
        high = min(low + OWNERS_AT_ONCE, last_owner)
        for tile in range((high + LANES - 1) // LANES):
            block_scores(scorer, state.clusters, low, high, tile, tile + 1, out, top)
            for b in range(max(low, LANES * tile + 1), high):
                n_older = min(LANES, b - LANES * tile)
                if rounded(top[b - low, 0]) > key[b]:  # the top may be younger: look at the older ones
                    for lane in range(n_older):
                        score = rounded(out[b - low, lane])
                        if score > key[b]:
                            key[b], best[b] = score, LANES * tile + lane
                if scores.shape[0] > 0:
                    for lane in range(n_older):
                        scores[b, LANES * tile + lane] = out[b - low, lane]


@kernel
def scan(scorer, state, b, out, top):
    """Score the owner at position b against all older clusters and remember the best."""
    node, slot, scores = state.node, state.slot, state.scores
    own_slot = state.slot[node[b]]
    n_tiles = (b + LANES - 1) // LANES
    block_scores(scorer, state.clusters, b, b + 1, 0, n_tiles, out, top)
    key, at = -np.inf, NULL
    for tile in range(n_tiles):
        if rounded(top[0, tile]) > key:
            for a in range(LANES * tile, min(b, LANES * (tile + 1))):
                score = rounded(out[0, a])
                if score > key:
                    key, at = score, a
    if scores.shape[0] > 0:
        for a in range(b):
            if node[a] != NULL:
                scores[own_slot, slot[node[a]]] = out[0, a]
    state.counters[EVALUATIONS] += n_older(node, state.counters, b)
    remember(state.best, state.key, state.tile_key, b, key, NULL if at == NULL else node[at])


@borrower
def n_older(node, counters, b):
    """Number of living clusters older than the one at position b."""
    if b == counters[END] - 1:
        return counters[LIVE] - 1
    total = 0
    for a in range(b):
        total += node[a] != NULL
    return total


# Helpers of the loop take the arrays they need, not the whole state: each array handed on costs two atomic operations.


@borrower
def remember(best, key, tile_key, b, new_key, partner):
    """Set the remembered partner of the owner at position b."""
    key[b], best[b] = new_key, partner
    tile_key[b // LANES] = highest_key(key, b // LANES)


@borrower
def highest_key(key, tile):
    """Largest key of the 64 owners of a tile."""
    top = -np.inf
    for p in range(LANES * tile, LANES * (tile + 1)):
        top = max(top, key[p])
    return top


@kernel
def rescan(scorer, state, prior, log_concentration, b, out, top):
    """Find a living partner for the owner at position b: from the stored scores, or by scoring again."""
    if state.scores.shape[0] == 0:
        scan(scorer, state, b, out, top)
        return
    stored, own_slot = state.scores, state.slot[state.node[b]]
    highest = -np.inf
    for a in range(b):
        if state.node[a] != NULL:
            highest = max(highest, float(stored[own_slot, state.slot[state.node[a]]]))
    margin = 0.0 if stored.itemsize == 8 else 4.0 * SINGLE_ULP * abs(highest)
    key, partner = -np.inf, NULL
    for a in range(b):
        if state.node[a] == NULL:
            continue
        score = float(stored[own_slot, state.slot[state.node[a]]])
        if rounded(score + margin) < rounded(highest):
            continue
        if stored.itemsize < 8:
            score = pair_score(scorer, state.clusters, prior, log_concentration, a, b)
        if rounded(score) > key:
            key, partner = rounded(score), state.node[a]
    remember(state.best, state.key, state.tile_key, b, key, partner)


@kernel
def pair_score(scorer, clusters, prior, log_concentration, a, b):
    """The score of one pair from its statistics, in the accurate form."""
    union, n_a, n_b = np.empty(clusters.rows.shape[1]), clusters.sizes[a], clusters.sizes[b]
    merge(prior, union, clusters.rows[a], clusters.rows[b])
    gain = log_marginal(prior, union) - clusters.base[a] - clusters.base[b]
    if scorer.tempered:
        return gain * math.sqrt((n_a + n_b) / (n_a * n_b))
    return log_concentration + math.lgamma(n_a + n_b) + gain


@borrower
def top_owner(state):
    """Position of the owner whose pair comes first by (score, first id, second id); NULL: no finite score."""
    key, best, tile_key = state.key, state.best, state.tile_key
    n_tiles = (state.counters[END] + LANES - 1) // LANES
    top = -np.inf
    for tile in range(n_tiles):
        top = max(top, tile_key[tile])
    winner = NULL
    for tile in range(n_tiles):
        if tile_key[tile] == top:
            for p in range(LANES * tile, LANES * (tile + 1)):
                if key[p] == top and best[p] != NULL and (winner == NULL or best[p] < best[winner]):
                    winner = p
    return winner


@kernel
def join(scorer, state, prior, log_concentration, a, b):
    """Append the union of the clusters at positions a and b; give back whether its odds are finite."""
    clusters, node, counters = state.clusters, state.node, state.counters
    rows, sizes, base, log_q = clusters.rows, clusters.sizes, clusters.base, state.log_q
    c, t, id_a, id_b, id_c = counters[END], counters[DONE], node[a], node[b], counters[ATOMS] + counters[DONE]
    merge(prior, rows[c], rows[a], rows[b])
    sizes[c] = sizes[a] + sizes[b]
    log_prior_one, log_union = log_concentration + math.lgamma(sizes[c]), log_marginal(prior, rows[c])
    log_one, apart = log_prior_one + log_union, log_q[id_a] + log_q[id_b]
    log_q[id_c] = log_add(log_one, apart)
    base[c] = log_union if scorer.tempered else log_q[id_c]
    fill_lane(scorer, clusters, c)
    state.children[t, 0], state.children[t, 1] = id_a, id_b
    state.log_odds[id_c] = log_one - apart  # from the statistics: scores are rounded
    state.log_d[id_c] = log_add(log_prior_one, state.log_d[id_a] + state.log_d[id_b])
    node[c], state.position[id_c], state.slot[id_c] = id_c, c, state.slot[id_a]
    state.position[id_a] = state.position[id_b] = NULL
    for p in (a, b):
        clear_place(clusters.tiles, base, node, state.best, state.key, p)
        state.tile_key[p // LANES] = highest_key(state.key, p // LANES)
    counters[END] += 1
    counters[LIVE] -= 1
    counters[DONE] += 1
    return math.isfinite(log_one - apart)


@kernel
def close_holes(state):
    """Move the living clusters together, keeping their order."""
    rows, tiles, sizes, base = state.clusters.rows, state.clusters.tiles, state.clusters.sizes, state.clusters.base
    node, best, key, position = state.node, state.best, state.key, state.position
    end, free = state.counters[END], 0
    for p in range(end):
        if node[p] != NULL:
            if p != free:
                for s in range(rows.shape[1]):
                    rows[free, s] = rows[p, s]
                for f in range(tiles.shape[1]):
                    tiles[free // LANES, f, free % LANES] = tiles[p // LANES, f, p % LANES]
                sizes[free], base[free] = sizes[p], base[p]
                node[free], best[free], key[free] = node[p], best[p], key[p]
                position[node[p]] = free
            free += 1
    for p in range(free, end):
        clear_place(tiles, base, node, best, key, p)
        sizes[p] = 1.0
    state.counters[END] = free
    renew_tile_keys(state)


@borrower
def renew_tile_keys(state):
    """Recompute the highest key of every tile."""
    for tile in range(state.tile_key.size):
        state.tile_key[tile] = highest_key(state.key, tile)


@kernel
def advance(scorer, state, prior, log_concentration, atoms, steps):
    """Load atoms, find first partners, merge: in one kernel, as these share most of what has to be compiled."""
    if steps.loads:
        load(scorer, state, prior, atoms.rows, atoms.sizes, atoms.log_q, atoms.log_d)
    first_partners(scorer, state, steps.first_owner, steps.last_owner)
    if steps.n_merges == 0:
        return OK
    return run_merges(scorer, state, prior, log_concentration, steps.n_merges)


@kernel
def run_merges(scorer, state, prior, log_concentration, n_merges):
    """Do the next `n_merges` merges; all leaves have their first partners."""
    renew_tile_keys(state)
    out, top = np.empty((1, state.node.size)), np.empty((1, state.tile_key.size))
    for _ in range(n_merges):
        b = top_owner(state)
        while b != NULL and state.position[state.best[b]] == NULL:
            rescan(scorer, state, prior, log_concentration, b, out, top)
            b = top_owner(state)
        if b == NULL:
            return NOT_FINITE
        if not join(scorer, state, prior, log_concentration, state.position[state.best[b]], b):
            return NOT_FINITE
        if state.counters[END] - state.counters[LIVE] > many_holes(state.counters[LIVE]):
            close_holes(state)
        if state.counters[LIVE] > 1:
            scan(scorer, state, state.counters[END] - 1, out, top)
    return OK

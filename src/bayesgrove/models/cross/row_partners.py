"""Which pair of row clusters merges next: the two orders, the best partner of a cluster, first partners of the rows.

For clusters a and b of n_a and n_b rows, with log marginals m and log q of Bayesian hierarchical clustering,

log odds:        log alpha + lgamma(n_a + n_b) + m_ab - q_a - q_b
size-tempered:   (m_ab - m_a - m_b) sqrt(1 / n_a + 1 / n_b)

The log odds are the published order. For a cluster of many rows that takes in a single row they contain the factor
n_a, whereas two single rows gain little under a vague prior, so that views of one to three columns of measurements or
counts end in chains. The tempered order weighs a gain against the size of both clusters; neither q nor the
concentration enters. Trees of yes/no columns and categories have somewhat lower bounds in this order, which polish
makes up for: keeping the log odds for such views changed neither the views nor their bounds beyond noise (50 tables).

The gain of a pair of rows (log marginal together minus apart) adds over columns, so that of a union of views is the sum
of theirs: in both orders the first half of every tree costs the same whatever the number of columns.
"""

import math

import numpy as np

from bayesgrove.agglomeration.ties import TIE_SCALE
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.row_scores import union_scores
from bayesgrove.stats.fastlog import SAFE_FLAGS, stand_alone

NOBODY = 1e300
"""`base` where no cluster is: no partner there can be the best."""
PLACES = 32
"""Places come in multiples of what one turn of a vector loop takes: single numbers left over cost more than the rest.

Places that are not in use are searched, too, and hold what cannot win."""
NONE = -1e308
"""Key of an owner without a partner."""
SQRT_2 = math.sqrt(2.0)
"""What tempers the gain of two single rows."""


@kernel(inline="always")
def whole_turns(end):
    """The places before `end` and those that fill the last turn of a vector loop."""
    return (end + PLACES - 1) // PLACES * PLACES


@kernel(inline="always")
def begin_scores(score, base, sizes, log_weight, is_tempered, b):
    """What the scores of the cluster at place b with those before it are, but for the log marginals of the unions."""
    if is_tempered:
        for p in range(b):
            score[p] = -base[p] - base[b]
    else:
        for p in range(b):
            score[p] = log_weight[sizes[b] + sizes[p]] - base[p]


@kernel(inline="always")
def temper_scores(score, share, b):
    """Weigh the gains of the cluster at place b by the sizes of both clusters, given as 1 / size."""
    for p in range(b):
        score[p] *= math.sqrt(share[p] + share[b])


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


@kernel(inline="always")
def keep_scores(score, stored, b):
    """Store the scores of a single row with all before it."""
    if stored.shape[0] > 0:
        for a in range(b):
            stored[b, a] = score[a]


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def row_partners(table, bench):
    """First best partners from the rows themselves."""
    score, base, best, key, offset = bench.score, bench.base, bench.best, bench.key, bench.offset
    is_tempered = bench.is_tempered
    for b in range(1, table.values.shape[1]):
        begin_scores(score, base, bench.sizes, bench.log_weight, is_tempered, b)
        union_scores(table, bench.clusters, b, b, score)
        if is_tempered:
            for a in range(b):
                score[a] *= SQRT_2
        offset[b] = 0.0 if is_tempered else base[b]
        best[b], key[b] = first_of_top(score, offset[b], b)
        keep_scores(score, bench.stored, b)


@kernel(fastmath=SAFE_FLAGS, _nrt=False)
def gain_partners(gains, views, bench):
    """First best partners from the gains of some views or columns that make up the view."""
    stand_alone()
    score, best, key, offset, stored = bench.score, bench.best, bench.key, bench.offset, bench.stored
    first, second = gains[views[0]], gains[views[1]]
    log_concentration, is_tempered = bench.log_weight[1], bench.is_tempered
    for b in range(1, bench.children.shape[0] + 1):
        start = b * (b - 1) // 2
        for a in range(b):
            score[a] = first[start + a] + second[start + a]
        for k in range(2, views.size):
            view = views[k]
            for a in range(b):
                score[a] += gains[view, start + a]
        if is_tempered:
            for a in range(b):
                score[a] *= SQRT_2
        offset[b] = 0.0 if is_tempered else log_concentration
        best[b], key[b] = first_of_top(score, offset[b], b)
        keep_scores(score, stored, b)

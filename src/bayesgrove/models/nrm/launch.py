"""The launch state of a split-merge move, and its recorded scan.

A move looks at the union of one or two clusters, in the guide's order: `members` are their places, `keys` the guide's
keys between neighbours, so that the guide restricted to the union is known without a tree object. Two anchors stay on
their sides, 0 and 1; all other members are placed by the launch, whose distribution ignores the present labels and so
does not enter the ratio, and then by one scan whose probability does.
"""

import math

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import add, log_marginal, merge, remove
from bayesgrove.scoring.lanes import LANES, fill_lane, fill_lane_without, n_fields, score_lanes
from bayesgrove.stats.fastlog import stand_alone
from bayesgrove.stats.special import log_add

REDUCED, BLOCK = 2, 3
"""Places for a side without a point, and for a block of the guide, beside those of the two sides."""


@kernel
def gather(labels, guide_key, one, two, members, keys):
    """Places of the members of two clusters, in order, and the largest key between neighbours; gives their number."""
    n_members, largest = 0, -1
    for place in range(labels.size):
        if place > 0 and guide_key[place - 1] > largest:
            largest = guide_key[place - 1]
        if labels[place] == one or labels[place] == two:
            if n_members > 0:
                keys[n_members - 1] = largest
            members[n_members] = place
            n_members += 1
            largest = -1
    return n_members


@kernel
def clear_side(rows, sizes, side):
    """An empty side."""
    sizes[side] = 0
    for s in range(rows.shape[1]):
        rows[side, s] = 0.0


@kernel
def put_block(prior, values, members, start, stop, row):
    """Add members start .. stop - 1 to a row of statistics."""
    for at in range(start, stop):
        add(prior, row, values[members[at]])


@kernel
def place_block(rng, prior, log_kappa, rows, sizes, size):
    """Side for the block at place BLOCK, with probability proportional to phi(side u block) / phi(side)."""
    union = np.empty(rows.shape[1])
    log_odds = 0.0
    for side in range(2):
        merge(prior, union, rows[side], rows[BLOCK])
        gain = log_kappa[sizes[side] + size] + log_marginal(prior, union)
        gain -= log_kappa[sizes[side]] + log_marginal(prior, rows[side])
        log_odds = gain if side == 0 else log_odds - gain
    side = 0 if rng.random() < 1.0 / (1.0 + math.exp(-log_odds)) else 1
    merge(prior, rows[side], rows[side], rows[BLOCK])
    sizes[side] += size
    return side


@kernel
def next_block(keys, n_members, low, high):
    """The sibling of the node that spans members low .. high: its first member and the one after its last."""
    if low > 0 and (high == n_members - 1 or keys[low - 1] < keys[high]):
        start = low - 1
        while start > 0 and keys[start - 1] < keys[low - 1]:
            start -= 1
        return start, low
    stop = high + 2
    while stop < n_members and keys[stop - 1] < keys[high]:
        stop += 1
    return high + 1, stop


@kernel
def launch_by_tree(rng, prior, values, log_kappa, members, keys, n_members, anchors, sides, rows, sizes):
    """Cut the guide at the anchors' common ancestor, then place each sibling block on the way up."""
    stand_alone()
    left, right = min(anchors[0], anchors[1]), max(anchors[0], anchors[1])
    cut = left
    for gap in range(left, right):
        if keys[gap] > keys[cut]:
            cut = gap
    low, high = cut, cut + 1
    while low > 0 and keys[low - 1] < keys[cut]:
        low -= 1
    while high < n_members - 1 and keys[high] < keys[cut]:
        high += 1
    left_side = 0 if anchors[0] < anchors[1] else 1
    for side in range(2):
        clear_side(rows, sizes, side)
    put_block(prior, values, members, low, cut + 1, rows[left_side])
    put_block(prior, values, members, cut + 1, high + 1, rows[1 - left_side])
    sizes[left_side], sizes[1 - left_side] = cut + 1 - low, high - cut
    for at in range(low, high + 1):
        sides[at] = left_side if at <= cut else 1 - left_side
    while low > 0 or high < n_members - 1:
        start, stop = next_block(keys, n_members, low, high)
        low, high = min(low, start), max(high, stop - 1)
        clear_side(rows, sizes, BLOCK)
        put_block(prior, values, members, start, stop, rows[BLOCK])
        side = place_block(rng, prior, log_kappa, rows, sizes, stop - start)
        for at in range(start, stop):
            sides[at] = side


@kernel
def launch_by_coins(rng, prior, values, members, n_members, anchors, sides, rows, sizes):
    """Jain and Neal's launch: a fair coin for each member but the anchors."""
    stand_alone()
    for side in range(2):
        clear_side(rows, sizes, side)
    for at in range(n_members):
        side = 0 if rng.random() < 0.5 else 1
        if at == anchors[0]:
            side = 0
        elif at == anchors[1]:
            side = 1
        sides[at] = side
        sizes[side] += 1
        add(prior, rows[side], values[members[at]])


@kernel
def side_lanes(scorer, rows):
    """Lanes of the two sides."""
    lanes = np.zeros((n_fields(scorer), LANES))
    for side in range(2):
        fill_lane(scorer, rows[side], lanes, side)
    return lanes


@kernel
def scan(rng, scorer, values, log_kappa, members, n_members, anchors, sides, rows, sizes, lanes, forced, least):
    """One restricted Gibbs scan over all but the anchors; gives the log probability of what it did.

    `forced[at]` is 0 or 1 where the outcome is prescribed (a merge undone), -1 where it is drawn. Once the log
    probability falls below `least` the move is lost and -inf is given.
    """
    stand_alone()
    prior, log_q = scorer.prior, 0.0
    out = np.empty((2, LANES))
    for at in range(n_members):
        if at == anchors[0] or at == anchors[1]:
            continue
        x, own = values[members[at]], sides[at]
        other = 1 - own
        fill_lane_without(scorer, rows, lanes, own, REDUCED, x)
        score_lanes(scorer, rows, lanes, x, REDUCED + 1, out)
        stay = out[0, REDUCED] + log_kappa[sizes[own]] - log_kappa[sizes[own] - 1]
        leave = out[0, other] + log_kappa[sizes[other] + 1] - log_kappa[sizes[other]]
        log_odds = leave - stay
        if forced[at] >= 0:
            leaves = forced[at] == other
        else:
            leaves = rng.random() * (1.0 + math.exp(-log_odds)) < 1.0 if log_odds > -700.0 else False
        log_q -= log_add(0.0, -log_odds if leaves else log_odds)
        if log_q < least:
            return -np.inf
        if leaves:
            sides[at] = other
            sizes[own] -= 1
            sizes[other] += 1
            remove(prior, rows[own], x)
            fill_lane(scorer, rows[own], lanes, own)
            add(prior, rows[other], x)
            fill_lane(scorer, rows[other], lanes, other)
    return log_q

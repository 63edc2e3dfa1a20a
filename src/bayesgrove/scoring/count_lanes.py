"""Scorers of counted things: codes of columns and words of documents. See `lanes`."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.scoring.lanes import (
    FACTORS_BEFORE_RESCUE,
    fill_lane,
    fill_lane_without,
    n_fields,
    padded,
    score_lanes,
)
from bayesgrove.stats.fastlog import SAFE_FLAGS, exponent_of, fast_log, mantissa_of, stand_alone
from bayesgrove.stats.special import log_rising

TOKENS_A_PASS = 4
MOST_TOKENS = 64
"""A word that occurs more often than this is cheaper by the gamma function."""


class CodeScorer(NamedTuple):
    """Bernoulli or categorical columns, no missing cell: column j has the codes 0 .. start[j + 1] - start[j] - 1.

    A lane holds the log probability of each code of each column.
    """

    prior: NamedTuple
    start: np.ndarray
    weight: np.ndarray
    """Prior weight of each code."""


@n_fields.register(CodeScorer)
def code_n_fields(scorer):
    """One per code of each column."""
    return scorer.weight.size


@fill_lane.register(CodeScorer)
def code_fill_lane(scorer, row, lanes, place):
    """Posterior mean of each code's probability, as a log."""
    start, weight = scorer.start, scorer.weight
    for j in range(start.size - 1):
        total = 0.0
        for code in range(start[j], start[j + 1]):
            total += weight[code] + row[code]
        log_total = math.log(total)
        for code in range(start[j], start[j + 1]):
            lanes[code, place] = math.log(weight[code] + row[code]) - log_total


@fill_lane_without.register(CodeScorer)
def code_fill_lane_without(scorer, rows, lanes, own, place, x):
    """Only the codes of `x` are needed."""
    start, weight = scorer.start, scorer.weight
    for j in range(x.size):
        total, seen = -1.0, start[j] + int(x[j])
        for code in range(start[j], start[j + 1]):
            total += weight[code] + rows[own, code]
        lanes[seen, place] = math.log((weight[seen] + (rows[own, seen] - 1.0)) / total)


@score_lanes.register(CodeScorer)
def code_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Sum over columns."""
    code_scores(scorer.start, lanes, x, n_clusters, out)


@kernel(fastmath=SAFE_FLAGS)
def code_scores(start, lanes, x, n_clusters, out):
    """Body of `code_score_lanes`."""
    stand_alone()
    n = padded(n_clusters)
    for i in range(n):
        out[0, i] = 0.0
    for j in range(x.size):
        code = start[j] + int(x[j])
        for i in range(n):
            out[0, i] += lanes[code, i]


class WordScorer(NamedTuple):
    """Documents, none missing: only words that occur are looked at.

    A lane holds the weight of each word in the cluster (pseudo-count and count), last their sum. A document that has
    word w c times has probability proportional to the product of (weight_w + r), r = 0 .. c - 1, over its words: one
    multiplication per token and cluster, and few logarithms.
    """

    prior: NamedTuple


@n_fields.register(WordScorer)
def word_n_fields(scorer):
    """One per word, and the sum."""
    return scorer.prior.pseudo_count.size + 1


@fill_lane.register(WordScorer)
def word_fill_lane(scorer, row, lanes, place):
    """Weights and their sum."""
    pseudo_count, total = scorer.prior.pseudo_count, 0.0
    for word in range(pseudo_count.size):
        weight = pseudo_count[word] + row[word]
        lanes[word, place] = weight
        total += weight
    lanes[pseudo_count.size, place] = total


@fill_lane_without.register(WordScorer)
def word_fill_lane_without(scorer, rows, lanes, own, place, x):
    """Only the words of `x` are needed."""
    pseudo_count, length = scorer.prior.pseudo_count, 0.0
    for word in range(x.size):
        if x[word] > 0.0:
            lanes[word, place] = pseudo_count[word] + (rows[own, word] - x[word])
            length += x[word]
    lanes[x.size, place] = lanes[x.size, own] - length


@score_lanes.register(WordScorer)
def word_score_lanes(scorer, rows, lanes, x, n_clusters, out):
    """Tokens of words that occur a few times as factors, other words by the gamma function."""
    n_tokens, length, orderings = 0, 0.0, 0.0
    for word in range(x.size):
        if x[word] > 0.0:
            length += x[word]
            n_tokens += int(min(x[word], MOST_TOKENS))
            if x[word] > 1.0:
                orderings -= math.lgamma(x[word] + 1.0)
    orderings += math.lgamma(length + 1.0)
    tokens, n_tokens = np.zeros((2, n_tokens + TOKENS_A_PASS), np.int64), 0
    others = np.zeros(n_clusters)
    for word in range(x.size):
        if x[word] > MOST_TOKENS:
            for k in range(n_clusters):
                others[k] += log_rising(lanes[word, k], x[word])
        elif x[word] > 0.0:
            for r in range(int(x[word])):
                tokens[0, n_tokens], tokens[1, n_tokens] = word, r
                n_tokens += 1
    token_scores(lanes, tokens, n_tokens, n_clusters, out)
    for k in range(n_clusters):
        out[0, k] += orderings + others[k] - log_rising(lanes[x.size, k], length)


@kernel(fastmath=SAFE_FLAGS)
def token_scores(lanes, tokens, n_tokens, n_clusters, out):
    """Log of the product over tokens of (weight of its word + r); four tokens a pass spare loads."""
    stand_alone()
    n = padded(n_clusters)
    for i in range(n):
        out[0, i] = 1.0
        out[1, i] = 0.0
    whole = n_tokens - n_tokens % TOKENS_A_PASS
    for t in range(0, whole, TOKENS_A_PASS):
        w0, w1, w2, w3 = tokens[0, t], tokens[0, t + 1], tokens[0, t + 2], tokens[0, t + 3]
        r0, r1, r2, r3 = float(tokens[1, t]), float(tokens[1, t + 1]), float(tokens[1, t + 2]), float(tokens[1, t + 3])
        for i in range(n):
            first = (lanes[w0, i] + r0) * (lanes[w1, i] + r1)
            out[0, i] *= first * ((lanes[w2, i] + r2) * (lanes[w3, i] + r3))
        if t % FACTORS_BEFORE_RESCUE != 0:
            for i in range(n):
                out[1, i] += exponent_of(out[0, i])
                out[0, i] = mantissa_of(out[0, i])
    for t in range(whole, n_tokens):
        word, r = tokens[0, t], float(tokens[1, t])
        for i in range(n):
            out[0, i] *= lanes[word, i] + r
    for i in range(n):
        out[0, i] = fast_log(out[0, i], out[1, i])

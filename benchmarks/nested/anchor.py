"""An outside anchor: tomotopy's hLDA puts words of documents on paths of a tree, we put whole documents there.

The models differ, so that only the time per visit of a (document, level) or (word, level) is set side by side.
"""

import importlib
import importlib.util
import statistics
import time
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Multinomial, bind
from bayesgrove.models.nested.component_models import collapsed
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import make_target
from benchmarks.nested.chains import ANIMALS, NUMBERS, burnt_in, seconds_of, size_of

N_WORDS, N_TOPICS, LENGTH, DEPTH = 100, 8, 50, 3
BURN_IN, N_SWEEPS = 20, 20
PEER = "tomotopy"


def documents(n: int, seed: int) -> np.ndarray:
    """Counts of words of documents of equal length from a few topics."""
    rng = generator(seed)
    topics = rng.dirichlet(np.full(N_WORDS, 0.1), N_TOPICS)
    return np.array([rng.multinomial(LENGTH, topics[own]) for own in rng.integers(0, N_TOPICS, n)])


def measure(seed: int, n: int, repeats: int) -> list[dict[str, Any]]:
    """Our row and the peer's."""
    counts = documents(n, seed)
    about = {"part": "anchor", "data": f"{n} documents of {LENGTH} words, {N_WORDS} different"}
    rows = [{**about, "who": "BHMC, Multinomial", **our_time(counts, seed, repeats)}]
    if importlib.util.find_spec(PEER) is None:
        return [*rows, {**about, "who": "tomotopy hLDA", "note": "not measured: tomotopy is not installed"}]
    return [*rows, {**about, "who": "tomotopy hLDA", **peer_time(counts, seed, repeats)}]


def our_time(counts: np.ndarray, seed: int, repeats: int) -> dict[str, Any]:
    """Microseconds per document and level."""
    bound = bind(Multinomial(), counts.astype(float), "fixed")
    values = [*(ANIMALS[name] for name in NUMBERS), 1.0, 1.0, 1.0]
    target = make_target(bound.values, collapsed(bound.prior, bound.values), depth=DEPTH, values=values)
    sampler = NestedSampler(target)
    state, rng = burnt_in(sampler, seed, BURN_IN)
    own = statistics.median(seconds_of(sampler, rng, state, N_SWEEPS) / N_SWEEPS for _ in range(repeats))
    per_visit = 1e6 * own / (len(counts) * DEPTH)
    return {**size_of(state), "ms_per_sweep": 1e3 * own, "us_per_document_and_level": per_visit}


def peer_time(counts: np.ndarray, seed: int, repeats: int) -> dict[str, Any]:
    """The same of hLDA on one thread, and per word and level, which is what it visits; its levels count the root."""
    model = importlib.import_module(PEER).HLDAModel(depth=DEPTH + 1, gamma=ANIMALS["alpha"], seed=seed)
    for row in counts:
        model.add_doc([f"w{word}" for word in np.repeat(np.arange(N_WORDS), row)])
    model.train(BURN_IN, workers=1)
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        model.train(N_SWEEPS, workers=1)
        seconds.append((time.process_time() - start) / N_SWEEPS)
    own = statistics.median(seconds)
    per_visit = 1e6 * own / (len(counts) * DEPTH)
    return {
        "nodes": int(model.live_k), "ms_per_sweep": 1e3 * own, "us_per_document_and_level": per_visit,
        "us_per_word_and_level": per_visit / LENGTH,
    }  # fmt: skip

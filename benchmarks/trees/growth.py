"""Time and memory of an E-step as nodes grow: the same trees again and again, passed over node by node."""

from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.trees.forest import Forest
from benchmarks.child import peak_mb, reset_peak, resident_mb
from benchmarks.timing import exponent
from benchmarks.trees.data import component, cpu_seconds, estep, synthetic

N_STATES = 4
WANTED_EXPONENT = 1.1


def repeated(forest: Forest, n_nodes: int) -> Forest:
    """About so many nodes of trees taken in turn, in a random order, again and again."""
    n_trees = max(1, round(n_nodes / forest.n_nodes * forest.n_trees))
    order = generator(0).permutation(forest.n_trees)
    return forest.take(order[np.arange(n_trees) % forest.n_trees])


def measure(sizes: list[int], seed: int, repeats: int) -> list[dict[str, Any]]:
    """More and more nodes; memory is what the links and one E-step take above the forest."""
    base, rows = synthetic().forest, []
    tables = component(base, N_STATES, seed)
    estep(plain_links(base), tables)
    for size in sizes:
        rows.append(grow(repeated(base, size), tables, repeats))
    power = exponent([row["nodes"] for row in rows], [row["seconds"] for row in rows])
    rows[-1] |= {"exponent": power, "wanted": f"<= {WANTED_EXPONENT:g}"}
    rows[-1]["holds"] = None if power is None else power <= WANTED_EXPONENT
    return rows


def grow(forest: Forest, tables: Any, repeats: int) -> dict[str, Any]:
    """Seconds of an E-step, of finding shared subtrees, and megabytes."""
    is_reset, before = reset_peak(), resident_mb()
    links = plain_links(forest)
    seconds = float(np.median([cpu_seconds(lambda: estep(links, tables)) for _ in range(repeats)]))
    megabytes = peak_mb() - before
    row = {
        "part": "growth", "C": N_STATES, "nodes": forest.n_nodes, "seconds": seconds,
        "million_nodes_per_s": 1e-6 * forest.n_nodes / seconds, "megabytes": megabytes,
        "bytes_per_node": 2**20 * megabytes / forest.n_nodes, "dag_seconds": cpu_seconds(lambda: unique_links(forest)),
    }  # fmt: skip
    return row if is_reset else {**row, "note": "memory is an upper bound: the peak was not reset"}

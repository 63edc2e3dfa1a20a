"""The E-step: nodes per second against the twin of the tests and a floor; shared subtrees against plain nodes."""

import sys
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.tables import Tables
from benchmarks.timing import ROOT
from benchmarks.trees.data import MISSING, component, estep, inex05, medians, synthetic
from benchmarks.trees.floor import make_floor, multiply_adds

STATES = (2, 4, 8)
TWIN_TREES = 40
WANTED_TWIN, WANTED_FLOOR, WANTED_SHARING = 100.0, 2.5, 2.0
MODE = "bottom_prior"


def measure_passes(constants: dict[str, float], seed: int, repeats: int) -> list[dict[str, Any]]:
    """One component over all nodes, plain: for both sets and several numbers of states."""
    rows, sets = [], {"INEX05": inex05(), "synthetic": synthetic()}
    for name, data in sets.items():
        if data is None:
            rows.append({"part": "estep", "data": name, **MISSING})
            continue
        rows += [compare(name, data, n_states, constants, seed, repeats) for n_states in STATES]
    return rows


def compare(
    name: str, data: TreeData, n_states: int, constants: dict[str, float], seed: int, repeats: int
) -> dict[str, Any]:
    """Our plain E-step, the twin's and the floor in turns."""
    forest = data.forest
    links, tables = plain_links(forest), component(forest, n_states, seed)
    works = {"ours": lambda: estep(links, tables), "floor": make_floor(links, tables)}
    chosen = forest.take(generator(seed).permutation(forest.n_trees)[:TWIN_TREES])
    twin = twin_work(chosen, tables)
    found = medians(works if twin is None else {**works, "twin": twin}, repeats)
    arithmetic = multiply_adds(forest.n_nodes, n_states) / (constants["l1_flops_per_s"] / 2.0)
    row = {
        "part": "estep", "data": name, "C": n_states, "nodes": forest.n_nodes,
        "million_nodes_per_s": 1e-6 * forest.n_nodes / found["ours"], "over_floor": found["ours"] / found["floor"],
        "over_arithmetic": found["ours"] / arithmetic,
    }  # fmt: skip
    return judged(row, None if twin is None else found["twin"] / chosen.n_nodes * forest.n_nodes / found["ours"])


def judged(row: dict[str, Any], over_twin: float | None) -> dict[str, Any]:
    """The row with what is wanted and whether it holds."""
    holds = row["over_floor"] <= WANTED_FLOOR
    if over_twin is None:
        return {**row, "wanted": f"floor <= {WANTED_FLOOR:g}", "holds": holds, "note": "twin not measured"}
    wanted = f"twin >= {WANTED_TWIN:g}, floor <= {WANTED_FLOOR:g}"
    return {**row, "twin_over_ours": over_twin, "wanted": wanted, "holds": holds and over_twin >= WANTED_TWIN}


def twin_work(forest: Any, tables: Tables) -> Any:
    """The twin's E-step of some trees, a function; None where there are no tests."""
    folder = ROOT / "tests"
    if not (folder / "reference" / "tree_hmm.py").is_file():
        return None
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    from reference import tree_hmm as twin

    trees = twin.plain_trees(forest)
    own = twin.Tables(
        tables.initial[0], np.ascontiguousarray(tables.emission[0].T), tables.switching[0], tables.transition[0]
    )
    return lambda: twin.expected_counts(trees, own, MODE)


def measure_sharing(seed: int, repeats: int) -> list[dict[str, Any]]:
    """Each different subtree once against all nodes."""
    rows, sets = [], {"INEX05": inex05(), "synthetic": synthetic()}
    for name, data in sets.items():
        if data is None:
            rows.append({"part": "dag", "data": name, **MISSING})
            continue
        rows += [share(name, data, n_states, seed, repeats) for n_states in STATES]
    return rows


def share(name: str, data: TreeData, n_states: int, seed: int, repeats: int) -> dict[str, Any]:
    """Both in turns; counts must agree. Wanted of INEX05, whose documents repeat themselves."""
    forest = data.forest
    plain, unique, tables = plain_links(forest), unique_links(forest), component(forest, n_states, seed)
    found = medians({"plain": lambda: estep(plain, tables), "unique": lambda: estep(unique, tables)}, repeats)
    ratio, counts = found["plain"] / found["unique"], (estep(links, tables)[1] for links in (plain, unique))
    differences = [np.abs(a - b).max() / np.abs(a).max() for a, b in zip(*counts, strict=True) if np.abs(a).max() > 0]
    row = {
        "part": "dag", "data": name, "C": n_states, "nodes": forest.n_nodes, "subtrees": unique.labels.size,
        "plain_ms": 1e3 * found["plain"], "dag_ms": 1e3 * found["unique"], "plain_over_dag": ratio,
        "largest_difference": float(max(differences)),
    }  # fmt: skip
    if name != "INEX05":
        return row
    return {**row, "wanted": f">= {WANTED_SHARING:g}", "holds": ratio >= WANTED_SHARING}

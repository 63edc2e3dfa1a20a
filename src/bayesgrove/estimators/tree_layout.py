"""What model files hold of models of trees: tables of components, clusters, typical trees, skeletons, draws."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.estimators.layouts import ABOUT, OWN_PROBABILITIES, described, label_draws
from bayesgrove.inference.tree_features import ClusterCounts
from bayesgrove.io.schema import (
    FLAG,
    NUMBER,
    NUMBERS,
    PERHAPS_TEXTS,
    TEXTS,
    WHOLE,
    Check,
    Field,
    Kind,
    Layout,
    Part,
    Parts,
    Reading,
    Size,
    array,
    floats,
    json_value,
    label_array,
    probabilities,
    record,
    require,
    shares,
    starts,
    tree_table,
)
from bayesgrove.models.tree_hmm.component_tree import ComponentsTree
from bayesgrove.models.tree_hmm.gaussian import Gaussians, NormalGamma
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior
from bayesgrove.models.tree_hmm.predictive import Kept
from bayesgrove.models.tree_hmm.tables import MODES, Shape, Strengths, Tables
from bayesgrove.trees.forest import Forest

SIZES = ("labels", "positions", "columns")
FOREST = ("labels", "parents", "positions", "internal", "offsets")
HISTORY, NO_VARIANCE = "history_", "a variance is not positive"


def has(name: str) -> Callable[[Any], bool]:
    """Whether an estimator has an attribute."""
    return lambda model: hasattr(model, name)


def is_continuous(model: Any) -> bool:
    """Whether labels are numbers."""
    return model._prior.gaussians is not None


def forest_arrays(prefix: str, n_labels: Callable[[Reading], int]) -> Kind:
    """Trees; the constructor of a forest checks every rule of one."""

    def write(_: str, value: Forest) -> Parts:
        parts = {part: getattr(value, part) for part in FOREST}
        parts |= {} if value.values is None else {"values": value.values}
        return Parts({}, {f"{prefix}{part}": array for part, array in parts.items()})

    def read(_: str, reading: Reading) -> Forest:
        given = reading.parts.arrays
        parts: dict[str, Any] = {part: given[f"{prefix}{part}"] for part in FOREST}
        for part, given_as in parts.items():
            require(given_as.ndim == 1, f"{prefix}{part} is no vector")
        n_positions, values = reading.sizes["positions"], given.get(f"{prefix}values")
        return Forest(**parts, n_labels=n_labels(reading), max_outdegree=n_positions, values=values)

    return Kind(write, read)


def variances_are_positive(moments: np.ndarray) -> bool:
    """Whether no variance is 0 or less."""
    return bool((moments[..., 1] > 0.0).all())


# ---- tables and their prior

DISCRETE: Layout = (
    Field("emission", probabilities("components", "labels", "states"), "_parameters.tables.emission"),
    Size("kept_labels", lambda read: read.sizes["labels"]),
)
CONTINUOUS: Layout = (
    Field(
        "gaussians",
        record(NormalGamma, "gaussian_", dict.fromkeys(NormalGamma._fields, floats("columns"))),
        "_prior.gaussians.prior",
    ),
    Field("moments", floats("components", "states", "columns", 2), "_parameters.moments"),
    Check(NO_VARIANCE, lambda read: variances_are_positive(read["moments"])),
)
"""Rows of emissions follow from the moments, whatever the values."""
TABLES: Layout = (
    Field("seed", WHOLE, "_seed"),
    Field("vocabulary", PERHAPS_TEXTS, "_schema.vocabulary"),
    Field("schema", json_value(lambda given: [int(size) for size in given]), lambda model: list(model._schema[1:])),
    *(Size(name, lambda read, place=place: read["schema"][place]) for place, name in enumerate(SIZES)),  # type: ignore[misc]
    Field("n_states", WHOLE, "_prior.shape.n_states"),
    Size("states", lambda read: read["n_states"]),
    Field("strengths", NUMBERS, "_prior.strengths"),
    Field("weights", probabilities("components"), "weights_"),
    Check(
        "there is no component",
        lambda read: min(read.sizes[name] for name in ("components", "positions", "states")) > 0,
    ),
    Field("initial", probabilities("components", "positions+1", "states+1"), "_parameters.tables.initial"),
    Field("switching", probabilities("components", "positions"), "_parameters.tables.switching"),
    Field(
        "transition",
        probabilities("components", "positions", "states+1", "states"),
        "_parameters.tables.transition",
    ),
    Part(lambda read: read.sizes["columns"], is_continuous, CONTINUOUS),
    Part(lambda read: not read.sizes["columns"], lambda model: not is_continuous(model), DISCRETE),
    Check(
        "labels do not fit",
        lambda read: read["vocabulary"] is None or len(read["vocabulary"]) == read.sizes["labels"],
    ),
)


def restored_prior(reading: Reading, missing: str) -> TreePrior:
    """The prior of what was read."""
    sizes, gaussians = reading.sizes, None
    if sizes["columns"]:
        gaussians = Gaussians(reading["gaussians"], np.zeros((1, sizes["columns"])))
    n_rows = 1 if sizes["columns"] else sizes["labels"]
    shape = Shape(sizes["positions"], sizes["states"], n_rows, MODES[missing])
    return TreePrior(shape, Strengths(*reading["strengths"]), gaussians)


def restored_parameters(reading: Reading, n_rows: int) -> Parameters:
    """Tables of what was read."""
    n_components, n_states = reading.sizes["components"], reading.sizes["states"]
    emission = reading.values.get("emission", np.ones((n_components, 1, n_states)))
    switching, transition = reading["switching"], reading["transition"]
    return Parameters(
        Tables(reading["initial"], emission, switching, transition, np.zeros((n_components, n_rows))),
        reading.values.get("moments", np.zeros((n_components, n_states, 0, 2))),
    )


# ---- clusters

COUNTED = {"labels": ("clusters", "counted_labels"), "nodes": ("clusters",), "positions": ("clusters", "positions")}
CLUSTERS: Layout = (
    *ABOUT,
    Field("features", TEXTS, "result_.feature_names"),
    Field(
        "tree",
        tree_table("tree_", "rows", columns={"log_merge_odds": "log_merge_odds"}, leaf_labels="leaf_labels"),
        "tree_",
    ),
    Size("nodes", lambda read: read["tree"].n_nodes),
    Field("labels", label_array("rows", "labels do not fit the tree", "labels are not 0, 1, ..."), "labels_"),
    Size("clusters", lambda read: int(read["labels"].max()) + 1),
    Check(
        "there are fewer components than clusters",
        lambda read: read.sizes["clusters"] <= read.sizes[read.model._clusters_are],
    ),
    OWN_PROBABILITIES,
    Field("typical", array(np.int64, "clusters", words="there is no typical tree of each cluster"), "typical_"),
    Field("typical_trees", forest_arrays("typical_", lambda read: read.sizes["labels"]), "_typical.forest"),
    Check(
        "there is no typical tree of each cluster",
        lambda read: read["typical_trees"].n_trees == read.sizes["clusters"],
    ),
    Part(
        "typical_texts",
        lambda model: any(model._texts),
        (
            Field("typical_texts", TEXTS, "_texts"),
            Check(
                "there is no typical document of each cluster",
                lambda read: len(read["typical_texts"]) == read.sizes["clusters"],
            ),
        ),
    ),
    Field("skeletons", forest_arrays("skeleton_", lambda read: 0), "_skeletons"),
    Size("skeletons", lambda read: read["skeletons"].n_trees),
    Field(
        "skeleton_clusters",
        array(
            np.int64,
            "skeletons",
            words="skeletons have no clusters",
            below="clusters",
            out_of_range="skeletons are of no cluster",
        ),
        "_skeleton_clusters",
    ),
    Size("counted_labels", lambda read: max(read.sizes["labels"], 1)),
    Field(
        "counts",
        record(
            ClusterCounts,
            "counts_",
            {name: array(np.int64, *dims) for name, dims in {**COUNTED, "internal": ("clusters",)}.items()},
        ),
        "_counts",
    ),
    Field("description", described("features", within="feature_description"), "result_.description"),
)
TREES: Layout = (
    *TABLES,
    Field("is_clustered", FLAG, has("labels_")),
    Part(lambda read: read["is_clustered"], has("labels_"), CLUSTERS),
)
"""Of all models of trees."""


# ---- finite mixtures

OBJECTIVE: Layout = (
    Field("converged", FLAG, "converged_"),
    Field("objective", floats("steps", finite=False), "objective_"),
)
RESPONSIBILITIES: Layout = (Field("responsibilities", floats("rows", "components"), "responsibilities_"),)


# ---- infinite mixtures


def write_history(_: str, value: dict[str, np.ndarray]) -> Parts:
    """Numbers sweep by sweep, each by itself."""
    return Parts({}, {f"{HISTORY}{own}": np.asarray(values) for own, values in value.items()})


def read_history(_: str, reading: Reading) -> dict[str, np.ndarray]:
    """Numbers sweep by sweep, by name."""
    names = [own for own in reading.parts.arrays if own.startswith(HISTORY)]
    return {own.removeprefix(HISTORY): floats("sweeps", finite=False).read(own, reading) for own in names}


KEPT = record(
    Kept,
    "kept_",
    {
        "start": starts("kept_draws", "kept_components"),
        "initial": probabilities("kept_components", "positions+1", "states+1"),
        "emission": probabilities("kept_components", "kept_labels", "states"),
        "switching": probabilities("kept_components", "positions"),
        "transition": probabilities("kept_components", "positions", "states+1", "states"),
        "moments": floats("kept_components", "states", "columns", 2),
        "log_weight": floats("kept_components"),
        "log_new": floats("kept_draws"),
        "share": shares("kept_components", "clusters"),
    },
)


def numbers_are_positive(reading: Reading) -> bool:
    """Whether the concentration and the strengths are positive numbers."""
    numbers = (reading["concentration"], *reading["prior_strength"])
    return bool(np.isfinite(numbers).all()) and min(numbers) > 0.0


INFINITE: Layout = (
    *TREES,
    Check("there are no clusters", lambda read: read["is_clustered"]),
    Field("concentration", NUMBER, "concentration_"),
    Field("prior_strength", NUMBERS, "prior_strength_"),
    Check("a number is not positive", numbers_are_positive),
    Field("n_states_found", WHOLE, "n_states_"),
    Field("kept", KEPT, "_kept"),
    Check("there is no draw", lambda read: read.sizes["kept_draws"] > 0),
    Check(NO_VARIANCE, lambda read: variances_are_positive(read["kept"].moments)),
    Field(
        "components_tree",
        tree_table(
            "components_",
            "clusters",
            needs=("log_merge_odds", "n_trees"),
            make=ComponentsTree,
            words="the hierarchy does not fit the clusters",
        ),
        "components_tree_",
    ),
    Field("history", Kind(write_history, read_history), "history_"),
    Part(
        "log_evidence",
        has("log_evidence_"),
        (
            Field("log_evidence", NUMBER, "log_evidence_"),
            Field("responsibilities", floats("rows", "clusters"), "responsibilities_"),
        ),
    ),
    Field("is_sampled", FLAG, has("posterior_")),
    Part(
        lambda read: read["is_sampled"],
        has("posterior_"),
        label_draws(lambda read: ("log_joint", "n_clusters")),
    ),
    Part(
        "shares_positions",
        lambda model: model._shares_positions,
        (Field("shares_positions", FLAG, "_shares_positions"),),
    ),
    Part(
        "init",
        lambda model: not isinstance(model.init, str),
        (Field("init", array("biuf", "rows", words="first labels do not fit"), lambda model: np.asarray(model.init)),),
    ),
)

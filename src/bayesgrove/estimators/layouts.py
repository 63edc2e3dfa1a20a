"""What the files of many estimators have in common: the columns, the tree and labels of the rows, draws, a description.

`DESCRIPTION` is what a report shows of the rows: profiles of clusters and branches, and a sample to draw.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.table import KINDS, Table
from bayesgrove.inference.description import Description, NodeFeatures
from bayesgrove.io.schema import (
    COUNTS,
    FLAG,
    NOT_FINITE,
    NUMBER,
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
    require,
    scalar_arrays,
    tree_table,
)
from bayesgrove.likelihoods import from_document, to_document
from bayesgrove.stats.profiles import Feature, Profile

MOST_KEPT_CELLS = 1_000_000
"""A profile of more numbers is kept of the first clusters only."""
PROFILE_PARTS = ("mean", "low", "high", "telling")
NODE_PARTS = ("node", "feature", *PROFILE_PARTS)
PREFIX, NO_PROFILE = "described_", "profiles do not fit together"
DESCRIBED = {
    "rows": array(np.int64, "sampled", words="rows described are none of the tree's", below="rows"),
    "columns": array(np.int64, "drawn", words="columns described are none of the table's", below="columns"),
    "cells": floats("sampled", "drawn", words="cells described do not fit", finite=False),
    "node_node": array(np.int64, "told", words="nodes described are none of the tree's", below="nodes"),
    "node_feature": array(np.int64, "told", "top", words="features described are unknown", below="features"),
    "overall": floats("features", words=NO_PROFILE, finite=False),
    **{f"cluster_{part}": floats("profiled", "features", words=NO_PROFILE, finite=False) for part in PROFILE_PARTS},
    **{f"node_{part}": floats("told", "top", words=NO_PROFILE, finite=False) for part in PROFILE_PARTS},
}


def described(names: str = "names", within: str = "") -> Kind:
    """A description of the rows, or None: files of older versions have none.

    Parameters
    ----------
    names : str
        Field that has the names of the columns.
    within : str
        Where in the document it stands, if not at the top.
    """

    def write(name: str, value: Description | None) -> Parts:
        document, arrays = ({}, {}) if value is None else description_parts(value)
        about = {name: document} if document else {}
        return Parts({within: about} if within else about, {f"{PREFIX}{part}": array for part, array in arrays.items()})

    def read(name: str, reading: Reading) -> Description | None:
        document = reading.parts.document[within] if within else reading.parts.document
        return restored_description(document[name], reading, reading[names]) if name in document else None

    return Kind(write, read)


def description_parts(value: Description) -> Parts:
    """A description in JSON's types and arrays."""
    clusters, nodes = value.clusters, value.nodes
    kept = slice(None, max(1, MOST_KEPT_CELLS // max(len(clusters.features), 1)))
    document = {
        "features": [list(feature) for feature in clusters.features],
        "kinds": list(value.sample.kinds),
        "n_profiled": value.n_profiled,
    }
    arrays = {f"cluster_{part}": getattr(clusters, part)[kept] for part in PROFILE_PARTS}
    arrays |= {f"node_{part}": getattr(nodes, part) for part in NODE_PARTS}
    arrays |= {"rows": value.rows, "columns": value.columns, "cells": value.sample.values}
    return Parts(document, {**arrays, "overall": clusters.overall})


def restored_description(about: dict[str, Any], reading: Reading, names: tuple[str, ...]) -> Description:
    """A description, checked: shapes, and numbers of rows, columns, nodes and features in range."""
    features = tuple(Feature(str(text), int(j), bool(rate), int(code)) for text, j, rate, code in about["features"])
    require(all(0 <= feature.column < len(names) for feature in features), "features have no column")
    sizes = {"rows": reading.sizes["rows"], "nodes": reading.sizes["nodes"]}
    own = Reading(reading.parts, None, {}, {**sizes, "columns": len(names), "features": len(features)})
    found = {part: kind.read(f"{PREFIX}{part}", own) for part, kind in DESCRIBED.items()}
    kinds, columns = tuple(str(kind) for kind in about["kinds"]), found["columns"].tolist()
    is_known = len(kinds) == len(columns) and set(kinds) <= set(KINDS)
    require(is_known, "kinds of columns described are unknown")
    categories = reading.values.get("categories", {})
    labels = {place: categories[j] for place, j in enumerate(columns) if j in categories}
    profile = {part: found[f"cluster_{part}"] for part in PROFILE_PARTS}
    return Description(
        clusters=Profile(features, overall=found["overall"], **profile),
        nodes=NodeFeatures(**{part: found[f"node_{part}"] for part in NODE_PARTS}),
        rows=found["rows"],
        sample=Table(found["cells"], tuple(names[j] for j in columns), kinds, labels),
        columns=found["columns"],
        n_profiled=int(about["n_profiled"]),
    )


DESCRIPTION = described()


def an_object(given: Any) -> dict[str, Any]:
    """Provenance or details; a report could not show anything else."""
    if not isinstance(given, dict) or not isinstance(given.get("settings", {}), dict):
        raise InvalidFileError("provenance, its settings and details are objects")
    return given


def category_labels(given: dict[str, list[Any]]) -> dict[int, tuple[Any, ...]]:
    """Labels of category columns: different texts or numbers."""
    for labels in given.values():
        if len(set(labels)) != len(labels) or not all(isinstance(label, str | int | float) for label in labels):
            raise InvalidFileError("labels of a category column are not different texts or numbers")
    return {int(j): tuple(labels) for j, labels in given.items()}


ABOUT: Layout = (
    Field("provenance", json_value(an_object, dict), "result_.provenance"),
    Field("details", json_value(an_object, dict), "result_.details"),
)
COLUMNS: Layout = (
    Field("seed", WHOLE, "_seed"),
    Field("names", TEXTS, lambda model: model._schema[0]),
    Field("named", FLAG, lambda model: hasattr(model, "feature_names_in_")),
    Field(
        "categories",
        json_value(category_labels, lambda given: {str(j): list(labels) for j, labels in given.items()}),
        lambda model: model._schema[1],
    ),
    Size("columns", lambda reading: len(reading["names"])),
    *ABOUT,
)
"""Of estimators of rows."""


def least_concentration(model: Any) -> float:
    """What a concentration lies above: 0, but for Pitman and Yor's process."""
    return -1.0 if getattr(model, "process", None) == "pitman-yor" else 0.0


ROWS: Layout = (
    Field("likelihood", json_value(from_document, to_document), "_bound"),
    Field("tree", tree_table("tree_", "rows", leaf_labels="leaf_labels"), "tree_"),
    Field("labels", label_array("rows", "labels do not fit the tree", "labels are not 0, 1, ..."), "labels_"),
    Field("concentration", NUMBER, "concentration_"),
    Check(NOT_FINITE, lambda reading: least_concentration(reading.model) < reading["concentration"] < np.inf),
    Size("nodes", lambda reading: reading["tree"].n_nodes),
    Size("clusters", lambda reading: int(reading["labels"].max()) + 1),
    Size("encoded", lambda reading: reading.sizes.get("axes", 0) or reading.sizes["columns"]),  # after a projection
    Check(
        "the likelihood has other columns",
        lambda reading: reading["likelihood"].encoding.shift.shape == (reading.sizes["encoded"],),
    ),
    Field("template", floats("encoded", words="the template does not fit the columns", finite=False), "_template"),
    Check("the template does not fit the columns", lambda reading: not np.isinf(reading["template"]).any()),
    Field("description", DESCRIPTION, "result_.description"),
)
"""Of estimators of rows, after the columns and what they were projected on."""

OWN_PROBABILITIES = Part(
    "own_probabilities",
    lambda model: hasattr(model, "_own_probabilities"),
    (Field("own_probabilities", floats("rows", words="probabilities do not fit the labels"), "_own_probabilities"),),
)
"""Certainty of each label; files of older versions have none."""


def draws_layout(field: Field, needs: Callable[[Reading], Sequence[str]]) -> Layout:
    """Draws, numbers of each by name, acceptance counts."""
    return (
        field,
        Check("there is no draw", lambda reading: reading.sizes["chains"] > 0 and reading.sizes["draws"] > 0),
        Field("scalars", scalar_arrays(needs), "posterior_.scalars"),
        Field("acceptance", COUNTS, "acceptance_"),
    )


def label_draws(needs: Callable[[Reading], Sequence[str]]) -> Layout:
    """Draws of labels of the rows."""
    words = "draws do not fit the labels"
    kind = array("iu", "chains", "draws", "rows", words=words, below="rows", out_of_range="draws are no labels")
    return draws_layout(Field("draws", kind, "posterior_.labels"), needs)

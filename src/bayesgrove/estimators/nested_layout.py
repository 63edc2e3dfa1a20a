"""What a model file holds of a nested hierarchy: its draws, the tree shown, what prediction needs of some draws."""

from typing import Any

import numpy as np

from bayesgrove.estimators.layouts import COLUMNS, ROWS, draws_layout
from bayesgrove.inference.path_posterior import DrawPlace
from bayesgrove.io.schema import (
    FLAG,
    NAMED_NUMBERS,
    NOT_FINITE,
    NUMBERS,
    Check,
    Field,
    Layout,
    Reading,
    Size,
    array,
    floats,
    json_value,
    record,
    shares,
    starts,
)
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nested.predictive import Kept
from bayesgrove.models.nested.preparation import Preparation
from bayesgrove.models.nested.target import VALUE_NAMES
from bayesgrove.stats.paths import number_paths, path_nodes

NUMBER_NAMES = VALUE_NAMES[:5]
PREPARATION = record(
    Preparation,
    "",
    {
        "centre": floats("columns", words="the preparation does not fit"),
        "directions": floats("axes", "columns", words="the directions do not fit"),
    },
    numbers=("scale",),
)
NO_RISE = "starts do not rise from 0"
KEPT = record(
    Kept,
    "kept_",
    {
        "node_start": starts("kept_draws", "kept_nodes", words=NO_RISE),
        "component_start": starts("kept_draws", "kept_components", words=NO_RISE),
        "parent": array(np.int64, "kept_nodes"),
        "size": floats("kept_nodes"),
        "weight": floats("weights"),
        "rows": floats("kept_components", "width"),
        "values": floats("kept_draws", len(VALUE_NAMES)),
        "discriminants": floats("kept_nodes", "coordinates", words="discriminants do not fit"),
        "share": shares("kept_nodes", "shown"),
    },
)
PATHS = array(
    "iu",
    "chains",
    "draws",
    "rows",
    "depth",
    words="draws do not fit the labels",
    below="rows",
    out_of_range="draws are no paths",
)
SELECTED = json_value(
    lambda given: None if given is None else DrawPlace(int(given[0]), int(given[1])),
    lambda place: None if place is None else list(place),
)


def width_of(reading: Reading) -> int:
    """Numbers of a component: its mean, or statistics of the likelihood."""
    if reading["is_plain"] and reading.model.means == "sampled":
        return int(reading["preparation"].width)
    return int(n_stats(reading["likelihood"].prior))


def numbers_of(reading: Reading) -> list[float]:
    """All single numbers."""
    return [*reading["numbers"], reading["preparation"].scale]


def weights_fit(kept: Kept) -> bool:
    """Whether each node of each draw has a weight of each component."""
    n_weights = int(np.diff(kept.node_start) @ np.diff(kept.component_start))
    return n_weights == kept.weight.size and bool(kept.weight.min() >= 0.0)


def parents_come_first(kept: Kept) -> bool:
    """Whether each draw's first node is its root and every other one comes after its parent."""
    place = np.arange(kept.parent.size) - np.repeat(kept.node_start[:-1], np.diff(kept.node_start))
    is_root = place == 0
    inner = kept.parent[~is_root]
    return bool(np.all(kept.parent[is_root] == -1) and np.all((inner >= 0) & (inner < place[~is_root])))


def given_numbers(model: Any) -> list[float]:
    """Numbers by the order of their names."""
    return [getattr(model, f"{name}_") for name in NUMBER_NAMES]


LAYOUT: Layout = (
    *COLUMNS,
    Field("preparation", PREPARATION, "_preparation"),
    *ROWS,
    Field("is_plain", FLAG, lambda model: model.likelihood is None),
    Field("numbers", NUMBERS, given_numbers),
    Check(NOT_FINITE, lambda read: np.isfinite(numbers_of(read)).all()),
    Check("a number is not positive", lambda read: min(numbers_of(read)) > 0.0),
    Size("depth", lambda read: read.model.depth),
    *draws_layout(
        Field("paths", PATHS, "posterior_.paths"), lambda read: ("log_joint", "n_clusters", "n_level_1", "cdl")
    ),
    Field(
        "components",
        array("iu", "chains", "draws", "rows", words="components do not fit the draws"),
        lambda model: model.posterior_.extra["components"],
    ),
    Field("levels", array(np.int64, "rows", "depth", words="levels do not fit the labels"), "level_labels_"),
    Check("levels are no paths", lambda read: np.array_equal(read["levels"], number_paths(read["levels"]))),
    Check("labels are not those of the leaves", lambda read: np.array_equal(read["levels"][:, -1], read["labels"])),
    Size("width", width_of),
    Size("shown", lambda read: path_nodes(read["levels"]).parent.size),
    Size("coordinates", lambda read: read.model._n_coordinates(read["preparation"])),
    Field("kept", KEPT, "_kept"),
    Check("there is no draw", lambda read: read.sizes["kept_draws"] > 0),
    Check("weights do not fit the nodes", lambda read: weights_fit(read["kept"])),
    Check("parents do not come first", lambda read: parents_come_first(read["kept"])),
    Check("a node is empty", lambda read: read["kept"].size.min() > 0.0 and read["kept"].values.min() > 0.0),
    Field("selected", SELECTED, "selected_draw_"),
    Field("scores", NAMED_NUMBERS, "scores_"),
    Field("extra_numbers", NAMED_NUMBERS, lambda model: model._extra_numbers()),
)

"""What a model file holds of a flat mixture: its process, its draws, what prediction needs of some of them."""

import numpy as np

from bayesgrove.estimators.layouts import label_draws
from bayesgrove.estimators.mixture_processes import is_process, made_process
from bayesgrove.io.schema import (
    NOT_FINITE,
    NUMBER,
    Check,
    Field,
    Layout,
    Part,
    Reading,
    Size,
    array,
    floats,
    json_value,
    label_array,
    record,
    shares,
    starts,
)
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.predictive import Kept
from bayesgrove.models.nrm.process import GENERALISED_GAMMA, Process
from bayesgrove.stats.partitions import relabel

KEPT = record(
    Kept,
    "kept_",
    {
        "start": starts("kept_draws", "kept_clusters"),
        "rows": floats("kept_clusters", "stats"),
        "log_weight": floats("kept_clusters"),
        "log_new": floats("kept_draws"),
        "log_factors": floats("kept_draws", "free"),
        "share": shares("kept_clusters", "clusters"),
    },
)

CLUSTER_DRAWS = array("iu", "chains", "cluster_draws", "rows", words="draws of clusters do not fit", below="rows")
COMPONENTS = label_array("rows", "components do not fit the tree", "components are not 0, 1, ...")


def scalar_names(reading: Reading) -> tuple[str, ...]:
    """Scalars that draws of this model must have."""
    process = reading["process"]
    own = {"log_u": process.kind == GENERALISED_GAMMA, "concentration": process.free_alpha, "sigma": process.free_sigma}
    learned = (f"log_factor_{name}" for name in reading["likelihood"].free)
    return ("log_joint", "n_clusters", *(name for name, is_there in own.items() if is_there), *learned)


MIXTURE: Layout = (
    Field("process", json_value(made_process, Process.flat), "_process"),
    Field("sigma", NUMBER, "sigma_"),
    Check("this is no process", lambda read: is_process(read["process"])),
    Check(NOT_FINITE, lambda read: np.isfinite([read["sigma"], *read["process"].flat()]).all()),
    *label_draws(scalar_names),
    Size("stats", lambda read: n_stats(read["likelihood"].prior)),
    Size("free", lambda read: len(read["likelihood"].free)),
    Field("kept", KEPT, "_kept"),
    Check("there is no draw", lambda read: read.sizes["kept_draws"] > 0),
    Part(
        "cluster_draws",
        lambda model: model.cluster_posterior_ is not model.posterior_,
        (
            Field("cluster_draws", CLUSTER_DRAWS, "cluster_posterior_.labels"),
            Field("component_labels", COMPONENTS, "component_labels_"),
        ),
    ),
    Part(
        "init",
        lambda model: not isinstance(model.init, str),
        (Field("init", array("iu", "rows", words="first labels do not fit"), lambda model: relabel(model.init)),),
    ),
)

"""Draws in the terms of ArviZ: an xarray DataTree, and netCDF files."""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesgrove.core.errors import MissingExtraError
from bayesgrove.io.atomic import replacing


def draws_to_arviz(
    labels: np.ndarray,
    others: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    *,
    name: str = "labels",
    item: str = "item",
    inner: tuple[str, np.ndarray] | None = None,
    dims: Mapping[str, list[str]] | None = None,
) -> Any:
    """A DataTree with one group `posterior`: labels (chain, draw, item) and all other arrays (chain, draw, ...).

    `inner` names a further dimension of the labels, and its coordinates; `dims` names those of other arrays.
    """
    try:
        import arviz_base
    except ImportError as error:
        raise MissingExtraError("to_arviz needs arviz-base and xarray; pip install 'bayesgrove[bayes]'.") from error
    return arviz_base.from_dict(
        {"posterior": {name: labels, **others}},
        dims={name: [item] if inner is None else [item, inner[0]], **(dims or {})},
        coords={item: np.arange(labels.shape[2]), **({} if inner is None else dict([inner]))},
        attrs={"/": {name: plain_attribute(value) for name, value in attributes.items()}},
    )


def plain_attribute(value: Any) -> str | int | float:
    """The value as netCDF can store it: numbers and texts as they are, all else as JSON text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value)


def write_netcdf(tree: Any, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a DataTree with h5netcdf: a whole file, or none."""
    try:
        import h5netcdf  # noqa: F401  (xarray would say only that no engine was found)
    except ImportError as error:
        raise MissingExtraError("to_netcdf needs h5netcdf and h5py; pip install 'bayesgrove[bayes]'.") from error
    squeezed = {
        group.path: {name: {"zlib": True, "complevel": 1} for name in group.data_vars}
        for group in tree.subtree
        if group.data_vars
    }
    with replacing(path, overwrite=overwrite) as stream:
        tree.to_netcdf(stream, engine="h5netcdf", encoding=squeezed)

"""AnnData objects by what they can do; the library itself is not imported."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.core.table import Table

PARTS = ("obs", "var", "obsm", "layers", "obs_names", "var_names", "uns")


def is_anndata(value: Any) -> bool:
    """True for an AnnData object."""
    return hasattr(value, "X") and all(hasattr(value, part) for part in PARTS)


def rows_of_cells(cells: Any, use_rep: str | None = None, layer: str | None = None) -> Any:
    """The cells of an AnnData object as a table, or as a sparse matrix where they are stored as one.

    Parameters
    ----------
    cells : AnnData
    use_rep : str, optional
        A representation in `obsm`, such as "X_pca"; "X" is the same as None.
    layer : str, optional
        A layer in place of `X`.
    """
    if not is_anndata(cells):
        raise InvalidTableError(f"expected an AnnData object, got {type(cells).__name__}.")
    if use_rep not in (None, "X") and layer is not None:
        raise InvalidSettingError(f"give use_rep or layer, got use_rep={use_rep!r} and layer={layer!r}.")
    if use_rep not in (None, "X"):
        values, names = _entry(cells.obsm, use_rep, "use_rep", "obsm"), None
    elif layer is not None:
        values, names = _entry(cells.layers, layer, "layer", "layers"), cells.var_names
    else:
        values, names = cells.X, cells.var_names
    if values is None:
        raise InvalidTableError("the AnnData object has no X; name a representation (use_rep=) or a layer (layer=).")
    if hasattr(values, "toarray"):
        return values
    array = np.ascontiguousarray(values, dtype=np.float64)
    columns = [f"{use_rep}_{j}" for j in range(array.shape[1])] if names is None else [str(name) for name in names]
    return Table(array, tuple(columns), ("float",) * array.shape[1])


def _entry(parts: Any, name: str, setting: str, where: str) -> Any:
    if name not in parts:
        known = ", ".join(map(str, parts.keys())) or "none"
        advice = " Run scanpy.pp.pca first, or name another." if name == "X_pca" else ""
        raise InvalidSettingError(f"there is no {name!r} in {where}, which has: {known}.{advice}", setting=setting)
    return parts[name]

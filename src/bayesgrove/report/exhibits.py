"""What models add to a page, as documents; a kind the page does not know is refused here, not in the browser."""

import base64
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.exhibits import (
    BarsExhibit,
    Exhibit,
    GridExhibit,
    HeatMapExhibit,
    LinesExhibit,
    PictureExhibit,
    TextsExhibit,
)
from bayesgrove.report.encode import number, pack


def exhibit_document(exhibit: Exhibit) -> dict[str, Any]:
    """Kind, title, note and content."""
    for kind, (name, content) in KINDS.items():
        if isinstance(exhibit, kind):
            return {"kind": name, "title": exhibit.title, "note": exhibit.note, **content(exhibit)}
    raise InvalidInputError(f"a report shows {[name for name, _ in KINDS.values()]}, got {type(exhibit).__name__}.")


def _grid(exhibit: GridExhibit) -> dict[str, Any]:
    return {"columns": list(exhibit.columns), "rows": [[_cell(cell) for cell in row] for row in exhibit.rows]}


def _cell(cell: Any) -> Any:
    if cell is None or isinstance(cell, str):
        return cell
    return number(float(cell)) if isinstance(cell, float | np.floating) else int(cell)


def _texts(exhibit: TextsExhibit) -> dict[str, Any]:
    return {"names": list(exhibit.names), "texts": list(exhibit.texts)}


def _heat_map(exhibit: HeatMapExhibit) -> dict[str, Any]:
    return {
        "values": pack(exhibit.values, "f4"),
        "rows": list(exhibit.row_names),
        "columns": list(exhibit.column_names),
        "unit": exhibit.unit,
        "middle": exhibit.middle,
    }


def _lines(exhibit: LinesExhibit) -> dict[str, Any]:
    return {
        "x": pack(exhibit.x, "f4"),
        "series": [{"name": name, "values": pack(values, "f4")} for name, values in exhibit.series.items()],
        "x_label": exhibit.x_label,
        "y_label": exhibit.y_label,
    }


def _bars(exhibit: BarsExhibit) -> dict[str, Any]:
    ends = {name: getattr(exhibit, name) for name in ("values", "low", "high")}
    return {
        "names": list(exhibit.names),
        **{name: None if part is None else pack(part, "f4") for name, part in ends.items()},
        "y_label": exhibit.y_label,
    }


def _picture(exhibit: PictureExhibit) -> dict[str, Any]:
    return {"png": base64.b64encode(exhibit.png).decode("ascii"), "alt": exhibit.alt}


KINDS: dict[type, tuple[str, Any]] = {
    GridExhibit: ("grid", _grid),
    TextsExhibit: ("texts", _texts),
    HeatMapExhibit: ("heat map", _heat_map),
    LinesExhibit: ("lines", _lines),
    BarsExhibit: ("bars", _bars),
    PictureExhibit: ("picture", _picture),
}

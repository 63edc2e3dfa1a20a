"""What columns a model was trained on, so that new rows mean the same by the same numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import Table

Schema = Sequence[Mapping[str, Any]]


def schema_of(table: Table) -> list[dict[str, Any]]:
    """One record per column in JSON's types: name, kind, and labels of a category column."""
    columns: list[dict[str, Any]] = []
    for j, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        column: dict[str, Any] = {"name": name, "kind": kind}
        if j in table.categories:
            column["categories"] = [str(label) for label in table.categories[j]]
        columns.append(column)
    return columns


def align_table(table: Table, schema: Schema) -> Table:
    """The table with the schema's columns in its order and its category codes; other columns are left out."""
    place = {name: j for j, name in enumerate(table.names)}
    missing = [column["name"] for column in schema if column["name"] not in place]
    if missing:
        raise InvalidTableError(
            f"the data lack {len(missing)} of the model's columns: {', '.join(missing[:5])}. "
            "Give a table with the columns the model was fitted on.",
            columns=missing,
        )
    values = np.empty((table.n_rows, len(schema)))
    categories = {}
    for j, column in enumerate(schema):
        values[:, j] = _aligned(table, place[column["name"]], column)
        if column["kind"] == "category":
            categories[j] = tuple(column["categories"])
    names, kinds = (tuple(column[field] for column in schema) for field in ("name", "kind"))
    return Table(values, names, kinds, categories)


def _aligned(table: Table, j: int, column: Mapping[str, Any]) -> np.ndarray:
    values, name = table.values[:, j], column["name"]
    present = values[~np.isnan(values)]
    if column["kind"] != "category":
        if table.kinds[j] == "category" and present.size:
            raise InvalidTableError(
                f"column {name!r} was numbers when the model was fitted, now it has the text "
                f"{table.categories[j][0]!r}; correct it or leave the cell empty.",
                column=name,
            )
        return values
    codes = {label: code for code, label in enumerate(column["categories"])}
    found = _labels(table, j, present)
    unseen = [label for label in found.values() if label not in codes]
    if unseen:
        raise InvalidTableError(
            f"column {name!r} has the category {unseen[0]!r}, which the model has not seen; "
            "leave the cell empty or fit again.",
            column=name,
        )
    return np.array([np.nan if np.isnan(value) else codes[found[value]] for value in values.tolist()])


def _labels(table: Table, j: int, present: np.ndarray) -> dict[float, str]:
    """Each value in the column and the label it stands for; whole numbers are their own labels."""
    values = np.unique(present).tolist()
    if j in table.categories:
        return {value: str(table.categories[j][int(value)]) for value in values}
    return {value: str(int(value)) if value == int(value) else str(value) for value in values}

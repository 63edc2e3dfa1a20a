"""Results as rows of a CSV file, each found by its key."""

import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

KEY = ("set", "method", "limit", "version")
FIGURES = ("ari", "clusters", "true_clusters", "ari_at_k", "purity", "log_density", "cpu_seconds")
COLUMNS = ("group", "set", "method", "rows", "columns", *FIGURES, "limit", "version", "error")
WHOLE = ("rows", "columns", "clusters", "true_clusters", "limit")
Key = tuple[Any, ...]
Row = dict[str, Any]


def key_of(row: Mapping[str, Any]) -> Key:
    """What makes a row unique."""
    return tuple(row[name] for name in KEY)


class Store:
    """Rows of a file, which is written again with each new row, so that an interrupted run resumes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Key, Row] = {}
        if path.exists():
            with path.open(newline="") as stream:
                self.rows = {key_of(row): row for row in map(parsed, csv.DictReader(stream))}

    def is_finished(self, key: Key) -> bool:
        """Whether there is a row that did not fail."""
        return key in self.rows and not self.rows[key].get("error")

    def put(self, *rows: Row) -> None:
        """Keep rows in place of older ones with their keys."""
        self.rows.update({key_of(row): row for row in rows})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        write_rows(unfinished, sorted(self.rows.values(), key=lambda own: (own["group"], own["set"], own["method"])))
        os.replace(unfinished, self.path)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...] = COLUMNS) -> None:
    """A CSV file of rows; floats with six digits."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[written(row.get(name)) for name in columns] for row in rows])


def written(value: Any) -> str:
    """Six digits of a float; nothing for nothing."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def parsed(row: Mapping[str, str]) -> Row:
    """A row of a file with numbers in place of texts and None in place of empty cells."""
    found: Row = {name: text or None for name, text in row.items()}
    for name in (*FIGURES, *WHOLE):
        if found.get(name) is not None:
            found[name] = int(found[name]) if name in WHOLE else float(found[name])
    return found

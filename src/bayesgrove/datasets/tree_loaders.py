"""Loaders of research data that are trees."""

import gzip
import json
import zlib
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import Dataset, dataset_files
from bayesgrove.datasets.loaders import Folder
from bayesgrove.io.tree_data import TreeData, read_trees

PARTS = ("train", "test")
INEX_LABELS, INEX_OUTDEGREE = 366, 32


def load_inex05(data_home: Folder = None, part: str = "train") -> Dataset:
    """4,820 (`part="train"`) or 4,811 (`part="test"`) XML documents as trees of 366 labels, with 11 classes.

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.
    part : {"train", "test"}, default="train"

    Examples
    --------
    >>> import bayesgrove as bg
    >>> documents = bg.datasets.load_inex05(part="test")  # doctest: +SKIP
    >>> len(documents.data), len(set(documents.target))  # doctest: +SKIP
    (4811, 11)
    """
    path = dataset_files("inex05", data_home)[_part_number(part)]
    data = read_trees(path, format="inex", max_children=INEX_OUTDEGREE).with_vocabulary(INEX_LABELS)
    description = "INEX 2005 XML mining track, corpus m-db-s-0, as trees: Bacciu & Castellana."
    return Dataset(data, data.targets, (), description, data.sources)


def load_synthetic_trees(data_home: Folder = None, part: str = "train") -> Dataset:
    """600 or 180 ternary trees of three shapes: left (1), symmetric (2), right (3) (Bacciu & Castellana).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.
    part : {"train", "test"}, default="train"

    Examples
    --------
    >>> import bayesgrove as bg
    >>> trees = bg.datasets.load_synthetic_trees(part="test")  # doctest: +SKIP
    >>> len(trees.data), sorted(set(trees.target.tolist()))  # doctest: +SKIP
    (180, [1, 2, 3])
    """
    path = dataset_files("synthetic_trees", data_home)[0]
    name = PARTS[_part_number(part)]
    try:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            record: dict[str, Any] = json.load(stream)
        trees = record[name]
        data = TreeData.from_parents(
            [np.array(tree["label"]) - 1 for tree in trees],
            [tree["parent"] for tree in trees],
            [tree["pos"] for tree in trees],
            max_outdegree=record["L"],
            n_labels=record["M"],
        )
        target = np.array([tree["y"] for tree in trees], np.int64)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise InvalidFileError(f"{path} is damaged ({error}); copy it again.", path=path) from error
    return Dataset(data, target, (), "Synthetic ternary trees of three shapes: Bacciu & Castellana.")


def _part_number(part: str) -> int:
    if part not in PARTS:
        raise InvalidSettingError(f'part is "train" or "test", got {part!r}. Choose one.')
    return PARTS.index(part)

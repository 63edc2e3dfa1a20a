"""Loaders of research data; each gives a `Dataset`, or says where to put the files that are missing."""

import contextlib
import csv
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import Dataset, dataset_files

Folder = str | os.PathLike[str] | None


def load_animals(data_home: Folder = None) -> Dataset:
    """33 animals x 102 yes/no features with 8 classes (Kemp & Tenenbaum 2008)."""
    features, classes = dataset_files("animals", data_home)
    header, *rows = _csv_rows(features)
    class_of = dict(_csv_rows(classes)[1:])
    names = tuple(row[0] for row in rows)
    return Dataset(
        np.array([row[1:] for row in rows], dtype=np.int64),
        np.array([class_of[name] for name in names]),
        tuple(header[1:]),
        "Animals, 33 x 102 binary features: Kemp & Tenenbaum (2008), PNAS.",
        names,
    )


def load_zoo(data_home: Folder = None) -> Dataset:
    """101 animals x 15 yes/no features and the number of legs, with 7 types (UCI)."""
    header, *rows = _csv_rows(dataset_files("zoo", data_home)[0])
    numbers = np.array([row[1:] for row in rows], dtype=np.int64)
    return Dataset(
        numbers[:, :-1],
        numbers[:, -1],
        tuple(header[1:-1]),
        "Zoo, 101 x 16: UCI Machine Learning Repository (Forsyth). 'frog' occurs twice.",
        tuple(row[0] for row in rows),
    )


def load_sonar(data_home: Folder = None) -> Dataset:
    """208 sonar echoes x 60 energies, mines (M) and rocks (R) (UCI)."""
    rows = _csv_rows(dataset_files("sonar", data_home)[0])
    return Dataset(
        np.array([row[:-1] for row in rows], dtype=np.float64),
        np.array([row[-1] for row in rows]),
        _numbered("energy", 60),
        "Sonar, 208 x 60: Gorman & Sejnowski, UCI Machine Learning Repository.",
    )


def load_musk1(data_home: Folder = None) -> Dataset:
    """476 conformations of 92 molecules x 166 features, musk (1) or not (0) (UCI)."""
    rows = _csv_rows(dataset_files("musk1", data_home)[0])
    return Dataset(
        np.array([row[2:168] for row in rows], dtype=np.float64),
        np.array([float(row[168]) for row in rows]).astype(np.int64),
        tuple(f"f{j}" for j in range(1, 167)),
        "Musk version 1, 476 x 166: UCI Machine Learning Repository.",
        tuple(row[1] for row in rows),
    )


def load_isolet(data_home: Folder = None) -> Dataset:
    """1,560 spoken letters x 617 features, 26 letters (a part of UCI's ISOLET)."""
    arrays = _load_npz(dataset_files("isolet", data_home)[0])
    return Dataset(
        arrays["X"].astype(np.float64),
        arrays["y"],
        _numbered("f", 617),
        "Isolet, 1,560 of 7,797 rows x 617: UCI Machine Learning Repository.",
    )


def load_arcene(data_home: Folder = None) -> Dataset:
    """200 mass spectra x 10,000 features, cancer (1) or not (-1); training rows first, then validation."""
    train, train_labels, valid, valid_labels = dataset_files("arcene", data_home)
    return Dataset(
        np.concatenate([_numbers(train), _numbers(valid)]),
        np.concatenate([_numbers(train_labels), _numbers(valid_labels)]).ravel().astype(np.int64),
        _numbered("f", 10_000),
        "Arcene, 200 x 10,000: NIPS 2003 feature selection challenge.",
    )


def load_toy1300(data_home: Folder = None) -> Dataset:
    """1,300 points in the plane in 13 clusters of 100 (Lee & Choi 2015)."""
    points, labels = dataset_files("toy1300", data_home)
    return Dataset(
        _numbers(points),
        _numbers(labels).ravel().astype(np.int64),
        _numbered("x", 2),
        "Toy data, 1,300 x 2, of Lee & Choi, NIPS 2015.",
    )


def load_toy10k(data_home: Folder = None) -> Dataset:
    """10,000 points x 6 in 119 clusters of very different sizes (Lee & Choi 2015)."""
    points, labels = dataset_files("toy10k", data_home)
    return Dataset(
        _numbers(points),
        _numbers(labels).ravel().astype(np.int64),
        _numbered("x", 6),
        "10K data, 10,000 x 6, of Lee & Choi, NIPS 2015.",
    )


def load_fashion_sample(data_home: Folder = None, *, n_rows: int = 1000) -> Dataset:
    """1,000 images of clothes x 784 grey values (0-255), 100 of each of 10 classes (Fashion-MNIST).

    `n_rows=100` gives the balanced part of 100, 10 of each class. Pictures are `data.reshape(-1, 28, 28)`.
    """
    if n_rows not in (100, 1000):
        raise InvalidSettingError(f"n_rows is 100 or 1000, got {n_rows!r}.", setting="n_rows")
    arrays = _load_npz(dataset_files("fashion_sample", data_home)[0])
    rows = arrays["subset100"] if n_rows == 100 else slice(None)
    return Dataset(
        arrays["images"][rows].reshape(n_rows, -1).astype(np.float64),
        arrays["class_names"][arrays["labels"][rows]],
        _numbered("pixel", 784),
        "Fashion-MNIST, a sample of 1,000: Xiao, Rasul & Vollgraf (2017), MIT licence.",
    )


def load_nips(data_home: Folder = None) -> Dataset:
    """1,500 papers x counts of 7,605 words, a scipy sparse array without classes."""
    from scipy.sparse import csr_array

    counts, vocabulary = dataset_files("nips", data_home)
    arrays = _load_npz(counts)
    indices = arrays["indices"].astype(np.int32)
    matrix = csr_array((arrays["data"].astype(np.int64), indices, arrays["indptr"]), shape=tuple(arrays["shape"]))
    words = tuple(vocabulary.read_text(encoding="utf-8").split())
    description = "NIPS papers, 1,500 x 7,605 words (those seen more than 20 times): UCI Bag of Words."
    return Dataset(matrix, None, words, description)


def _open_text(path: Path) -> Any:
    opener: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    return opener.get(path.suffix, open)(path, "rt", encoding="utf-8")


def _csv_rows(path: Path) -> list[list[str]]:
    with _reading(path), _open_text(path) as stream:
        return [row for row in csv.reader(stream) if row]


def _numbers(path: Path) -> np.ndarray:
    """A 2-d array from lines of numbers between blanks; empty lines are passed over."""
    with _reading(path), _open_text(path) as stream:
        return np.loadtxt(stream, ndmin=2)


def _load_npz(path: Path) -> dict[str, np.ndarray]:
    with _reading(path), np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what readers raise on a damaged file into one kind of error."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidFileError(f"{path} is damaged ({error}); copy it again.", path=path) from error


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{j}" for j in range(count))

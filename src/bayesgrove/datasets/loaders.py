"""Loaders of research data; each gives a `Dataset`, or says where to put the files that are missing."""

import contextlib
import csv
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import Dataset, dataset_files

Folder = str | os.PathLike[str] | None


def load_animals(data_home: Folder = None) -> Dataset:
    """33 animals x 102 yes/no features with 8 classes (Kemp & Tenenbaum 2008).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> animals = bg.datasets.load_animals()  # doctest: +SKIP
    >>> animals.data.shape, animals.row_names[:2], animals.feature_names[0]  # doctest: +SKIP
    ((33, 102), ('Elephant', 'Rhino'), 'has lungs')
    """
    features, classes = dataset_files("animals", data_home)
    header, *rows = _csv_rows(features, 34, 103)
    class_of = dict(_csv_rows(classes, 34, 2)[1:])
    names = tuple(row[0] for row in rows)
    return Dataset(
        np.array([row[1:] for row in rows], dtype=np.int64),
        np.array([class_of[name] for name in names]),
        tuple(header[1:]),
        "Animals, 33 x 102 binary features: Kemp & Tenenbaum (2008), PNAS.",
        names,
    )


def load_zoo(data_home: Folder = None) -> Dataset:
    """101 animals x 15 yes/no features and the number of legs, with 7 types (UCI).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> zoo = bg.datasets.load_zoo()  # doctest: +SKIP
    >>> zoo.data.shape, zoo.row_names[:2], zoo.feature_names[:2]  # doctest: +SKIP
    ((101, 16), ('aardvark', 'antelope'), ('hair', 'feathers'))
    """
    header, *rows = _csv_rows(dataset_files("zoo", data_home)[0], 102, 18)
    numbers = np.array([row[1:] for row in rows], dtype=np.int64)
    return Dataset(
        numbers[:, :-1],
        numbers[:, -1],
        tuple(header[1:-1]),
        "Zoo, 101 x 16: UCI Machine Learning Repository (Forsyth). 'frog' occurs twice.",
        tuple(row[0] for row in rows),
    )


def load_sonar(data_home: Folder = None) -> Dataset:
    """208 sonar echoes x 60 energies, mines (M) and rocks (R) (UCI).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> sonar = bg.datasets.load_sonar()  # doctest: +SKIP
    >>> sonar.data.shape, int((sonar.target == "M").sum())  # doctest: +SKIP
    ((208, 60), 111)
    """
    rows = _csv_rows(dataset_files("sonar", data_home)[0], 208, 61)
    return Dataset(
        np.array([row[:-1] for row in rows], dtype=np.float64),
        np.array([row[-1] for row in rows]),
        _numbered("energy", 60),
        "Sonar, 208 x 60: Gorman & Sejnowski, UCI Machine Learning Repository.",
    )


def load_musk1(data_home: Folder = None) -> Dataset:
    """476 conformations of 92 molecules x 166 features, musk (1) or not (0) (UCI).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> musk = bg.datasets.load_musk1()  # doctest: +SKIP
    >>> musk.data.shape, int(musk.target.sum())  # doctest: +SKIP
    ((476, 166), 207)
    """
    rows = _csv_rows(dataset_files("musk1", data_home)[0], 476, 169)
    return Dataset(
        np.array([row[2:168] for row in rows], dtype=np.float64),
        np.array([float(row[168]) for row in rows]).astype(np.int64),
        tuple(f"f{j}" for j in range(1, 167)),
        "Musk version 1, 476 x 166: UCI Machine Learning Repository.",
        tuple(row[1] for row in rows),
    )


def load_isolet(data_home: Folder = None) -> Dataset:
    """1,560 spoken letters x 617 features, 26 letters (a part of UCI's ISOLET).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> isolet = bg.datasets.load_isolet()  # doctest: +SKIP
    >>> isolet.data.shape, len(set(isolet.target))  # doctest: +SKIP
    ((1560, 617), 26)
    """
    arrays = _load_npz(dataset_files("isolet", data_home)[0], X=(1560, 617), y=(1560,))
    return Dataset(
        arrays["X"].astype(np.float64),
        arrays["y"],
        _numbered("f", 617),
        "Isolet, 1,560 of 7,797 rows x 617: UCI Machine Learning Repository.",
    )


def load_arcene(data_home: Folder = None) -> Dataset:
    """200 mass spectra x 10,000 features, cancer (1) or not (-1); training rows first, then validation.

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> arcene = bg.datasets.load_arcene()  # doctest: +SKIP
    >>> arcene.data.shape, int((arcene.target == 1).sum())  # doctest: +SKIP
    ((200, 10000), 88)
    """
    train, train_labels, valid, valid_labels = dataset_files("arcene", data_home)
    return Dataset(
        np.concatenate([_numbers(train, 100, 10_000), _numbers(valid, 100, 10_000)]),
        np.concatenate([_numbers(train_labels, 100, 1), _numbers(valid_labels, 100, 1)]).ravel().astype(np.int64),
        _numbered("f", 10_000),
        "Arcene, 200 x 10,000: NIPS 2003 feature selection challenge.",
    )


def load_toy1300(data_home: Folder = None) -> Dataset:
    """1,300 points in the plane in 13 clusters of 100 (Lee & Choi 2015).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> toy = bg.datasets.load_toy1300()  # doctest: +SKIP
    >>> toy.data.shape, len(set(toy.target))  # doctest: +SKIP
    ((1300, 2), 13)
    """
    return _labelled_points(dataset_files("toy1300", data_home), 1300, 2, "Toy data, 1,300 x 2: Lee & Choi, NIPS 2015.")


def load_toy10k(data_home: Folder = None) -> Dataset:
    """10,000 points x 6 in 119 clusters of very different sizes (Lee & Choi 2015).

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> toy = bg.datasets.load_toy10k()  # doctest: +SKIP
    >>> toy.data.shape, len(set(toy.target))  # doctest: +SKIP
    ((10000, 6), 119)
    """
    return _labelled_points(
        dataset_files("toy10k", data_home), 10_000, 6, "10K data, 10,000 x 6: Lee & Choi, NIPS 2015."
    )


def load_fashion_sample(data_home: Folder = None, *, n_rows: int = 1000) -> Dataset:
    """1,000 images of clothes x 784 grey values (0-255), 100 of each of 10 classes (Fashion-MNIST).

    `n_rows=100` gives the balanced part of 100, 10 of each class. Pictures are `data.reshape(-1, 28, 28)`.

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.
    n_rows : {100, 1000}, default=1000

    Examples
    --------
    >>> import bayesgrove as bg
    >>> clothes = bg.datasets.load_fashion_sample(n_rows=100)  # doctest: +SKIP
    >>> clothes.data.reshape(-1, 28, 28).shape, len(set(clothes.target))  # doctest: +SKIP
    ((100, 28, 28), 10)
    """
    if n_rows not in (100, 1000):
        raise InvalidSettingError(f"n_rows is 100 or 1000, got {n_rows!r}.", setting="n_rows")
    shapes = {"images": (1000, 28, 28), "labels": (1000,), "class_names": (10,), "subset100": (100,)}
    arrays = _load_npz(dataset_files("fashion_sample", data_home)[0], **shapes)
    rows = arrays["subset100"] if n_rows == 100 else slice(None)
    return Dataset(
        arrays["images"][rows].reshape(n_rows, -1).astype(np.float64),
        arrays["class_names"][arrays["labels"][rows]],
        _numbered("pixel", 784),
        "Fashion-MNIST, a sample of 1,000: Xiao, Rasul & Vollgraf (2017), MIT licence.",
    )


def load_nips(data_home: Folder = None) -> Dataset:
    """1,500 papers x counts of 7,605 words, a scipy sparse array without classes.

    Parameters
    ----------
    data_home : path, optional
        Folder of the research data; by default what the function `data_home` gives.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> nips = bg.datasets.load_nips()  # doctest: +SKIP
    >>> nips.data.shape, int(nips.data.sum()), nips.feature_names[:2]  # doctest: +SKIP
    ((1500, 7605), 1870706, ('aaai', 'abbott'))
    """
    from scipy.sparse import csr_array

    counts, vocabulary = dataset_files("nips", data_home)
    arrays = _load_npz(counts, data=(709_477,), indices=(709_477,), indptr=(1501,), shape=(2,))
    indices = arrays["indices"].astype(np.int32)
    matrix = csr_array((arrays["data"].astype(np.int64), indices, arrays["indptr"]), shape=tuple(arrays["shape"]))
    words = tuple(vocabulary.read_text(encoding="utf-8").split())
    description = "NIPS papers, 1,500 x 7,605 words (those seen more than 20 times): UCI Bag of Words."
    return Dataset(matrix, None, words, description)


def _labelled_points(files: Sequence[Path], n_rows: int, n_columns: int, description: str) -> Dataset:
    """Points in the first file, their classes in the second."""
    points, labels = _numbers(files[0], n_rows, n_columns), _numbers(files[1], n_rows, 1)
    return Dataset(points, labels.ravel().astype(np.int64), _numbered("x", n_columns), description)


def _open_text(path: Path) -> Any:
    opener: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    return opener.get(path.suffix, open)(path, "rt", encoding="utf-8")


def _csv_rows(path: Path, n_rows: int, n_cells: int) -> list[list[str]]:
    """Cells of so many rows, a header included; empty lines are passed over."""
    with _reading(path), _open_text(path) as stream:
        rows = [row for row in csv.reader(stream) if row]
        if len(rows) != n_rows or any(len(row) != n_cells for row in rows):
            raise ValueError(f"not {n_rows} rows of {n_cells} cells")
        return rows


def _numbers(path: Path, n_rows: int, n_columns: int) -> np.ndarray:
    """A 2-d array from lines of numbers between blanks; empty lines are passed over."""
    with _reading(path), _open_text(path) as stream:
        values = np.loadtxt(stream, ndmin=2)
        if values.shape != (n_rows, n_columns):
            raise ValueError(f"not {n_rows} rows of {n_columns} numbers")
        return values


def _load_npz(path: Path, **shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The arrays of these names and shapes; others are passed over."""
    with _reading(path), np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in shapes}
        if any(arrays[name].shape != shape for name, shape in shapes.items()):
            raise ValueError(f"not arrays of the shapes {shapes}")
        return arrays


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what readers raise on a damaged file into one kind of error."""
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidFileError(f"{path} is damaged ({error}); copy it again.", path=path) from error


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{j}" for j in range(count))

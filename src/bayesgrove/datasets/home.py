"""Where research data lie on this computer; they are never shipped and never fetched."""

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bayesgrove.core.errors import InvalidFileError

FILES = {
    "animals": ("animals/animals.csv", "animals/labels.csv"),
    "arcene": (
        "uci/arcene/arcene_train.data.xz",
        "uci/arcene/arcene_train.labels.xz",
        "uci/arcene/arcene_valid.data.xz",
        "uci/arcene/arcene_valid.labels.xz",
    ),
    "fashion_sample": ("fashion/fashion_mnist_1000.npz",),
    "inex05": ("trees/inex05.train.elastic.tree.gz", "trees/inex05.test.elastic.tree.gz"),
    "isolet": ("uci/isolet/isolet_1560.npz",),
    "musk1": ("uci/musk1/clean1.data.gz",),
    "nips": ("nips_bow/nips_1500x7605_csr.npz", "nips_bow/vocab_7605.txt"),
    "sonar": ("uci/sonar/sonar.all-data.csv.gz",),
    "synthetic_trees": ("trees/synt_bacciu_castellana.json.gz",),
    "toy10k": ("tgmcmc_toy10k/10k_X.txt.gz", "tgmcmc_toy10k/10k_gt_labels.txt.gz"),
    "toy1300": ("tgmcmc_toy10k/toy_X.txt.gz", "tgmcmc_toy10k/toy_gt_labels.txt.gz"),
    "zoo": ("uci/zoo/zoo.data.gz",),
}
"""Name of each data set -> its files below the data folder."""


class Dataset(NamedTuple):
    """A data set.

    Attributes
    ----------
    data : array or sparse array of shape (n_rows, n_features), or TreeData
    target : ndarray of shape (n_rows,) or None
        Known classes, as integers or texts; None where there are none.
    feature_names : tuple of str
    description : str
        What it is and whom to cite.
    row_names : tuple of str or None
    """

    data: Any
    target: Any
    feature_names: tuple[str, ...]
    description: str
    row_names: tuple[str, ...] | None = None


def data_home(folder: str | os.PathLike[str] | None = None) -> Path:
    """The data folder: the argument, else BAYESGROVE_DATA, else `bayesgrove` in the user's cache folder.

    Parameters
    ----------
    folder : path, optional
        `~` is the user's home folder.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> bg.datasets.data_home("research").as_posix()
    'research'
    """
    chosen = folder or os.environ.get("BAYESGROVE_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder() / "bayesgrove"


def dataset_files(name: str, folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """The files of a data set; raises with the place to put them when one is missing."""
    home = data_home(folder)
    files = [home / relative for relative in FILES[name]]
    for path in files:
        if not path.is_file():
            raise InvalidFileError(
                f"the data set {name!r} is not here: put its file at {path}, "
                "or name the folder that holds it by data_home= or the variable BAYESGROVE_DATA. "
                "docs/data.md says where to get it.",
                path=path,
            )
    return files


def is_present(name: str, folder: str | os.PathLike[str] | None = None) -> bool:
    """True when all files of a data set are there."""
    return all((data_home(folder) / relative).is_file() for relative in FILES[name])


def cache_folder() -> Path:
    """The user's cache folder on this system."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")

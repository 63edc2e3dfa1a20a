"""`bayesgrove doctor`: versions, the place of compiled kernels, data found."""

import os
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from bayesgrove.core.provenance import PACKAGES, package_versions
from bayesgrove.datasets.home import FILES, cache_folder, data_home, is_present

OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "dask", "fastcluster")


def doctor(console: Console) -> None:
    """Print what a report of a problem should contain."""
    grid = Grid(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for name, version in package_versions(PACKAGES + OPTIONAL).items():
        grid.add_row(name, version)
    folder = kernel_cache()
    grid.add_row("kernel cache", f"{folder} ({'writable' if is_writable(folder) else 'not writable'})")
    grid.add_row("data folder", f"{data_home()} (BAYESGROVE_DATA changes it)")
    for name in FILES:
        grid.add_row(f"  {name}", "found" if is_present(name) else "missing")
    console.print(grid)
    if not is_writable(folder):
        console.print("Kernels are compiled anew in each process: set NUMBA_CACHE_DIR to a folder you may write to.")


def kernel_cache() -> Path:
    """The folder where numba keeps this package's compiled kernels: the first of three it may write to."""
    places = [Path(__file__).resolve().parents[1], cache_folder() / "numba"]
    if os.environ.get("NUMBA_CACHE_DIR"):
        places.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    return next(filter(is_writable, places), places[0])


def is_writable(folder: Path) -> bool:
    """True when the folder, or the nearest one above that exists, may be written to."""
    existing = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return existing.is_dir() and os.access(existing, os.W_OK)

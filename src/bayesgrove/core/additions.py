"""What is registered beside the package and changes what kernels compile to.

Kernels on the disk were compiled without it, so that additions have files of their own in the cache. They are named
when a kernel is first looked for there: from then on nothing can be added, for kernels in use would not know it.
"""

import hashlib
from pathlib import Path
from typing import Any

from bayesgrove.core.errors import InvalidLikelihoodError


class Additions:
    """Names of what was added in this process, and whether kernels rely on the list."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.is_closed = False

    def add(self, name: str, file: Path | None) -> None:
        """Take down an addition by its name and the content of the file it stands in."""
        if self.is_closed:
            raise InvalidLikelihoodError(
                f"{name!r} must be registered before the first kernel is compiled or loaded, got it later. Import the "
                "file that registers it at the top of the program, before anything is fitted."
            )
        content = file.read_bytes() if file is not None and file.is_file() else b""
        self.names.append(f"{name} {hashlib.sha256(content).hexdigest()}")

    def close(self) -> None:
        """From now on nothing is added: a kernel is compiled or loaded."""
        self.is_closed = True

    def stamp(self) -> str:
        """What tells this list from others in the names of cached files; empty where nothing was added."""
        if not self.names:
            return ""
        return hashlib.sha256("\n".join(self.names).encode()).hexdigest()[:12]


ADDITIONS = Additions()


def named_by_additions(cache_file: Any) -> Any:
    """The way to load a cached kernel's index that closes the list and gives additions files of their own."""
    load_index, is_named = cache_file._load_index, False

    def load() -> Any:
        nonlocal is_named
        ADDITIONS.close()
        if not is_named and ADDITIONS.names:
            is_named, stamp = True, ADDITIONS.stamp()
            cache_file._index_path = f"{cache_file._index_path}.{stamp}"
            cache_file._data_name_pattern = f"{cache_file._data_name_pattern}.{stamp}"
        return load_index()

    return load

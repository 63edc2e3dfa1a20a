"""Small JSON documents that runs and users keep in files."""

import json
import os
from pathlib import Path
from typing import Any

from bayesgrove.core.errors import InvalidFileError


def read_small_json(path: Path, most_bytes: int) -> Any:
    """The document in a file of at most so many bytes.

    Raises
    ------
    InvalidFileError
        If the file cannot be read, is larger, or holds no JSON.
    """
    try:
        size = os.path.getsize(path)
        text = path.read_bytes() if size <= most_bytes else b""
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        reason = getattr(error, "strerror", None) or error
        raise InvalidFileError(f"cannot read {path}: {reason}.", path=path) from error
    if size > most_bytes:
        raise InvalidFileError(f"{path} has {size:,} bytes, more than the {most_bytes:,} that are read.", path=path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(f"{path} is damaged: it is not JSON.", path=path) from error

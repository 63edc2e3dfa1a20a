"""Where a result came from: versions, machine, settings, seed."""

import datetime
import functools
import platform
from importlib import metadata
from typing import Any

PACKAGES = ("bayesgrove", "numpy", "scipy", "numba", "scikit-learn")


@functools.cache
def package_versions(names: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Installed versions; a package that is absent says so."""
    versions = {}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    return versions


def record(model: str, settings: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """A provenance record in JSON's types; it names no user and no path."""
    return {
        "model": model,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "seed": seed,
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(package_versions()),
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else repr(value)

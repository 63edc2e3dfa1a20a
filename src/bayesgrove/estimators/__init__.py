"""The scikit-learn facade; classes are imported when first used."""

from typing import Any

from bayesgrove.estimators.registry import MODELS

__all__ = sorted(MODELS)


def __getattr__(name: str) -> Any:
    if name in MODELS:
        return MODELS[name].load()
    raise AttributeError(f"module 'bayesgrove.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))

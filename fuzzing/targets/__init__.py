"""All targets by name; each is imported when it is asked for."""

import importlib

from fuzzing.cases import Target

NAMES = (
    "tables", "trees", "hierarchies", "likelihoods", "reports", "config", "runs", "models", "estimators", "commands",
)  # fmt: skip
"""Besides these there is `traps`, by which the fuzzing itself is tested."""


def find_target(name: str) -> Target:
    """The target of a name, which is also that of its module."""
    target: Target = importlib.import_module(f"fuzzing.targets.{name}").TARGET
    return target

"""x"""

from typing import Any


def compile_kernels(sampler: Any, schedule: Any) -> None:
    """x"""

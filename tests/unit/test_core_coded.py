"""Functions choose their body by a code, in kernels and outside; no code falls into the body of another."""

import math

import numpy as np
import pytest

from bayesgrove.core.coded import chain_of, coded
from bayesgrove.core.jit import kernel

pytestmark = pytest.mark.unit


@kernel
def squared(row, at):
    return row[at] ** 2


@kernel
def cubed(row, at):
    return row[at] ** 3


BODIES = {0: squared, 1: cubed, 4: squared}


@coded(lambda: BODIES, unknown="math.nan", code="power")
def raised(row, power, at):
    """A number raised to a power."""


@kernel
def compiled_raised(row, power, at):
    return raised(row, power, at)


@pytest.mark.parametrize("call", [raised, compiled_raised], ids=["plain", "compiled"])
@pytest.mark.parametrize(("code", "expected"), [(0, 9.0), (1, 27.0), (4, 9.0)])
def test_the_body_follows_the_code(call, code, expected):
    assert call(np.array([2.0, 3.0]), code, 1) == expected


@pytest.mark.parametrize("code", [-1, 2, 5])
def test_an_unknown_code_is_an_error_in_plain_python_and_no_number_in_kernels(code):
    with pytest.raises(KeyError, match=f"raised knows no power {code}"):
        raised(np.ones(1), code, 0)
    if hasattr(compiled_raised, "py_func"):
        assert math.isnan(compiled_raised(np.ones(1), code, 0))


def test_bodies_that_codes_share_are_compared_with_once():
    chain = chain_of("raised", ("row", "power", "at"), "power", BODIES, "None")
    assert [name for name in chain.__code__.co_names if name.startswith("body")] == ["body_0", "body_1"]
    assert chain(np.array([2.0]), 4, 0) == 4.0
    assert chain(np.array([2.0]), 3, 0) is None


def test_the_signature_keeps_its_name_and_documentation():
    assert (raised.__name__, raised.__doc__) == ("raised", "A number raised to a power.")

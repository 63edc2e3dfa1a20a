"""Generic functions choose their body by the type of the first argument, in kernels and outside."""

from typing import NamedTuple

import numba
import pytest

from bayesgrove.core.generic import generic

pytestmark = pytest.mark.unit


class Square(NamedTuple):
    side: float


class Rectangle(NamedTuple):
    width: float
    length: float


class Circle(NamedTuple):
    radius: float


@generic
def area(shape, scale):
    """Area of a shape drawn at a scale."""


@area.register(Square)
def area_of_square(shape, scale):
    return scale * shape.side**2


@area.register(Rectangle)
def area_of_rectangle(shape, scale):
    return scale * shape.width * shape.length


@numba.njit
def compiled_area(shape, scale):
    return area(shape, scale)


@pytest.mark.parametrize("call", [area, compiled_area], ids=["plain", "compiled"])
@pytest.mark.parametrize(("shape", "expected"), [(Square(3.0), 18.0), (Rectangle(2.0, 5.0), 20.0)])
def test_the_body_follows_the_type(call, shape, expected):
    assert call(shape, 2.0) == expected


def test_an_unknown_type_is_a_type_error_in_plain_python():
    with pytest.raises(TypeError, match="area knows no Circle"):
        area(Circle(1.0), 2.0)


def test_an_unknown_type_is_a_type_error_while_compiling():
    with pytest.raises(numba.TypingError, match="No implementation of function"):
        compiled_area(Circle(1.0), 2.0)


def test_a_tuple_of_the_same_shape_is_no_square():
    with pytest.raises(TypeError, match="area knows no tuple"):
        area((3.0,), 2.0)


def test_a_body_registered_later_is_found():
    @generic
    def perimeter(shape):
        """Length of a shape's edge."""

    @perimeter.register(Square)
    def perimeter_of_square(shape):
        return 4.0 * shape.side

    @numba.njit
    def compiled_perimeter(shape):
        return perimeter(shape)

    assert compiled_perimeter(Square(1.0)) == 4.0
    assert set(perimeter.bodies) == {Square}


def test_the_signature_keeps_its_name_and_documentation():
    assert (area.__name__, area.__doc__) == ("area", "Area of a shape drawn at a scale.")


def test_registering_leaves_the_body_callable():
    assert area_of_square(Square(2.0), 1.0) == 4.0

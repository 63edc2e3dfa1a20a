"""Logarithm and exponential without branches against many digits, over all numbers and where they are hard."""

import math

import mpmath
import numba
import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.stats.fastlog import (
    ONE,
    SAFE_FLAGS,
    SQRT_HALF_GAP,
    bits_of_double,
    double_of_bits,
    exponent_of,
    fast_exp,
    fast_log,
    fast_log_gamma,
    mantissa_of,
    stand_alone,
)

pytestmark = pytest.mark.unit

LARGEST_ERROR = 1.0
"""In units in the last place; the largest found among 70,000 numbers was 0.78."""
TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max
TURN = double_of_bits(ONE - SQRT_HALF_GAP)
"""Where the mantissa's range starts anew, just below sqrt(1/2)."""
STEPS = np.arange(-400, 401)


@numba.njit(fastmath=SAFE_FLAGS)
def logs(x, exponent):
    """One loop that becomes vector instructions, as in the scorers."""
    stand_alone()
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = fast_log(x[i], exponent)
    return out


@numba.njit
def parts(x):
    out = np.empty((x.size, 2))
    for i in range(x.size):
        out[i, 0], out[i, 1] = exponent_of(x[i]), mantissa_of(x[i])
    return out


def largest_error(x, exponent=0):
    """Largest distance of fast_log from the truth, in units in the last place of the truth."""
    worst = 0.0
    with mpmath.workprec(200):
        for number, got in zip(x.tolist(), logs(x, float(exponent)).tolist(), strict=True):
            truth = mpmath.log(mpmath.ldexp(number, exponent))
            if truth == 0:
                assert got == 0.0
            else:
                worst = max(worst, float(abs(got - truth) / np.spacing(abs(float(truth)))))
    return worst


def random_normals(seed, n):
    """Positive normal numbers, all exponents and mantissas alike."""
    return generator(seed).integers(bits_of_double(TINY), bits_of_double(HUGE) + 1, n).view(np.float64)


@pytest.mark.parametrize(
    "numbers",
    [
        random_normals(1, 4000),
        1.0 + STEPS * 2.0**-53,
        1.0 + generator(2).uniform(-1, 1, 2000) * 2.0 ** -generator(3).integers(1, 50, 2000),
        math.sqrt(2.0) + STEPS * 2.0**-52,
        math.sqrt(0.5) + STEPS * 2.0**-53,
        TURN * (1.0 + STEPS * 2.0**-52),
        2.0 * TURN * (1.0 + STEPS * 2.0**-52),
        generator(4).uniform(0.7, 1.42, 4000),
        2.0 ** np.arange(-1022.0, 1024.0),
        np.array([TINY, HUGE, np.nextafter(2.0, 0.0), np.nextafter(1.0, 0.0)]),
    ],
    ids=["all", "one", "near one", "sqrt 2", "sqrt 1/2", "turn", "turn x 2", "middle", "powers", "ends"],
)
def test_all_digits_are_right(numbers):
    assert largest_error(numbers) < LARGEST_ERROR


@pytest.mark.parametrize("exponent", [-100_000, -1, 1, 1000, 10**6])
def test_an_exponent_of_its_own_reaches_beyond_floats(exponent):
    assert largest_error(random_normals(5, 500), exponent) < LARGEST_ERROR


def test_log_of_one_is_exactly_zero():
    assert logs(np.ones(3), 0.0).tolist() == [0.0, 0.0, 0.0]


def test_exponent_and_mantissa_give_the_number_back():
    numbers = np.concatenate([random_normals(6, 5000), 2.0 ** np.arange(-1022.0, 1024.0), [TINY, HUGE]])
    exponent, mantissa = parts(numbers).T
    assert mantissa.min() >= 1.0
    assert mantissa.max() < 2.0
    assert np.array_equal(np.ldexp(mantissa, exponent.astype(int)), numbers)


def test_plain_python_agrees():
    numbers = random_normals(7, 200)
    plain = [fast_log.py_func(x, 3.0) for x in numbers.tolist()]
    np.testing.assert_array_max_ulp(np.array(plain), logs(numbers, 3.0), maxulp=1)
    assert [exponent_of.py_func(x) for x in numbers.tolist()] == parts(numbers)[:, 0].tolist()
    assert [mantissa_of.py_func(x) for x in numbers.tolist()] == parts(numbers)[:, 1].tolist()


def test_bits_go_both_ways():
    for number in (1.0, -0.0, 1e-310, HUGE, math.inf):
        back = double_of_bits(bits_of_double(number))
        assert (back, math.copysign(1.0, back)) == (number, math.copysign(1.0, number))


@numba.njit(fastmath=SAFE_FLAGS)
def exps(x):
    """One loop that becomes vector instructions."""
    stand_alone()
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = fast_exp(x[i])
    return out


@pytest.mark.parametrize(
    "numbers",
    [
        generator(8).uniform(-700.0, 700.0, 4000),
        generator(9).uniform(-1.0, 1.0, 4000),
        generator(10).uniform(-1.0, 1.0, 2000) * 2.0 ** -generator(11).integers(1, 60, 2000),
        np.concatenate([(k + 0.5) * math.log(2.0) * (1.0 + STEPS * 2.0**-52) for k in (-40, -1, 0, 7)]),
        np.array([-700.0, -40.0, -0.0, 0.0, 700.0]),
    ],
    ids=["all", "middle", "near zero", "turns", "ends"],
)
def test_all_digits_of_the_exponential_are_right(numbers):
    with mpmath.workprec(200):
        truths = [mpmath.exp(number) for number in numbers.tolist()]
        errors = [
            float(abs(got - truth) / np.spacing(float(truth)))
            for got, truth in zip(exps(numbers).tolist(), truths, strict=True)
        ]
    assert max(errors) < LARGEST_ERROR
    assert exps(np.zeros(2)).tolist() == [1.0, 1.0]


def test_plain_python_agrees_on_the_exponential():
    numbers = generator(12).uniform(-100.0, 100.0, 200)
    plain = [fast_exp.py_func(x) for x in numbers.tolist()]
    np.testing.assert_array_max_ulp(np.array(plain), exps(numbers), maxulp=1)


@numba.njit(fastmath=SAFE_FLAGS)
def log_gammas(x):
    stand_alone()
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = fast_log_gamma(x[i])
    return out


def test_log_gamma():
    """Relative to 1 where it is near 0: it is the difference of two logarithms of about 30."""
    rng = generator(5)
    x = np.concatenate([10.0 ** rng.uniform(-30.0, 9.0, 2_000), rng.uniform(0.01, 20.0, 2_000), [0.5, 1.0, 2.0]])
    with mpmath.workprec(200):
        truth = np.array([float(mpmath.loggamma(number)) for number in x.tolist()])
    assert np.all(np.abs(log_gammas(x) - truth) < 2e-14 * np.maximum(1.0, np.abs(truth)))

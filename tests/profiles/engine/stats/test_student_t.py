"""Student's t, compared with the integral of its density and with textbook tables."""

from functools import cache
from math import lgamma, log, pi

import numpy as np
import pytest
from numpy.typing import NDArray

from profiles.engine.stats.student_t import half_width, two_sided


@cache
def nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return abscissas and weights; cached, because computing them takes half a second."""
    return np.polynomial.legendre.leggauss(400)


def integrated(t: float, df: float) -> float:
    """Return 2 ∫ of the density from t on, by Gauss-Legendre quadrature in t / x."""
    x, weight = nodes()
    v = (x + 1) / 2
    scale = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * pi)
    density = np.exp(scale - (df + 1) / 2 * np.log1p((t / v) ** 2 / df))
    return float((density * t / v**2 * weight).sum())


@pytest.mark.parametrize("df", [5, 7, 10.5, 14, 30, 478, 86_398])
@pytest.mark.parametrize("t", [0.5, 1, 2, 3, 5, 7, 10])
def test_tail_equals_the_integral_of_the_density(t: float, df: float) -> None:
    found = two_sided(np.array([t, -t]), np.array([df, df]))
    assert found == pytest.approx([integrated(t, df)] * 2, rel=1e-3)


@pytest.mark.parametrize(
    ("df", "printed"),
    [(5, 2.5706), (7, 2.3646), (10, 2.2281), (20, 2.0860), (30, 2.0423), (120, 1.9799)],
)
def test_quantile_equals_that_of_published_tables(df: float, printed: float) -> None:
    assert half_width(np.array([df])) == pytest.approx([printed], rel=2e-4)


def test_tail_at_zero_is_one() -> None:
    assert two_sided(np.zeros(1), np.full(1, 9.0)) == pytest.approx([1.0])

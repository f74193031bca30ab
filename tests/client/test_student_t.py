"""Student's t of the client, compared with the server's and with tabled quantiles."""

import numpy as np
import pytest

from flamewatch_client.student_t import (
    compute_half_width,
    compute_two_sided_p,
    find_degrees_of_freedom,
)
from profiles.engine.stats import student_t


@pytest.mark.parametrize(("df", "quantile"), [(7, 2.36462), (11, 2.20099), (30, 2.04227)])
def test_half_width_is_the_tabled_quantile(df: float, quantile: float) -> None:
    assert compute_half_width(df) == pytest.approx(quantile, rel=1e-3)
    assert compute_two_sided_p(quantile, df) == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("df", [7.0, 11.5, 22.0, 200.0, 5_000.0])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.0, 4.0, 8.0])
def test_tail_is_that_of_the_server(t: float, df: float) -> None:
    expected = student_t.two_sided(np.array([t]), np.array([df]))[0]
    assert compute_two_sided_p(t, df) == pytest.approx(expected, rel=0.02)


def test_tail_of_zero_is_one_and_of_far_values_nothing() -> None:
    assert compute_two_sided_p(0.0, 10) == pytest.approx(1)
    assert 0 <= compute_two_sided_p(1e9, 10) < 1e-60
    assert compute_two_sided_p(1e6, 1e6) == 0


@pytest.mark.parametrize("df", [8.0, 15.0, 60.0])
def test_degrees_of_freedom_follow_from_interval_and_p(df: float) -> None:
    p = compute_two_sided_p(1.8 * compute_half_width(df), df)
    assert find_degrees_of_freedom(1.8, p, 7, 100) == pytest.approx(df, rel=1e-3)


@pytest.mark.parametrize(("p", "expected"), [(0.04, 7), (1e-30, 100)])
def test_degrees_of_freedom_stay_in_their_range(p: float, expected: float) -> None:
    assert find_degrees_of_freedom(2.0, p, 7, 100) == pytest.approx(expected)

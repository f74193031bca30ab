"""Sparklines of the services list."""

from frontend.components.charts.sparkline import LineSegment, draw_sparkline


def test_highest_value_is_at_the_top_and_zero_at_the_bottom() -> None:
    assert draw_sparkline([0, 5, 10]) == [
        LineSegment("0,31 50,18 100,4", "0,31 0,31 50,18 100,4 100,31")
    ]


def test_gap_splits_the_line() -> None:
    lines = [stretch.line for stretch in draw_sparkline([10, 10, None, None, 5])]
    assert lines == ["0,4 40,4", "80,18 100,18"]


def test_single_value_is_drawn_as_wide_as_its_step() -> None:
    assert [stretch.line for stretch in draw_sparkline([None, 3, None, None])] == ["25,4 50,4"]


def test_zeros_are_drawn_at_the_bottom() -> None:
    assert [stretch.line for stretch in draw_sparkline([0, 0])] == ["0,31 100,31"]


def test_series_without_values_has_no_line() -> None:
    assert draw_sparkline([None, None]) == []
    assert draw_sparkline([]) == []

"""Daily limit on the number of distinct values of a label."""

from datetime import date, timedelta

import pytest

from endpoints.errors import TooManyLabelValues
from ingest.uploads import label_values
from ingest.uploads.label_values import LabelValues

TODAY = date(2026, 11, 21)


def test_recorded_values_are_accepted_and_one_too_many_is_rejected() -> None:
    values = LabelValues()
    for value in ("a", "b", "a", "b"):
        values.count(1, {"pod": value}, TODAY, allowed=2)
    with pytest.raises(TooManyLabelValues, match=r"FLAMEWATCH_MAX_LABEL_VALUES.*'pod'"):
        values.count(1, {"pod": "c"}, TODAY, allowed=2)
    values.count(1, {"pod": "a"}, TODAY, allowed=2)


def test_labels_and_projects_are_counted_separately() -> None:
    values = LabelValues()
    values.count(1, {"pod": "a", "route": "b"}, TODAY, allowed=1)
    values.count(2, {"pod": "b"}, TODAY, allowed=1)


def test_counts_start_again_the_next_day() -> None:
    values = LabelValues()
    values.count(1, {"pod": "a"}, TODAY, allowed=1)
    values.count(1, {"pod": "b"}, TODAY + timedelta(days=1), allowed=1)


def test_the_memory_for_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_values, "MAX_VALUES", 2)
    values = LabelValues()
    for value in ("a", "b", "c"):
        values.count(1, {"pod": value}, TODAY, allowed=3)
    values.count(1, {"pod": "d"}, TODAY, allowed=3)


def test_the_values_of_all_labels_of_a_project_are_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(label_values, "MAX_VALUES_OF_PROJECT", 3)
    values = LabelValues()
    values.count(1, {"a": "1", "b": "1", "c": "1"}, TODAY, allowed=2)
    with pytest.raises(TooManyLabelValues, match=r"A project may have 3 distinct values of all"):
        values.count(1, {"d": "1"}, TODAY, allowed=2)
    assert (1, "d") not in values._seen, "a rejected name takes no memory"
    values.count(1, {"a": "1"}, TODAY, allowed=2)
    values.count(2, {"d": "1"}, TODAY, allowed=2)
    values.count(1, {"d": "1"}, TODAY + timedelta(days=1), allowed=2)

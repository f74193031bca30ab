"""Display names of functions, types and metrics."""

import pytest

from frontend.text.display_names import metric_name, split_name, type_name
from profiles.query import Metric
from projects.profile_types import ProfileType


@pytest.mark.parametrize(
    ("name", "front", "leaf"),
    [
        ("shop.pricing.Rule.matches", "shop.pricing.", "Rule.matches"),
        ("Rule.matches", "", "Rule.matches"),
        ("orders.place", "orders.", "place"),
        ("main", "", "main"),
        ("outer.<locals>.inner", "outer.<locals>.", "inner"),
        ("acme.dev/shop/pricing.(*Rule).Match", "acme.dev/shop/pricing.", "(*Rule).Match"),
        ("a::b::Rule::matches", "a::b::", "Rule::matches"),
        ("Rule::matches(int, char)", "", "Rule::matches(int, char)"),
        ("binary+0x1f", "", "binary+0x1f"),
        ("", "", ""),
        ("...", "", "..."),
    ],
)
def test_name_is_split_before_its_last_part(name: str, front: str, leaf: str) -> None:
    found = split_name(name)
    assert (found.front, found.leaf) == (front, leaf)
    assert found.front + found.leaf == name


def test_name_with_many_separators_is_split_in_bounded_time() -> None:
    for name in ("a." * 5000, "A_" * 5000 + ":", "/" * 5000 + "\n", "." * 10_000):
        assert split_name(name).front + split_name(name).leaf == name


def test_every_type_has_a_name() -> None:
    assert {type_name(of) for of in ProfileType} >= {"CPU time", "Allocated heap", "Threads"}


def test_unknown_metric_is_shown_under_its_stored_name() -> None:
    assert metric_name(Metric("alloc_space", "bytes")) == "Allocated size"
    assert metric_name(Metric("gpu_time", "nanoseconds")) == "gpu time"

"""Profile types, labels and series, as Grafana's data source and its profiles app request them."""

from typing import Any

import pytest

from tests.api.pyroscope.conftest import CPU, Call

pytestmark = pytest.mark.django_db(transaction=True)
MEMORY = ["memory:inuse_objects:count:space:bytes", "memory:inuse_space:bytes:space:bytes"]


def test_profile_types_are_those_of_stored_profiles(call: Call) -> None:
    types = call("ProfileTypes").json()["profileTypes"]
    assert [each["ID"] for each in types] == [*MEMORY, CPU]
    assert types[-1] == {
        "ID": CPU,
        "name": "process_cpu",
        "sampleType": "cpu",
        "sampleUnit": "nanoseconds",
        "periodType": "cpu",
        "periodUnit": "nanoseconds",
    }
    assert call("ProfileTypes", start=1_000_000_000_000, end=1_000_000_001_000).json() == {}


def test_series_list_services_with_their_types(call: Call) -> None:
    names = ["service_name", "__profile_type__"]
    sets = call("Series", labelNames=names, matchers=[]).json()["labelsSet"]
    found = [tuple(pair["value"] for pair in each["labels"]) for each in sets]
    assert found == [*(("shop", each) for each in MEMORY), ("shop", CPU), ("till", CPU)]


@pytest.mark.parametrize(
    ("matchers", "expected"),
    [
        ([], {"instance", "thread_name"}),
        ([f'{{__profile_type__="{CPU}", service_name="shop"}}'], {"instance", "thread_name"}),
        (['{service_name="till"}'], set()),
        (['{service_name="none"}'], None),
    ],
)
def test_label_names_are_those_of_matching_profiles(
    matchers: list[str], expected: set[str] | None, call: Call
) -> None:
    fixed = {"service_name", "zone", "version", "__profile_type__"}
    names = call("LabelNames", matchers=matchers).json().get("names", [])
    assert {*names} == (set() if expected is None else fixed | expected)


@pytest.mark.parametrize(
    ("name", "selector", "expected"),
    [
        ("service_name", "{}", ["shop", "till"]),
        ("service_name", f'{{__profile_type__="{MEMORY[1]}"}}', ["shop"]),
        ("service_name", '{version="2"}', ["shop"]),
        ("__profile_type__", '{service_name="till"}', [CPU]),
        ("version", '{service_name="shop"}', ["1", "2"]),
        ("version", '{zone!="us-1"}', ["1"]),
        ("instance", '{service_name=~"sh.*"}', ["a", "b"]),
        ("instance", '{thread_name="main"}', ["a"]),
        ("instance", '{instance!~"a|x"}', ["b"]),
        ("thread_name", "", ["main"]),
        ("no_such_label", "{}", []),
    ],
)
def test_label_values_are_those_of_matching_profiles(
    name: str, selector: str, expected: list[str], call: Call
) -> None:
    matchers = [selector] if selector else []
    assert call("LabelValues", name=name, matchers=matchers).json().get("names", []) == expected


def test_profile_stats_say_that_there_are_profiles(call: Call) -> None:
    stats: dict[str, Any] = call("GetProfileStats").json()
    assert stats["dataIngested"] is True
    assert int(stats["oldestProfileTime"]) + 4 * 60_000 == int(stats["newestProfileTime"])

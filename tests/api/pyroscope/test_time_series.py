"""Values over time and heat maps of Pyroscope's query API."""

from typing import Any

import pytest

from tests.api.pyroscope.conftest import CPU, NOON_MS, Call

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = 60_000
MS = 1_000_000


def series(call: Call, **fields: Any) -> dict[tuple[str, ...], dict[int, float]]:
    """Return the points of each series by minutes after noon, by the values of its labels."""
    message = {"profile_typeID": CPU, "label_selector": "{}", "step": 60, **fields}
    response = call("SelectSeries", **message)
    assert response.status_code == 200, response.text
    return {
        tuple(pair["value"] for pair in each.get("labels", [])): {
            (int(point["timestamp"]) - NOON_MS) // MINUTE: point["value"]
            for point in each["points"]
        }
        for each in response.json().get("series", [])
    }


def test_a_point_has_the_sum_of_the_step_before_it(call: Call) -> None:
    assert series(call) == {(): {0: 9 * MS, 1: 9 * MS, 2: 9 * MS, 3: 5 * MS}}
    assert series(call, step=120) == {(): {0: 9 * MS, 2: 18 * MS, 4: 5 * MS}}
    mean = series(call, step=120, aggregation="TIME_SERIES_AGGREGATION_TYPE_AVERAGE")
    assert mean == {(): {0: 9 * MS, 2: 9 * MS, 4: 5 * MS}}


@pytest.mark.parametrize(
    ("group_by", "expected"),
    [
        (["service_name"], {("shop",): 27, ("till",): 5}),
        (["version"], {("1",): 23, ("2",): 9}),
        (
            ["service_name", "zone"],
            {("shop", "eu-1"): 18, ("shop", "us-1"): 9, ("till", "eu-1"): 5},
        ),
        (["instance"], {("a",): 9, ("b",): 9, (): 14}),
        (["thread_name"], {("main",): 9, (): 23}),
    ],
)
def test_series_are_grouped_by_labels(
    group_by: list[str], expected: dict[tuple[str, ...], int], call: Call
) -> None:
    found = series(call, group_by=group_by)
    totals = {labels: sum(points.values()) / MS for labels, points in found.items()}
    assert totals == expected


def test_a_limit_keeps_the_greatest_series(call: Call) -> None:
    assert [*series(call, group_by=["service_name"], limit=1)] == [("shop",)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"step": 0}, "step"),
        ({"step": "NaN"}, "step"),
        ({"step": 0.01}, "steps; the limit is 11,000"),
        ({"group_by": [str(i) for i in range(11)]}, "10 labels"),
        ({"end": NOON_MS}, "start has to be before end"),
        ({"end": NOON_MS + 500 * 86_400_000}, "400 days"),
        ({"end": 2**62}, "Unix times"),
        ({"profile_typeID": "cpu"}, "not a profile type"),
        ({"label_selector": '{a="b"'}, "a comma or }"),
        ({"label_selector": '{a=~"("}'}, "RE2"),
        ({"label_selector": '{a=~"' + "x" * 5000 + '"}'}, "4,096"),
    ],
)
def test_bad_requests_name_the_reason(fields: dict[str, Any], reason: str, call: Call) -> None:
    message = {"profile_typeID": CPU, "label_selector": "{}", "step": 60, **fields}
    response = call("SelectSeries", **message)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")
    assert reason in response.json()["message"]


def test_a_heat_map_counts_profiles_by_value(call: Call) -> None:
    message = {"profile_typeID": CPU, "label_selector": "{}", "step": 120}
    found = call("SelectHeatmap", **message, query_type=1).json()["series"]
    slots = found[0]["slots"]
    assert [sum(slot["counts"]) for slot in slots] == [1, 2, 1]
    assert slots[-1]["counts"][0] == 1  # 5 ms, the lightest
    assert slots[0]["counts"][-1] == 1
    assert slots[0]["yMin"][0] == 5 * MS
    assert call("SelectHeatmap", **message, query_type=2).json() == {}

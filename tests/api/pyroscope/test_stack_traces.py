"""Flame graphs, differences and pprof profiles of Pyroscope's query API."""

from typing import Any

import pytest

from api.pyroscope.proto import pprof_pb2
from api.pyroscope.proto import querier_pb2 as pb
from tests.api.pyroscope.conftest import CPU, HOUR, Call
from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)
SHOP = '{service_name="shop"}'
MS = 1_000_000


def flame_graph(call: Call, selector: str = SHOP, **fields: Any) -> dict[str, Any]:
    message = {"profile_typeID": CPU, "label_selector": selector, **fields}
    response = call("SelectMergeStacktraces", **message)
    assert response.status_code == 200, response.text
    return dict(response.json().get("flamegraph", {}))


def values(of: dict[str, Any]) -> list[list[int]]:
    return [[int(value) for value in level["values"]] for level in of["levels"]]


def test_levels_have_the_distance_to_the_node_before(call: Call) -> None:
    found = flame_graph(call)
    assert found["names"] == ["total", "main", "foo1", "foo2", "bar"]
    assert (found["total"], found["maxSelf"]) == (str(27 * MS), str(7_500_000))
    assert values(found) == [
        [0, 27 * MS, 0, 0],
        [0, 27 * MS, 6 * MS, 1],
        [6 * MS, 12 * MS, 4_500_000, 2, 0, 9 * MS, 1_500_000, 3],
        [6 * MS + 4_500_000, 7_500_000, 7_500_000, 4, 1_500_000, 7_500_000, 7_500_000, 4],
    ]


def test_services_are_merged_by_function(call: Call) -> None:
    found = flame_graph(call, "{}")
    assert found["total"] == str(32 * MS)
    assert values(found)[2][:4] == [8 * MS, 15 * MS, 7_500_000, 2]


@pytest.mark.parametrize(
    ("selector", "total"),
    [
        ('{service_name="shop", version="1"}', 18),
        ('{service_name="shop", version=~"2.*"}', 9),
        ('{service_name="shop", zone!="us-1"}', 18),
        ('{service_name="shop", instance="a"}', 9),
        ('{service_name="shop", instance!="a"}', 18),
        ('{service_name="shop", instance=""}', 9),
        ('{service_name="shop", instance=~".+"}', 18),
        ('{service_name="shop", instance=~".*", instance!~"b"}', 18),
        ('{service_name="shop", thread_name="main",}', 9),
        ('{service_name=~"shop|till"}', 32),
        ('{service_name!="shop"}', 5),
        ("", 32),
    ],
)
def test_conditions_select_profiles(selector: str, total: int, call: Call) -> None:
    assert flame_graph(call, selector)["total"] == str(total * MS)


@pytest.mark.parametrize(
    "selector",
    ['{service_name="none"}', '{version="9"}', '{instance="c"}', '{no_label="x"}'],
)
def test_without_profiles_there_is_no_flame_graph(selector: str, call: Call) -> None:
    assert flame_graph(call, selector) == {}


def test_a_metric_or_type_that_no_profile_has_is_empty(call: Call) -> None:
    for other in (
        "process_cpu:steps:count:cpu:nanoseconds",
        "memory:alloc_space:bytes:space:bytes",
    ):
        assert flame_graph(call, profile_typeID=other) == {}
    for other in ("block:delay:nanoseconds:contentions:count", "exotic:a:b:c:d"):
        assert flame_graph(call, profile_typeID=other) == {}


def test_nodes_beyond_max_nodes_are_summed_as_other(call: Call) -> None:
    found = flame_graph(call, max_nodes=3)
    assert found["total"] == str(27 * MS)
    assert found["names"] == ["total", "main", "foo1", "other"]
    assert values(found)[2] == [6 * MS, 12 * MS, 4_500_000, 2, 0, 9 * MS, 9 * MS, 3]
    assert values(found)[3] == [10_500_000, 7_500_000, 7_500_000, 3]


def test_protobuf_request_gets_a_protobuf_response(call: Call, reader: Client) -> None:
    message = pb.SelectMergeStacktracesRequest(
        profile_typeID=CPU, label_selector=SHOP, **HOUR, max_nodes=100
    )
    response = reader.request(
        "POST",
        "/querier.v1.QuerierService/SelectMergeStacktraces",
        content=message.SerializeToString(),
        headers={"content-type": "application/proto", "accept-encoding": "identity"},
    )
    assert response.headers["content-type"] == "application/proto"
    found = pb.SelectMergeStacktracesResponse.FromString(response.content)
    assert [*found.flamegraph.levels[1].values] == [0, 27 * MS, 6 * MS, 1]


def test_a_difference_has_the_values_of_both_sides(call: Call) -> None:
    sides = {
        "left": {"profile_typeID": CPU, "label_selector": '{service_name="till"}', **HOUR},
        "right": {"profile_typeID": CPU, "label_selector": '{service_name="shop"}', **HOUR},
    }
    found = call("Diff", **sides).json()["flamegraph"]
    assert (found["leftTicks"], found["rightTicks"]) == (str(5 * MS), str(27 * MS))
    assert values(found)[1] == [0, 5 * MS, 2 * MS, 0, 27 * MS, 6 * MS, 1]
    assert values(found)[2][:7] == [2 * MS, 3 * MS, 3 * MS, 6 * MS, 12 * MS, 4_500_000, 2]


def pprof(call: Call, reader: Client, **fields: Any) -> pprof_pb2.Profile:
    message = pb.SelectMergeProfileRequest(**({"profile_typeID": CPU} | HOUR | fields))
    response = reader.request(
        "POST",
        "/querier.v1.QuerierService/SelectMergeProfile",
        content=message.SerializeToString(),
        headers={"content-type": "application/proto"},
    )
    assert response.status_code == 200, response.text
    return pprof_pb2.Profile.FromString(response.content)


def test_a_pprof_profile_has_the_metric_alone(call: Call, reader: Client) -> None:
    found = pprof(call, reader, label_selector=SHOP)
    texts = found.string_table
    assert [(texts[each.type], texts[each.unit]) for each in found.sample_type] == [
        ("cpu", "nanoseconds")
    ]
    assert sum(each.value[0] for each in found.sample) == 27 * MS
    memory = "memory:inuse_objects:count:space:bytes"
    found = pprof(call, reader, label_selector=SHOP, profile_typeID=memory)
    assert [[*each.value] for each in found.sample] == [[3]]


def test_a_call_site_keeps_the_stacks_that_begin_with_it(call: Call) -> None:
    sites = {"call_site": [{"name": "main"}, {"name": "foo1"}]}
    found = call(
        "SelectMergeProfile", profile_typeID=CPU, label_selector=SHOP, stackTraceSelector=sites
    ).json()
    assert sorted(int(each["value"][0]) for each in found["sample"]) == [4_500_000, 7_500_000]
    assert "main" in found["stringTable"]


def test_a_pprof_profile_is_of_one_service(call: Call) -> None:
    response = call("SelectMergeProfile", profile_typeID=CPU, label_selector="{}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


def test_spans_are_not_recorded(call: Call) -> None:
    span = call("SelectMergeSpanProfile", profile_typeID=CPU, spanSelector=["00f067aa0ba902b7"])
    assert (span.status_code, span.json()) == (200, {})
    assert flame_graph(call, spanSelector=["00f067aa0ba902b7"]) == {}


def test_one_profile_is_selected_by_its_name(call: Call) -> None:
    assert flame_graph(call, profileIdSelector=["no-such-profile"]) == {}

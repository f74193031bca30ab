"""Tables of functions and sandwiches, compared with the project's own lists and trees."""

from typing import Any

import pytest

from projects.models import Project
from tests.api.pyroscope.conftest import CPU, HOUR, Call
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
SHOP = '{service_name="shop"}'
FUNCTIONS, SANDWICH = "PROFILE_FORMAT_FUNCTIONS", "PROFILE_FORMAT_SANDWICH"
OWN = {"service": "shop", "type": "CPU", "from": "2026-11-20T12:00Z", "to": "2026-11-20T13:00Z"}


@pytest.fixture
def recursive(project: Project) -> None:
    """Store a profile of the shop with recursion, and with one name in two files."""
    stacks = {"main;walk;walk;leaf": 4000, "main;walk": 1000, "main;leaf": 2000}
    rows.stored(rows.deployment(project), stacks, minutes=10)


def select(call: Call, format: str, selector: str = SHOP, **fields: Any) -> dict[str, Any]:
    message = {"profileTypeID": CPU, "labelSelector": selector, "format": format, **fields}
    response = call("SelectMergeStacktraces", **message)
    assert response.status_code == 200, response.text
    return dict(response.json())


def own_functions(reader: Client) -> list[tuple[str, int, int]]:
    """Return name, self and total of each function, from the project's own list."""
    path = "/api/v1/projects/-/top"
    response = reader.request("GET", path, params=OWN)
    assert response.status_code == 200, response.text
    columns = response.json()["functions"]
    return [*zip(columns["name"], columns["self"], columns["total"], strict=True)]


def number(row: dict[str, Any], field: str) -> int:
    return int(row.get(field, 0))


def test_functions_equal_those_of_the_query_api(
    call: Call, recursive: None, reader: Client
) -> None:
    table = select(call, FUNCTIONS)["functions"]
    rows_found = [(r["name"], number(r, "self"), number(r, "total")) for r in table["functions"]]
    listed = own_functions(reader)
    assert rows_found == listed
    assert number(table, "total") == sum(own for _, own, _ in listed)
    assert number(table, "totalFunctions") == len(listed)


@pytest.mark.parametrize(
    "limit", [{"maxNodes": 2}, {"formatOptions": {"functions": {"limit": "2"}}}]
)
def test_limited_table_keeps_total_and_number_of_functions(
    limit: dict[str, Any], call: Call
) -> None:
    whole, table = (select(call, FUNCTIONS, **of)["functions"] for of in ({}, limit))
    assert table["functions"] == whole["functions"][:2]
    assert (table["total"], table["totalFunctions"]) == (whole["total"], whole["totalFunctions"])


def test_functions_of_two_sides_are_aligned(call: Call) -> None:
    till = {"profileTypeID": CPU, "labelSelector": '{service_name="till"}', **HOUR}
    shop = {"profileTypeID": CPU, "labelSelector": SHOP, **HOUR}
    found = call("Diff", left={**till, "format": FUNCTIONS}, right=shop).json()["functions"]
    sides = [found[side]["functions"] for side in ("left", "right")]
    names = [[row["name"] for row in side] for side in sides]
    assert names == [["main", "foo1", "bar", "foo2"]] * 2
    assert [number(row, "total") for row in sides[0]] == [5_000_000, 3_000_000, 0, 0]
    expected = select(call, FUNCTIONS)["functions"]["functions"]
    by_name = {row["name"]: row for row in expected}
    assert sides[1] == [by_name[name] for name in names[1]]
    assert [found[side]["total"] for side in ("left", "right")] == ["5000000", "27000000"]


def tree(report: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return a node as {name: [total, {child: …}]}."""
    below: dict[str, Any] = {}
    for child in node.get("children", []):
        below |= tree(report, child)
    return {report["names"][node.get("nameIndex", 0)]: [number(node, "total"), below]}


def test_sandwich_equals_the_callers_and_callees_of_the_query_api(
    call: Call, recursive: None, reader: Client
) -> None:
    report = select(call, SANDWICH, sandwichFunction="walk")["sandwich"]
    ms = 1_000_000
    assert (number(report, "total"), number(report, "self")) == (5 * ms, 1 * ms)
    assert tree(report, report["callers"]) == {"walk": [5 * ms, {"main": [5 * ms, {}]}]}
    assert tree(report, report["callees"]) == {
        "walk": [5 * ms, {"walk": [4 * ms, {"leaf": [4 * ms, {}]}]}]
    }
    listed = {name: total for name, _, total in own_functions(reader)}
    assert number(report, "total") == listed["walk"]
    shared = select(call, SANDWICH, "{}", sandwichFunction="bar")["sandwich"]
    callers = tree(shared, shared["callers"])["bar"]
    assert callers[0] == listed["bar"]
    assert callers[1].keys() == {"foo1", "foo2"}


def test_a_sandwich_sums_what_it_leaves_out(call: Call) -> None:
    report = select(call, SANDWICH, sandwichFunction="main", maxNodes=2)["sandwich"]
    callees = report["callees"]["children"]
    assert [report["names"][each["nameIndex"]] for each in callees] == ["foo1", "other"]
    assert callees[1]["truncated"] is True
    own_value, total = number(report["callees"], "self"), number(report["callees"], "total")
    assert own_value + sum(number(each, "total") for each in callees) == total


def test_deep_sandwich_is_cut_and_keeps_its_total(call: Call, project: Project) -> None:
    stack = ";".join(f"f{number}" for number in range(500))
    rows.stored(rows.deployment(project, "deep"), {stack: 1000})
    for name in ("f0", "f499"):
        report = select(call, SANDWICH, '{service_name="deep"}', sandwichFunction=name)["sandwich"]
        assert number(report, "total") == number(report["callers"], "total") == 1_000_000


def test_a_function_that_no_stack_reaches_is_zero(call: Call) -> None:
    report = select(call, SANDWICH, sandwichFunction="nowhere")["sandwich"]
    assert (number(report, "total"), report.get("callers", {}).get("children")) == (0, None)
    response = call("SelectMergeStacktraces", profileTypeID=CPU, format=SANDWICH)
    assert response.status_code == 400
    assert "sandwich_function" in response.json()["message"]


def test_a_pprof_profile_in_a_response_is_that_of_the_older_procedure(call: Call) -> None:
    found = select(call, "PROFILE_FORMAT_PPROF")["pprof"]["profile"]
    older = call("SelectMergeProfile", profile_typeID=CPU, label_selector=SHOP).json()
    assert found == older


@pytest.mark.parametrize(
    "format", ["PROFILE_FORMAT_TREE", "PROFILE_FORMAT_DOT", "PROFILE_FORMAT_FUNCTION_TREE"]
)
def test_other_formats_are_unimplemented(format: str, call: Call) -> None:
    response = call("SelectMergeStacktraces", profileTypeID=CPU, format=format)
    assert (response.status_code, response.json()["code"]) == (501, "unimplemented")
    assert format in response.json()["message"]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_difference_in_a_format_of_a_later_version_is_unimplemented(
    side: str, call: Call
) -> None:
    sides = {"left": {"profileTypeID": CPU}, "right": {"profileTypeID": CPU}}
    sides[side]["format"] = "PROFILE_FORMAT_FUNCTION_TREE"
    response = call("Diff", **sides)
    assert (response.status_code, response.json()["code"]) == (501, "unimplemented")


def test_a_long_name_of_a_format_is_shortened_in_the_message(call: Call) -> None:
    response = call("SelectMergeStacktraces", profileTypeID=CPU, format="F" * 10_000)
    assert response.status_code == 501
    assert len(response.json()["message"]) < 250


@pytest.mark.parametrize(
    ("call_site", "names", "total"),
    [
        (["main", "foo1"], ["total", "main", "foo1", "bar"], 12),
        (["main"], ["total", "main", "foo1", "foo2", "bar"], 27),
        (["foo1"], None, 0),
    ],
)
def test_a_flame_graph_of_a_call_site(
    call_site: list[str], names: list[str] | None, total: int, call: Call
) -> None:
    selector = {"callSite": [{"name": name} for name in call_site]}
    document = select(call, "PROFILE_FORMAT_FLAMEGRAPH", stackTraceSelector=selector)
    graph = document.get("flamegraph", {})
    assert graph.get("names") == names
    assert int(graph.get("total", 0)) == total * 1_000_000


@pytest.mark.parametrize("format", [FUNCTIONS, SANDWICH])
def test_another_projects_key_sees_no_function(format: str, call: Call, stranger: Client) -> None:
    message = {"profileTypeID": CPU, "format": format, "sandwichFunction": "main"}
    document = call("SelectMergeStacktraces", stranger, **message).json()
    assert document in ({"functions": {}}, {"sandwich": {"names": ["main"]}}) or (
        document["sandwich"]["callers"] == document["sandwich"]["callees"] == {}
    )

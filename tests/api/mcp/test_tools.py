"""Values of each tool, compared with those of the query API for the same selection."""

from typing import Any

import pytest

from api.mcp.catalog import TOOLS
from api.mcp.result_text import MAX_BYTES
from findings.models import Direction, FindingState
from profiles.models import Profile
from projects.models import Deployment, Project
from tests.api.conftest import HOUR, SHOP, Ask
from tests.api.mcp.conftest import CallTool, call, error_text, read
from tests.findings.factory import add_finding
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


def columns(table: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the values of a table by column."""
    values = zip(*table["rows"], strict=True)
    return dict(zip(table["columns"], map(list, values), strict=True))


def test_services_are_those_of_the_api(shop_tool: CallTool, ask: Ask, reader: Client) -> None:
    rows.stored(rows.deployment(Project.objects.get(), "till", version="9"), minutes=3)
    document = read(call(reader, "list_services", **HOUR))
    api = ask("services", service=None, type=None).json()
    table = columns(document)
    assert table["service"] == [each["service"] for each in api["services"]] == ["shop", "till"]
    for name in ("types", "versions", "zones", "profiles", "last_profile"):
        assert table[name] == [each[name] for each in api["services"]]
    assert (document["start"], document["end"]) == (api["start"], api["end"])
    assert (document["all_rows"], document["next_offset"]) == (2, None)


def test_services_are_found_by_a_part_of_their_name(shop: Deployment, reader: Client) -> None:
    rows.stored(rows.deployment(shop.project, "till"), minutes=3)
    document = read(call(reader, "list_services", contains="TIL", **HOUR))
    assert columns(document)["service"] == ["till"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sort": "total"},
        {"version": ["1"]},
        {"zone": "us-1"},
        {"label": {"instance": ["a"]}},
        {"focus": "foo1"},
        {"f": ["hide:foo1"]},
    ],
    ids=str,
)
def test_functions_are_those_of_the_api(
    arguments: dict[str, Any], shop_tool: CallTool, ask: Ask
) -> None:
    document = shop_tool("hottest_functions", **arguments)
    labels = arguments.pop("label", {})
    api = ask("top", **arguments, **{f"label.{k}": v for k, v in labels.items()}).json()
    table = columns(document)
    assert api["functions"]["name"]
    assert table["function"] == api["functions"]["name"]
    assert table["stacks"] == api["functions"]["count"]
    for name in ("file", "self", "total"):
        assert table[name] == api["functions"][name]
    assert (document["profiles"], document["total"]) == (api["profiles"], api["total"])
    assert (document["metric"], document["unit"]) == (
        api["metric"]["name"],
        api["metric"]["unit"],
    )


def test_percentages_are_of_the_whole_service(shop_tool: CallTool) -> None:
    document = shop_tool("hottest_functions", focus="foo1")
    for row in document["rows"]:
        values = dict(zip(document["columns"], row, strict=True))
        for name in ("self", "total"):
            share = 100 * values[name] / document["total"]
            assert values[f"{name}_percent"] == pytest.approx(share, abs=0.01)


def test_sandwich_has_the_neighbours_of_the_api(shop_tool: CallTool, ask: Ask) -> None:
    document = shop_tool("sandwich", focus="foo1")
    api = ask("tree", focus="foo1").json()
    for side in ("callers", "callees"):
        table, expected = columns(document[side]), api["peek"][side]
        assert expected["name"] or side == "callees"
        assert table.get("function", []) == expected["name"]
        assert table.get("total", []) == expected["total"]
    function = document["function"]
    assert {name: function[name] for name in ("name", "file", "self", "total")} == {
        name: api["row"][name] for name in ("name", "file", "self", "total")
    }
    assert function["total_percent"] == pytest.approx(
        100 * api["row"]["total"] / api["total"], abs=0.01
    )


def test_sandwich_of_an_unknown_function_is_empty(shop_tool: CallTool) -> None:
    document = shop_tool("sandwich", focus="no such function")
    assert document["function"] is None
    assert document["callers"]["rows"] == document["callees"]["rows"] == []


def test_versions_differ_as_in_the_api(shop_tool: CallTool, ask: Ask, shop: Deployment) -> None:
    changed = rows.deployment(shop.project, version="3")
    for number in range(12):
        rows.stored(shop, {"main;same": 50, "main;work": 40 + number % 3}, minutes=20 + number)
        rows.stored(changed, {"main;same": 50, "main;work": 90 + number % 3}, minutes=40 + number)
    document = shop_tool("compare_versions", version="3", baseline_version="1")
    api = ask("compare", version="3", **{"b.version": "1"}).json()
    functions = api["functions"]
    table = columns(document)
    assert table["function"] == functions["name"]
    assert table["significant"] == functions["real"]
    assert table["significant"][functions["name"].index("work")]
    assert document["profiles"] == api["profiles"] == 12
    assert document["baseline"]["profiles"] == api["b"]["profiles"] == 14
    for mine, side, profiles in (("", "a", 12), ("baseline_", "b", 14)):
        for value in ("self", "total"):
            means = [each / profiles for each in functions[f"{side}_{value}"]]
            assert table[f"{mine}{value}"] == pytest.approx(means, abs=0.51)
    for bound in ("low", "high"):
        assert table[bound] == pytest.approx(functions[bound], abs=0.51)
    assert document["whole"]["total"] == pytest.approx(api["whole"]["a_total"] / 12, abs=0.51)
    assert document["whole"]["significant"] == api["whole"]["real"]


def test_one_version_is_compared_at_two_times(shop_tool: CallTool, ask: Ask) -> None:
    document = shop_tool(
        "compare_versions",
        version="1",
        baseline_from="2026-11-20T12:00:30Z",
        baseline_to="2026-11-20T12:30:00Z",
    )
    assert (document["profiles"], document["baseline"]["profiles"]) == (2, 1)
    assert "profiles" in document["not_tested_because"]


def test_comparison_without_a_baseline_says_what_is_missing(
    shop: Deployment, reader: Client
) -> None:
    text = error_text(call(reader, "compare_versions", **SHOP, version="1"))
    assert text.startswith("baseline_version: is missing")


@pytest.mark.parametrize(
    "arguments", [{}, {"function": ["foo1", "main"], "step": "5m"}, {"version": "2", "top": 1}]
)
def test_history_is_that_of_the_api(
    arguments: dict[str, Any], shop_tool: CallTool, ask: Ask
) -> None:
    document = shop_tool("function_history", **arguments, limit=500)
    size = arguments.pop("top", 3)
    api = ask("history", size=size, **arguments).json()
    table = columns(document)
    assert table["start"] == api["steps"]["start"]
    assert table["profiles"] == api["steps"]["profiles"]
    assert table["total"] == api["steps"]["total"]
    assert [each["function"] for each in document["functions"]] == [
        each["name"] for each in api["functions"]
    ]
    for number, function in enumerate(api["functions"], 1):
        assert table[f"self_{number}"] == function["self"]
        assert table[f"total_{number}"] == function["total"]
    assert document["versions"] == [
        {name: each[name] for name in ("version", "first", "last")} for each in api["versions"]
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"direction": "any"},
        {"service": "till"},
        {"state": "new", "function": "SHOP"},
        {"type": "WALL", "direction": "improvement"},
        {"version": "3"},
    ],
    ids=str,
)
def test_regressions_are_those_of_the_api(
    arguments: dict[str, Any], project: Project, other_project: Project, ask: Ask, reader: Client
) -> None:
    findings: list[dict[str, Any]] = [
        {"function": "shop.a"},
        {"function": "shop.b", "state": FindingState.RESOLVED, "service": "till"},
        {"function": "shop.c", "direction": Direction.IMPROVEMENT, "type": "WALL"},
        {"function": "shop.d", "version": "3", "before": 0.0},
    ]
    for number, fields in enumerate(findings):
        add_finding(project, **fields, rank=number / 10)
    add_finding(other_project, function="foreign")
    table = columns(read(call(reader, "regressions", **arguments)))
    same = {"service": None, "type": None, "from": None, "to": None}
    api = ask("regressions", **same | arguments).json()["rows"][::-1]
    assert api
    for name in ("service", "type", "function", "file", "value", "direction", "state"):
        assert table[name] == [each[name] for each in api]
    for name in ("before", "after", "change", "unit", "since", "version", "version_before"):
        assert table[name] == [each[name] for each in api]
    assert [[*each] for each in zip(table["low"], table["high"], strict=True)] == [
        each["interval"] for each in api
    ]
    relative = [None if each["relative"] is None else 100 * each["relative"] for each in api]
    assert table["change_percent"] == pytest.approx(relative, abs=0.01)


def test_further_rows_are_read_by_their_offset(shop_tool: CallTool, ask: Ask) -> None:
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        document = shop_tool("hottest_functions", limit=2, offset=offset)
        assert len(document["rows"]) <= 2
        names += columns(document)["function"]
        offset = document["next_offset"]
    assert names == ask("top").json()["functions"]["name"]
    assert len(names) > 2


def test_offset_beyond_the_last_row_has_no_rows(shop_tool: CallTool) -> None:
    document = shop_tool("hottest_functions", offset=10_000)
    assert (document["rows"], document["next_offset"]) == ([], None)


def test_every_result_has_at_most_4000_tokens(shop: Deployment, reader: Client) -> None:
    """Names are as long and as costly in JSON as uploads may have them."""
    names = [f"{number}\x01\u2028{'é' * 3000}" for number in range(60)]
    stacks = {f"main;hub;{name}": 1000 - number for number, name in enumerate(names)}
    many = {f"caller{number:03d}{'x' * 150};hub": 5 for number in range(400)}
    rows.stored(rows.deployment(shop.project, version="wide"), stacks | many, minutes=5)
    wide = {**SHOP, "version": "wide"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_services", HOUR),
        ("hottest_functions", wide),
        ("sandwich", {**wide, "focus": "hub"}),
        ("compare_versions", {**wide, "baseline_version": "1"}),
        ("function_history", {**SHOP, "top": 5, "step": "1m"}),
        ("regressions", {}),
    ]
    for name in names:
        add_finding(shop.project, function=name, file="\x01" * 3000, version="\u2028" * 512)
    assert {tool for tool, _ in calls} == {*TOOLS}
    for tool, arguments in calls:
        result = call(reader, tool, **arguments, limit=500)
        document = read(result)
        assert len(result["content"][0]["text"].encode()) <= MAX_BYTES
        tables = [document["callers"], document["callees"]] if tool == "sandwich" else [document]
        for table in tables:
            assert table["rows"]
            if tool not in ("list_services", "function_history"):
                assert table["next_offset"] == len(table["rows"]) < table["all_rows"]


def test_unreadable_profiles_are_reported(shop: Deployment, reader: Client) -> None:
    damaged = rows.stored(shop, minutes=4)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.content.tree[:-9])
    document = read(call(reader, "hottest_functions", **SHOP))
    assert document["left_out_profiles"] == 1
    assert document["left_out_because"]

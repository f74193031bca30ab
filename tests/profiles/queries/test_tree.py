"""Merged call tree and function list."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from profiles.models import Profile
from profiles.query import (
    DeadlinePassed,
    Group,
    InvalidQuery,
    Metric,
    Order,
    ProfileSelection,
    Shape,
    View,
    run_top,
    run_tree,
    run_tree_and_functions,
    tree_json,
)
from projects.models import Deployment
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.calltree import reference_ids
from tests.profiles.pprofs import Stacks, pprof

pytestmark = pytest.mark.django_db


def paths(result_json: bytes) -> dict[str, int]:
    """Return self values by stack, from the JSON."""
    document = json.loads(result_json)
    stack: list[str] = []
    found = {}
    nodes = zip(names(document), document["depth"], document["self"], strict=True)
    for name, depth, own in nodes:
        stack[depth:] = [name]
        found[";".join(stack)] = own
    return found


def names(document: Mapping[str, Any]) -> list[str]:
    """Return the function name of each node."""
    of_frames = [document["names"][i] for i in document["frames"]["name"]]
    return [of_frames[i] for i in document["frame"]]


def test_tree_sums_all_matching_profiles(selection: ProfileSelection, shop: Deployment) -> None:
    for minute in range(5):
        rows.stored(shop, minutes=minute)
    result = run_tree(query_context(selection), selection, View())
    assert result.coverage.profiles == 5
    assert result.coverage.total == 5 * 9_000_000
    assert result.coverage.duration_ns == 50 * 10**9
    assert paths(tree_json(query_context(result.selection), result)) == {
        "main": 5 * 2_000_000,
        "main;foo1": 5 * 1_500_000,
        "main;foo1;bar": 5 * 2_500_000,
        "main;foo2": 5 * 500_000,
        "main;foo2;bar": 5 * 2_500_000,
    }


def test_json_has_version_project_service_and_type(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    document = json.loads(
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View()))
    )
    assert document["v"] == 1
    assert (document["project"], document["service"], document["type"]) == (
        shop.project.project_id,
        "shop",
        "CPU",
    )
    assert document["metric"] == {"name": "cpu", "unit": "nanoseconds"}
    assert (document["profiles"], document["duration_s"]) == (1, 10)
    assert document["folded"] == {"at": [], "count": [], "total": []}


def test_a_damaged_row_is_named_and_the_rest_summed(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    damaged = rows.stored(shop, minutes=7)
    Profile.objects.filter(name_id=damaged.name_id).update(tree=damaged.content.tree[:-9])
    result = run_tree(query_context(selection), selection, View())
    assert result.coverage.profiles == 1
    assert [missing.start for missing in result.coverage.missing] == [damaged.time]
    assert "damaged" in result.coverage.missing[0].explanation


def test_the_list_has_self_total_and_stacks(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    top = run_top(query_context(selection), selection, View())
    assert [(row.name, row.self, row.total, row.count) for row in top.rows] == [
        ("bar", 5_000_000, 5_000_000, 2),
        ("main", 2_000_000, 9_000_000, 5),
        ("foo1", 1_500_000, 4_000_000, 2),
        ("foo2", 500_000, 3_000_000, 2),
    ]


def test_the_list_beside_a_tree_is_that_of_the_whole_selection(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    whole = run_top(query_context(selection), selection, View()).rows
    view = View(shape=Shape.BOTTOM_UP, focus="foo1")
    tree, functions = run_tree_and_functions(query_context(selection), selection, view)
    alone = run_tree(query_context(selection), selection, view)
    assert tree_json(query_context(selection), tree) == tree_json(query_context(selection), alone)
    assert functions.rows == whole
    root = int(run_tree(query_context(selection), selection, View()).tree.id[1])
    assert (
        run_tree_and_functions(query_context(selection), selection, View(root=root))[1].rows
        == whole
    )


def test_no_profiles_make_an_empty_tree(selection: ProfileSelection) -> None:
    result = run_tree(
        query_context(replace(selection, service="other")),
        replace(selection, service="other"),
        View(),
    )
    assert result.coverage.profiles == 0
    assert json.loads(tree_json(query_context(result.selection), result))["frame"] == []


def test_narrow_nodes_are_folded_and_shown_below_their_root(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    document = json.loads(
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, View(max_nodes=3)),
        )
    )
    assert names(document) == ["main", "foo1", "foo2"]
    assert document["folded"] == {
        "at": [1, 2],
        "count": [1, 1],
        "total": [2_500_000, 2_500_000],
    }
    foo1 = reference_ids.node_id([("main", "app.py", 0), ("foo1", "app.py", 0)])
    opened = run_tree(query_context(selection), selection, View(root=foo1))
    assert paths(tree_json(query_context(opened.selection), opened)) == {
        "foo1": 1_500_000,
        "foo1;bar": 2_500_000,
    }
    assert json.loads(tree_json(query_context(opened.selection), opened))["root"] == f"{foo1:016x}"
    assert opened.coverage.total == 9_000_000


def test_a_node_that_is_not_there_is_named(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    with pytest.raises(InvalidQuery, match="No node 0000000000000007"):
        run_tree(query_context(selection), selection, View(root=7))


def test_lines_are_shown_on_request(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    document = json.loads(
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, View(group=Group.LINE)),
        )
    )
    assert document["frames"]["line"] == [1] * 4
    assert (
        "line"
        not in json.loads(
            tree_json(
                query_context(selection), run_tree(query_context(selection), selection, View())
            )
        )["frames"]
    )


def test_order_by_name_sorts_siblings(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, {"r;b": 5, "r;a": 1})
    document = json.loads(
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, View(order=Order.NAME)),
        )
    )
    assert names(document) == ["r", "a", "b"]


def test_a_merged_tree_has_a_limit_of_nodes(
    selection: ProfileSelection, shop: Deployment, settings: Settings
) -> None:
    rows.stored(shop, {"main;a": 1, "main;b": 2})
    settings.MAX_QUERY_NODES = 3
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 1
    rows.stored(shop, {"main;c": 1}, minutes=1)
    with pytest.raises(InvalidQuery, match=r"FLAMEWATCH_MAX_QUERY_NODES allows 3 nodes .* shorter"):
        run_tree(query_context(selection), selection, View())


def test_query_after_its_deadline_raises(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    with pytest.raises(DeadlinePassed):
        run_tree(query_context(selection, time.monotonic() - 1), selection, View())


def test_sum_beyond_64_bits_is_rejected(selection: ProfileSelection, shop: Deployment) -> None:
    for _ in range(3):
        rows.stored(shop, {"main": 2**62 // 1000})
    with pytest.raises(InvalidQuery, match="64 bits"):
        run_tree(query_context(selection), selection, View())


HEAP: Stacks = {"main;keep": (3, 300, 3, 300), "main;free;make": (0, 0, 5, 500)}
FOUR = (
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
)


def test_nodes_without_a_value_in_the_metric_are_not_shown(
    selection: ProfileSelection, shop: Deployment
) -> None:
    raw = pprof(HEAP, FOUR)
    rows.stored_raw(shop, raw, type=ProfileType.HEAP)
    heap = replace(selection, type=ProfileType.HEAP)
    for metric, expected in {
        "inuse_space": {"main": 0, "main;keep": 300},
        "alloc_space": {"main": 0, "main;keep": 300, "main;free": 0, "main;free;make": 500},
    }.items():
        view = View(metric=Metric(metric, "bytes"))
        assert (
            paths(tree_json(query_context(heap), run_tree(query_context(heap), heap, view)))
            == expected
        )
        listed = {row.name for row in run_top(query_context(heap), heap, view).rows}
        assert listed == {name for path in expected for name in path.split(";")}

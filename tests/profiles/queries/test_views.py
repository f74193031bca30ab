"""Views: bottom-up, focus, highlights and lines, combined with filters, roots and folding."""

import json
from typing import Any

import pytest

from profiles.query import (
    FilterOption,
    FocusResult,
    FunctionRow,
    InvalidQuery,
    ProfileSelection,
    Shape,
    View,
    ViewFilter,
    focus_json,
    run_focus,
    run_lines,
    run_top,
    run_tree,
    tree_json,
)
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.calltree import reference_ids
from tests.profiles.pprofs import PprofBuilder
from tests.profiles.queries.test_tree import names, paths

pytestmark = pytest.mark.django_db
UP = Shape.BOTTOM_UP


def filters(*texts: str) -> tuple[ViewFilter, ...]:
    pairs = [text.split(":", 1) for text in texts]
    return tuple(ViewFilter(FilterOption(option), value) for option, value in pairs)


@pytest.fixture(autouse=True)
def example(shop: Deployment) -> None:
    rows.stored(shop)


def ids(document: dict[str, Any]) -> dict[str, int]:
    """Return the id of the node of each stack."""
    stacks = {path: path.split(";") for path in columns(document)}
    return {
        path: reference_ids.node_id((name, "app.py", 0) for name in stack)
        for path, stack in stacks.items()
    }


def columns(document: dict[str, Any]) -> dict[str, int]:
    return paths(json.dumps(document).encode())


def test_bottom_up_has_callers_below_their_callees(selection: ProfileSelection) -> None:
    result = run_tree(query_context(selection), selection, View(shape=UP))
    assert paths(tree_json(query_context(result.selection), result)) == {
        "bar": 0,
        "bar;foo1": 0,
        "bar;foo1;main": 2_500_000,
        "bar;foo2": 0,
        "bar;foo2;main": 2_500_000,
        "main": 2_000_000,
        "foo1": 0,
        "foo1;main": 1_500_000,
        "foo2": 0,
        "foo2;main": 500_000,
    }


def test_filters_come_before_the_shape(selection: ProfileSelection) -> None:
    result = run_tree(
        query_context(selection),
        selection,
        View(shape=UP, filters=filters("hideframes:foo", "show:bar")),
    )
    assert paths(tree_json(query_context(result.selection), result)) == {
        "bar": 0,
        "bar;main": 5_000_000,
    }


def test_a_root_and_folds_of_the_bottom_up_view(selection: ProfileSelection) -> None:
    folded = json.loads(
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, View(shape=UP, max_nodes=4)),
        )
    )
    assert sorted(columns(folded)) == ["bar", "foo1", "foo2", "main"]
    assert sum(folded["folded"]["total"]) + sum(folded["self"]) == 9_000_000
    root = ids(folded)["bar"]
    opened = run_tree(query_context(selection), selection, View(shape=UP, root=root))
    assert paths(tree_json(query_context(opened.selection), opened)) == {
        "bar": 0,
        "bar;foo1": 0,
        "bar;foo1;main": 2_500_000,
        "bar;foo2": 0,
        "bar;foo2;main": 2_500_000,
    }


def test_function_list_ignores_the_shape(selection: ProfileSelection) -> None:
    assert (
        run_top(query_context(selection), selection, View(shape=UP)).rows
        == run_top(query_context(selection), selection, View()).rows
    )
    with pytest.raises(InvalidQuery, match="bottom-up"):
        run_top(query_context(selection), selection, View(shape=UP, root=1))


def test_highlights_change_no_value_and_are_named_by_row(selection: ProfileSelection) -> None:
    result = run_tree(
        query_context(selection),
        selection,
        View(filters=filters("highlight:foo", "highlight:/^main$/")),
    )
    document = json.loads(tree_json(query_context(result.selection), result))
    plain = json.loads(
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View()))
    )
    named = names(document)
    assert [named[row] for row in document.pop("highlight")] == ["main", "foo1", "foo2"]
    assert document == plain


def test_highlights_name_only_drawn_nodes(selection: ProfileSelection) -> None:
    view = View(filters=filters("highlight:foo1", "hideframes:main"), max_nodes=2, shape=UP)
    document = json.loads(
        tree_json(query_context(selection), run_tree(query_context(selection), selection, view))
    )
    named = names(document)
    assert [named[row] for row in document["highlight"]] == ["foo1"]


def test_an_expression_that_cannot_be_read_is_named(selection: ProfileSelection) -> None:
    for run in (run_tree, run_focus):
        with pytest.raises(InvalidQuery, match=r"Invalid regex /a\(/"):
            run(
                query_context(selection),
                selection,
                View(filters=filters("highlight:/a(/"), focus="bar"),
            )


def test_focus_has_callers_and_callees(selection: ProfileSelection) -> None:
    document = json.loads(
        focus_json(
            query_context(selection),
            run_focus(query_context(selection), selection, View(focus="foo1")),
        )
    )
    assert document["row"] == {
        "name": "foo1",
        "file": "app.py",
        "self": 1_500_000,
        "total": 4_000_000,
        "count": 2,
    }
    assert (document["profiles"], document["total"]) == (1, 9_000_000)
    assert columns(document["callers"]) == {"foo1": 0, "foo1;main": 4_000_000}
    assert columns(document["callees"]) == {"foo1": 1_500_000, "foo1;bar": 2_500_000}


def test_focus_counts_recursion_once(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, {"a;b;a;b": 3, "a": 4})
    result = run_focus(query_context(selection), selection, View(focus="a"))
    assert result.row == FunctionRow("a", "app.py", 4000, 7000, 2)
    assert int(result.callers.self.sum()) == int(result.callees.self.sum()) == 7000


def test_filters_come_before_the_focus(selection: ProfileSelection) -> None:
    view = View(focus="bar", filters=filters("hide:foo2", "highlight:main"))
    result = run_focus(query_context(selection), selection, view)
    assert result.row == FunctionRow("bar", "app.py", 2_500_000, 2_500_000, 1)
    document = json.loads(focus_json(query_context(result.selection), result))
    assert document["callers"]["highlight"] == [2]
    assert "highlight" not in document["callees"]


def test_focus_on_a_function_without_stacks_has_no_row(selection: ProfileSelection) -> None:
    document = json.loads(
        focus_json(
            query_context(selection),
            run_focus(query_context(selection), selection, View(focus="nothing")),
        )
    )
    assert document["row"] is None
    assert document["callers"]["frame"] == document["callees"]["frame"] == []
    with pytest.raises(InvalidQuery, match="name of a function"):
        run_focus(query_context(selection), selection, View())


def test_root_of_a_focus_opens_the_side_that_has_it(selection: ProfileSelection) -> None:
    folded = run_focus(query_context(selection), selection, View(focus="bar", max_nodes=2))
    document = json.loads(focus_json(query_context(folded.selection), folded))
    assert columns(document["callers"]) == {"bar": 0, "bar;foo1": 0}
    assert folded.callers_folded == {0: (2, 2_500_000), 1: (1, 2_500_000)}
    node = ids(document["callers"])["bar;foo1"]
    opened = json.loads(
        focus_json(
            query_context(selection),
            run_focus(query_context(selection), selection, View(focus="bar", root=node)),
        )
    )
    assert columns(opened["callers"]) == {"foo1": 0, "foo1;main": 2_500_000}
    assert opened["callees"]["frame"] == []
    with pytest.raises(InvalidQuery, match="No node"):
        run_focus(query_context(selection), selection, View(focus="bar", root=7))


def test_a_tree_or_list_with_a_focus_is_of_the_stacks_that_reach_it(
    selection: ProfileSelection,
) -> None:
    view = View(focus="foo1")
    assert paths(
        tree_json(query_context(selection), run_tree(query_context(selection), selection, view))
    ) == {
        "main": 0,
        "main;foo1": 1_500_000,
        "main;foo1;bar": 2_500_000,
    }
    assert {
        row.name: row.total for row in run_top(query_context(selection), selection, view).rows
    } == {
        "main": 4_000_000,
        "foo1": 4_000_000,
        "bar": 2_500_000,
    }


def test_lines_of_a_function_have_self_and_total(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored_raw(shop, on_lines(("main", 3), ("work", 10), ("work", 12)))
    result = run_lines(query_context(selection), selection, View(), "work", "app.py")
    assert [(row.line, row.self, row.total) for row in result.rows] == [(10, 0, 7), (12, 7, 7)]
    assert result.coverage.profiles == 2
    hidden = run_lines(
        query_context(selection), selection, View(filters=filters("hide:work")), "work", "app.py"
    )
    assert hidden.rows == ()


def on_lines(*frames: tuple[str, int]) -> bytes:
    """Return a profile of one stack of 7 ns, root first."""
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("ns"))
    stack = [builder.frame(name, line=line) for name, line in reversed(frames)]
    builder.message.sample.add(location_id=stack, value=[7])
    return bytes(builder.message.SerializeToString())


def test_totals_of_callers_and_callees_equal_that_of_the_list(selection: ProfileSelection) -> None:
    for row in run_top(query_context(selection), selection, View()).rows:
        result: FocusResult = run_focus(query_context(selection), selection, View(focus=row.name))
        assert result.row == row
        assert int(result.callers.self.sum()) == int(result.callees.self.sum()) == row.total

"""Filters change what is shown of the profiles, never which profiles are merged."""

import pytest

from profiles.query import (
    FilterOption,
    InvalidQuery,
    ProfileSelection,
    View,
    ViewFilter,
    run_top,
    run_tree,
    tree_json,
)
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.calltree import reference_ids
from tests.profiles.queries.test_tree import paths

pytestmark = pytest.mark.django_db


def view(*filters: str, root: int | None = None) -> View:
    pairs = [text.split(":", 1) for text in filters]
    return View(filters=tuple(ViewFilter(FilterOption(o), v) for o, v in pairs), root=root)


@pytest.mark.parametrize(
    ("filtered", "expected"),
    [
        (view("show:foo1"), {"main": 0, "main;foo1": 1_500_000, "main;foo1;bar": 2_500_000}),
        (view("hide:foo"), {"main": 2_000_000}),
        (view("hide:bar", "show:foo1"), {"main": 0, "main;foo1": 1_500_000}),
        (
            view("from:foo1", "from:bar"),
            {"foo1": 1_500_000, "foo1;bar": 2_500_000, "bar": 2_500_000},
        ),
        (view("hideframes:/foo./"), {"main": 4_000_000, "main;bar": 5_000_000}),
        (view("from:bar", "hideframes:bar"), {}),
    ],
)
def test_each_filter_gives_the_expected_tree(
    selection: ProfileSelection, shop: Deployment, filtered: View, expected: dict[str, int]
) -> None:
    rows.stored(shop)
    result = run_tree(query_context(selection), selection, filtered)
    assert paths(tree_json(query_context(result.selection), result)) == expected
    assert (result.coverage.profiles, result.coverage.total) == (1, 9_000_000)
    named = {
        (row.name, row.self) for row in run_top(query_context(selection), selection, filtered).rows
    }
    assert sum(own for _, own in named) == sum(expected.values())
    assert {name for name, _ in named} == {name for path in expected for name in path.split(";")}


def test_root_is_a_node_of_the_filtered_tree(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    shown = tree_json(
        query_context(selection), run_tree(query_context(selection), selection, view("from:foo1"))
    )
    root = reference_ids.node_id([("foo1", "app.py", 0)])
    assert paths(
        tree_json(
            query_context(selection),
            run_tree(query_context(selection), selection, view("from:foo1", root=root)),
        )
    ) == paths(shown)
    with pytest.raises(InvalidQuery, match="No node"):
        run_tree(query_context(selection), selection, view(root=root))


def test_a_value_that_cannot_be_used_is_named(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    for run in (run_tree, run_top):
        with pytest.raises(InvalidQuery, match=r"Invalid regex /a\(/"):
            run(query_context(selection), selection, view("show:/a(/"))

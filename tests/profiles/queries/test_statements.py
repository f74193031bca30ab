"""Number of SQL statements per query, each of which costs a round trip."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.query import (
    Grouping,
    GroupKind,
    ProfileSelection,
    View,
    run_compare,
    run_history,
    run_options,
    run_profiles,
    run_series,
    run_strip,
    run_tree,
)
from projects.models import Deployment
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context
from tests.queries import count_queries

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
BEGIN_AND_END = 2


@pytest.fixture
def in_blocks(shop: Deployment) -> Deployment:
    for minutes in (3, 70):
        rows.stored(shop, minutes=minutes)
    later = timezone.now() + timedelta(days=3)
    Compactor(shop.project_id, later).build_level1()
    sum_days(shop.project_id, later)
    return shop


@pytest.fixture
def statements(in_blocks: Deployment) -> Iterator[list[str]]:
    run_tree(
        query_context(_selection(in_blocks)), _selection(in_blocks), View()
    )  # fills the cache of the project's metadata
    with count_queries() as statements:
        yield statements


def _selection(of: Deployment, hours: int = 1) -> ProfileSelection:
    end = rows.NOON + timedelta(hours=hours)
    return ProfileSelection(of.project_id, of.service, ProfileType.CPU, rows.NOON, end)


def test_tree_from_blocks_takes_two_statements(
    in_blocks: Deployment, statements: list[str]
) -> None:
    assert (
        run_tree(
            query_context(_selection(in_blocks)), _selection(in_blocks), View()
        ).coverage.profiles
        == 1
    )
    assert len(statements) == 2 + BEGIN_AND_END


def test_each_side_of_a_comparison_takes_two_statements(
    in_blocks: Deployment, statements: list[str]
) -> None:
    a = _selection(in_blocks)
    b = replace(a, start=a.end, end=a.end + timedelta(hours=1))
    compared = run_compare(query_context(a), a, b, View())
    assert [coverage.profiles for coverage in compared.coverages] == [1, 1]
    assert len(statements) == 4 + BEGIN_AND_END


def test_history_takes_two_statements_and_one_for_versions(
    in_blocks: Deployment, statements: list[str]
) -> None:
    assert (
        run_history(
            query_context(_selection(in_blocks)), _selection(in_blocks), View()
        ).coverage.profiles
        == 1
    )
    assert len(statements) == 3 + BEGIN_AND_END


@pytest.mark.parametrize(
    ("group_by", "more"),
    [
        (None, 0),
        (Grouping(GroupKind.VERSION), 1),
        (Grouping(GroupKind.LABEL, "instance"), 0),
        (Grouping(GroupKind.SAMPLE, "endpoint"), 0),
    ],
)
def test_series_takes_two_statements_and_one_for_deployments(
    in_blocks: Deployment, statements: list[str], group_by: Grouping | None, more: int
) -> None:
    selection = _selection(in_blocks)
    found = run_series(query_context(selection), selection, View(), group_by)
    assert found.coverage.profiles == 1
    assert len(statements) == 2 + more + BEGIN_AND_END


def test_queries_of_one_snapshot_read_shared_rows_once(
    in_blocks: Deployment, statements: list[str]
) -> None:
    selection = _selection(in_blocks, hours=2)
    context = query_context(selection)
    with context.snapshot:
        run_profiles(context, selection)
        alone = len(statements)
        run_tree(context, selection, View())
        run_strip(context, selection)
        run_options(context, selection.service, selection.type, selection.start, selection.end)
    assert len(statements) - alone <= 2


def test_narrower_selection_in_a_snapshot_has_its_own_result(in_blocks: Deployment) -> None:
    """Check that a snapshot does not mix up two selections."""
    whole, selection, day = _selection(in_blocks, hours=2), _selection(in_blocks), timedelta(days=1)
    around = replace(selection, start=selection.start - day, end=selection.end + day)
    context = query_context(selection)
    with context.snapshot:
        counts = [
            run_tree(context, each, View()).coverage.profiles for each in (whole, selection, around)
        ]
    assert counts == [2, 1, 2]

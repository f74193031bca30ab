"""Streaming of head rows: complete, in order, and the connection is released."""

import time
from contextlib import closing
from datetime import timedelta

import pytest

from profiles.models import Profile
from profiles.queries import scan
from profiles.queries.scan import stream_rows
from profiles.query import DeadlinePassed, ProfileSelection, View, run_tree
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "CHUNK", 2)
    monkeypatch.setattr(scan, "STATEMENT_ROWS", 2)


@pytest.fixture
def selection(project: Project) -> ProfileSelection:
    """Return a selection of five profiles, two of them with equal times."""
    for minutes in (4, 1, 3, 1, 2):
        rows.stored(rows.deployment(project), {"main;a": 3}, minutes=minutes)
    return ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON, rows.NOON + timedelta(hours=1)
    )


def test_all_rows_come_in_order_with_their_bytes(selection: ProfileSelection) -> None:
    found = Profile.objects.values_list("weight", "totals", "tree", "time", "pk")
    with closing(stream_rows(found)) as stream:
        read = list(stream)
    expected = list(found.order_by("time", "pk"))
    assert [(w, t, bytes(tree), at, pk) for w, t, tree, at, pk in read] == [
        (w, t, bytes(tree), at, pk) for w, t, tree, at, pk in expected
    ]
    assert len(read) == 5


def test_a_stream_that_is_left_early_leaves_the_connection_free(
    selection: ProfileSelection,
) -> None:
    found = Profile.objects.values_list("time", "pk")
    with closing(stream_rows(found)) as stream:
        next(stream)
    assert Profile.objects.count() == 5


def test_after_a_deadline_in_the_midst_the_next_query_has_a_result(
    selection: ProfileSelection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeadlinePassed):
        run_tree(query_context(selection, time.monotonic() - 1), selection, View())
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 5


def test_special_characters_in_labels_and_versions_are_matched_exactly(
    project: Project, selection: ProfileSelection
) -> None:
    of = rows.deployment(project, version="50%'s")
    rows.stored(of, {"main;b": 4}, minutes=5, labels={"a'b": "100%"})
    chosen = ProfileSelection(
        *(project.pk, "shop", ProfileType.CPU, selection.start, selection.end),
        versions=("50%'s",),
        labels=(("a'b", ("100%", "other")),),
        total_range=(0, 10**12),
    )
    assert run_tree(query_context(chosen), chosen, View()).coverage.profiles == 1

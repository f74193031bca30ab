"""List of a project's profiles: the statements that read the rows of its blocks."""

from datetime import datetime, timedelta
from unittest.mock import Mock

import pytest
from django.db import connection

from profiles import listing
from profiles.listing import ProfileListing
from profiles.queries import plan
from projects.models import Project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.queries.compaction_stages import compact_to

pytestmark = pytest.mark.django_db


def store_hours(project: Project, hours: int) -> None:
    for hour in range(hours):
        rows.stored(rows.deployment(project), minutes=60 * hour)
    compact_to(project, "hours")


def times_on_page(project: Project, size: int) -> list[datetime]:
    page = listing.page(query_context(project.pk), ProfileListing(project.pk), size)
    return [each.profile.time for each in page]


def test_a_full_page_leaves_no_cursor_to_the_garbage_collector(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_hours(project, 3)
    open_cursor = Mock(wraps=connection.chunked_cursor)
    monkeypatch.setattr(connection, "chunked_cursor", open_cursor)
    assert times_on_page(project, 1) == [rows.NOON + timedelta(hours=2)]
    assert not open_cursor.called


@pytest.mark.parametrize("hours", [4, 5])
def test_blocks_beyond_the_first_chunk_are_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    monkeypatch.setattr(plan, "_BLOCK_ROWS_AT_ONCE", 2)
    store_hours(project, hours)
    newest_first = [rows.NOON + timedelta(hours=hour) for hour in reversed(range(hours))]
    assert times_on_page(project, 100) == newest_first

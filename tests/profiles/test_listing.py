"""List of a project's profiles: the database's cursors."""

import gc
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from profiles import listing
from profiles.listing import ProfileListing
from projects.models import Project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.queries.compaction_stages import compact_to


@pytest.fixture
def no_garbage_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.django_db
@pytest.mark.usefixtures("no_garbage_collector")
def test_page_closes_its_cursor_before_the_last_block(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hour in range(3):
        rows.stored(rows.deployment(project), minutes=60 * hour)
    compact_to(project, "hours")
    events: list[str] = []
    open_cursor = connection.chunked_cursor

    def record_cursor() -> Any:
        cursor: Any = open_cursor()
        close = cursor.close

        def record_close() -> None:
            events.append("close")
            close()

        cursor.close = record_close
        events.append("open")
        return cursor

    monkeypatch.setattr(connection, "chunked_cursor", record_cursor)
    [newest] = listing.page(query_context(project.pk), ProfileListing(project.pk), 1)
    assert newest.profile.time == rows.NOON + timedelta(hours=2)
    # PostgreSQL has no such cursors with the server's settings.
    assert events == (["open", "close"] if connection.vendor == "sqlite" else [])

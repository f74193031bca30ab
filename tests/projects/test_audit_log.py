"""Plans of the audit log's statements: each page comes from an index, in its order."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from projects import audit_log
from projects.audit_log import AuditFilter, Cursor
from projects.models import AuditEntry, Project, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def entries(project: Project, alice: User) -> Iterator[None]:
    """Create enough entries for plans like those of long logs; few of them have the action."""
    with transaction.atomic():
        AuditEntry.objects.bulk_create(
            AuditEntry(project=project, action="account.sign_in" if number % 500 else "key.create")
            for number in range(3000)
        )
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")
                cursor.execute("SET LOCAL enable_bitmapscan = off")
                cursor.execute("ANALYZE projects_auditentry")
        yield


def explain(rows: QuerySet[AuditEntry, Any]) -> str:
    plan = rows.explain().lower()
    assert "seq scan" not in plan
    assert "sort" not in plan.replace("incremental sort", "")
    assert "temp b-tree" not in plan
    return plan


@pytest.mark.parametrize("has_cursor", [False, True])
@pytest.mark.parametrize(
    ("more", "index"),
    [
        ({}, "audit_by_time"),
        ({"text": "x"}, "audit_by_time"),
        ({"actor": 1}, "audit_by_actor"),
        ({"action": "key.create"}, "audit_by_action"),
    ],
)
def test_page_is_read_in_the_order_of_an_index(
    project: Project, entries: None, more: dict[str, object], index: str, has_cursor: bool
) -> None:
    # Later than the entries: before them, the planner expects no rows, and any index is as good.
    cursor = Cursor(timezone.now(), 7) if has_cursor else None
    criteria = AuditFilter(project.pk, timezone.now() - timedelta(days=30), **more)  # type: ignore[arg-type]
    rows = audit_log._filter_by_index(criteria, cursor)
    assert index in explain(audit_log._filter_by_scan(rows, criteria)[:51])
    assert index in explain(rows.values_list("at", "pk")[19_999:20_001])


def test_cursor_is_read_back() -> None:
    cursor = Cursor(timezone.now(), 4711)
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", "-", "1", "1-", "-1", "1-x", "１-1x", "9" * 19 + "-1"])
def test_other_text_is_no_cursor(text: str) -> None:
    with pytest.raises(ValueError, match="position"):
        Cursor.parse(text)

"""Requests for higher limits."""

from datetime import timedelta

import pytest
from django.utils import timezone

from projects import quota_requests
from projects.audit import NO_CLIENT
from projects.models import AuditEntry, Project, Quota, QuotaRequest, QuotaRequestState, User
from projects.quota_requests import MAX_AMOUNT, MAX_REQUESTS_PER_DAY, RequestRejected
from projects.usage import limits
from projects.usage.limits import LimitName

pytestmark = pytest.mark.django_db(transaction=True)


def ask(
    project: Project,
    actor: User,
    limit: LimitName = LimitName.STORED_BYTES,
    amount: int = 40 * 10**9,
) -> QuotaRequest:
    return quota_requests.create(
        project, limit, amount, "Retention of 60 days", actor=actor, origin=NO_CLIENT
    )


def test_granted_request_sets_the_override_and_is_audited(
    project: Project, alice: User, charlie: User
) -> None:
    row = ask(project, alice)
    assert quota_requests.describe(row) == "Stored, 20 GB → 40 GB"
    quota_requests.grant(row, 30 * 10**9, "Until May", actor=charlie, origin=NO_CLIENT)
    row.refresh_from_db()
    assert (row.state, row.granted, row.note) == ("granted", 30 * 10**9, "Until May")
    assert quota_requests.describe(row) == "Stored, 20 GB → 30 GB"
    assert Quota.objects.get(project=project).stored_bytes == 30 * 10**9
    assert limits.get_limits(project.pk).stored_bytes == 30 * 10**9
    entry = AuditEntry.objects.get(action="quota.grant")
    assert (entry.actor, entry.target) == (charlie, "stored_bytes")
    assert entry.detail == {"changes": {"stored_bytes": [None, 30 * 10**9]}, "note": "Until May"}
    assert AuditEntry.objects.get(action="quota.request").detail["amount"] == 40 * 10**9


def test_declined_request_changes_no_limit(project: Project, alice: User) -> None:
    row = quota_requests.decline(ask(project, alice), "No room", actor=alice, origin=NO_CLIENT)
    assert row.state == QuotaRequestState.DECLINED
    assert not Quota.objects.filter(project=project).exists()
    assert AuditEntry.objects.get(action="quota.decline").detail == {"note": "No room"}
    assert ask(project, alice).state == QuotaRequestState.OPEN


def test_decided_request_is_not_decided_again(project: Project, alice: User) -> None:
    row = ask(project, alice)
    quota_requests.decline(row, "", actor=alice, origin=NO_CLIENT)
    with pytest.raises(RequestRejected, match="already decided"):
        quota_requests.grant(row, 30 * 10**9, "", actor=alice, origin=NO_CLIENT)
    with pytest.raises(RequestRejected, match="already decided"):
        quota_requests.decline(row, "", actor=alice, origin=NO_CLIENT)


def test_second_open_request_for_a_limit_is_rejected(
    project: Project, other_project: Project, alice: User
) -> None:
    ask(project, alice)
    with pytest.raises(RequestRejected, match="already waits"):
        ask(project, alice)
    ask(project, alice, LimitName.PROFILES_PER_DAY, 200_000)
    ask(other_project, alice)


@pytest.mark.parametrize("amount", [0, 100_000, MAX_AMOUNT + 1, 10**18])
def test_amount_within_the_limit_or_beyond_the_column_is_rejected(
    project: Project, alice: User, amount: int
) -> None:
    with pytest.raises(RequestRejected, match="must be more than 100,000"):
        ask(project, alice, LimitName.PROFILES_PER_DAY, amount)
    assert not QuotaRequest.objects.exists()


def test_requests_of_a_day_are_bounded(project: Project, alice: User) -> None:
    for _number in range(MAX_REQUESTS_PER_DAY):
        quota_requests.decline(ask(project, alice), "", actor=alice, origin=NO_CLIENT)
    with pytest.raises(RequestRejected, match="10 requests within 24 hours"):
        ask(project, alice)
    QuotaRequest.objects.update(created=timezone.now() - timedelta(days=1, seconds=1))
    ask(project, alice)

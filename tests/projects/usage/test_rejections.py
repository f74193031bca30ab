"""Rejected requests by project, day and reason."""

import asyncio
from collections.abc import Callable

import pytest
from pytest_django import Settings

from common import write_behind
from common.fair_threads import QueueFull
from endpoints.errors import Overloaded, TooManyLabelValues
from ingest.uploads import label_values
from ingest.uploads.upload_budget import UploadBudget
from profiles.queries import concurrency
from profiles.queries.concurrency import TooManyQueriesWaiting, run_query
from projects.models import DayRejections, DayUsage, Project, Quota
from projects.registration import registry
from projects.registration.registry import AgentSeen, DeploymentKey
from projects.usage import quotas, rejections
from projects.usage.limits import LimitName
from projects.usage.quota_reached import QuotaReached
from projects.usage.rejections import RejectionReason, load_rejections
from tests.clock import Clock
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)
MEMORY, DAY = RejectionReason.UPLOAD_MEMORY, RejectionReason.PROFILES_PER_DAY


def counted(project: Project) -> dict[str, int]:
    write_behind.write_now()
    return {count.reason: count.today for count in load_rejections(project.pk)}


def test_a_rejection_runs_no_query_and_is_written_behind(project: Project) -> None:
    with count_queries() as queries:
        for _ in range(3):
            rejections.note(project.pk, MEMORY)
    assert queries == []
    write_behind.write_now()
    rejections.note(project.pk, MEMORY)
    write_behind.write_now()
    row = DayRejections.objects.get()
    assert (row.project, row.reason, row.count) == (project, "upload_memory", 4)


def test_rejections_are_summed_by_reason_for_today_and_for_a_week(
    project: Project, clock: Clock
) -> None:
    other = Project.objects.create(project_id="other-project", name="Other")
    rejections.note(other.pk, DAY)
    rejections.note(project.pk, MEMORY)
    clock.advance(days=1)
    for _ in range(5):
        rejections.note(project.pk, MEMORY)
    clock.advance(days=6)
    rejections.note(project.pk, DAY)
    rejections.note(project.pk, MEMORY)
    write_behind.write_now()
    first, second = load_rejections(project.pk)
    assert (first.reason, first.today, first.week) == ("upload_memory", 1, 6)
    assert (second.reason, second.today, second.week) == ("profiles_per_day", 1, 1)
    assert second.label == "Profiles per day"


def test_old_counts_are_deleted(project: Project, clock: Clock) -> None:
    rejections.note(project.pk, MEMORY)
    write_behind.write_now()
    clock.advance(days=30)
    rejections.delete_old(project.pk, clock.now)
    assert DayRejections.objects.count() == 1
    clock.advance(days=2)
    rejections.delete_old(project.pk, clock.now)
    assert DayRejections.objects.count() == 0


def test_only_quotas_of_uploads_count_as_rejected_profiles(project: Project) -> None:
    rejections.note(project.pk, MEMORY)
    rejections.note(project.pk, DAY)
    write_behind.write_now()
    assert DayUsage.objects.get().rejected == 1


def test_rejections_of_a_deleted_project_are_dropped(project: Project) -> None:
    rejections.note(project.pk + 1000, DAY)
    rejections.note(project.pk, DAY)
    write_behind.write_now()
    assert DayRejections.objects.get().count == 1
    assert DayUsage.objects.get().rejected == 1


def test_rejections_without_a_project_count_in_the_totals_only() -> None:
    before = rejections.totals()[RejectionReason.SERVER_BUSY]
    rejections.note(None, RejectionReason.SERVER_BUSY)
    write_behind.write_now()
    assert rejections.totals()[RejectionReason.SERVER_BUSY] == before + 1
    assert not DayRejections.objects.exists()


def test_a_reason_of_another_version_is_shown_by_its_name(project: Project, clock: Clock) -> None:
    DayRejections.objects.create(project=project, day=clock.now.date(), reason="later", count=2)
    assert [count.label for count in load_rejections(project.pk)] == ["later"]


@pytest.mark.parametrize("reason", RejectionReason)
def test_every_reason_has_a_text_and_fits_its_column(reason: RejectionReason) -> None:
    assert str(rejections.LABELS[reason])
    assert len(reason) <= 40


# -- where requests are rejected ----------------------------------------------------------


@pytest.mark.parametrize(
    ("quota", "size", "reason"),
    [
        ({"profiles_per_minute": 0}, 1, "profiles_per_minute"),
        ({"profiles_per_day": 0}, 1, "profiles_per_day"),
        ({"stored_bytes": 0}, 1, "stored_bytes"),
        ({"bytes_per_profile": 1}, 2, "bytes_per_profile"),
    ],
)
def test_each_quota_of_uploads_is_a_reason(
    quota: dict[str, int], size: int, reason: str, project: Project
) -> None:
    Quota.objects.create(project=project, **quota)
    with pytest.raises(QuotaReached):
        asyncio.run(quotas.admit_profile(project.pk, size))
    assert counted(project) == {reason: 1}


@pytest.mark.parametrize("limit", set(LimitName) - {LimitName.RETENTION_DAYS})
def test_every_quota_that_rejects_has_a_reason(limit: LimitName) -> None:
    assert limit in rejections.OF_QUOTA


def test_deployment_over_quota_is_counted_as_new_deployments(project: Project) -> None:
    Quota.objects.create(project=project, new_deployments_per_day=0)
    with pytest.raises(QuotaReached):
        asyncio.run(registry.seen(project.pk, DeploymentKey("shop"), AgentSeen("a" * 32)))
    assert counted(project) == {"new_deployments": 1}


def test_upload_over_a_memory_budget_is_counted_as_upload_memory_or_server_busy(
    project: Project,
) -> None:
    budget = UploadBudget(total=100, per_project=40)
    with budget.account(project.pk) as account, pytest.raises(Overloaded):
        account.charge(41)
    with budget.account(1) as one, budget.account(2) as two, budget.account(project.pk) as third:
        one.charge(40)
        two.charge(40)
        with pytest.raises(Overloaded):
            third.charge(21)
    assert counted(project) == {"upload_memory": 1, "server_busy": 1}


def test_label_with_too_many_values_is_counted(project: Project, settings: Settings) -> None:
    settings.MAX_LABEL_VALUES = 1
    label_values.count(project.pk, {"pod": "a"})
    with pytest.raises(TooManyLabelValues):
        label_values.count(project.pk, {"pod": "b"})
    assert counted(project) == {"label_values": 1}


@pytest.mark.parametrize(
    ("of_tenant", "reason"), [(True, "queries_waiting"), (False, "server_busy")]
)
def test_query_rejected_by_a_full_queue_is_counted(
    of_tenant: bool, reason: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tenant: object, client: object, work: Callable[[], object]) -> None:
        raise QueueFull(of_tenant, 64)

    monkeypatch.setattr(concurrency._threads, "submit", full)
    with pytest.raises(TooManyQueriesWaiting):
        asyncio.run(run_query(project.pk, "key", lambda context: None))
    assert counted(project) == {reason: 1}

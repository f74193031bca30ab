"""Quotas at ingest."""

import asyncio

import pytest

from common import write_behind
from common.cache import Cache
from projects.models import DayUsage, Project, Quota
from projects.usage import day_usage, quotas
from projects.usage.limits import BUILT_IN, LimitName
from projects.usage.quota_reached import QuotaReached
from projects.usage.quotas import Admission
from tests.clock import Clock
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


def admit(project: Project, size: int = 1000) -> Admission:
    return asyncio.run(quotas.admit_profile(project.pk, size))


def rejection(project: Project, size: int = 1000) -> QuotaReached:
    with pytest.raises(QuotaReached) as raised:
        admit(project, size)
    return raised.value


def test_profile_within_all_quotas_is_admitted(project: Project) -> None:
    assert admit(project).size == 1000


def test_a_cached_project_costs_no_query(project: Project) -> None:
    admit(project)
    with count_queries() as queries:
        admit(project)
    assert queries == []


def test_profile_over_the_minute_quota_is_rejected_until_the_next_minute(
    project: Project, clock: Clock
) -> None:
    Quota.objects.create(project=project, profiles_per_minute=2)
    admit(project)
    admit(project)
    full = rejection(project)
    assert (full.limit, full.allowed, full.resets_in) == ("profiles_per_minute", 2, 40)
    assert str(full) == (
        "The project's limit of 2 profiles per minute is reached; it resets in 40 s."
        " (profiles_per_minute)"
    )
    clock.advance(seconds=40)
    admit(project)


def test_profile_over_the_day_quota_is_rejected_until_midnight(
    project: Project, clock: Clock
) -> None:
    Quota.objects.create(project=project, profiles_per_day=1000)
    DayUsage.objects.create(project=project, day=clock.now.date(), profiles=998)
    admit(project)
    admit(project)
    full = rejection(project)
    assert (full.limit, full.resets_in) == ("profiles_per_day", 43_180)
    assert "limit of 1,000 profiles per day" in str(full)
    assert "at midnight UTC, in 12 h 0 min" in str(full)
    clock.advance(hours=12)
    admit(project)


def test_stored_bytes_of_all_days_count(project: Project, clock: Clock) -> None:
    Quota.objects.create(project=project, stored_bytes=10_000)
    DayUsage.objects.create(project=project, day="2026-02-01", stored_bytes=8_500)
    admit(project, 1000)
    full = rejection(project, 1000)
    assert (full.limit, full.allowed) == ("stored_bytes", 10_000)
    assert "limit of 10 kB of stored profiles" in str(full)
    admit(project, 500)


def test_profile_over_the_size_quota_is_rejected_without_a_retry_delay(project: Project) -> None:
    large = rejection(project, 16 * 2**20 + 1)
    assert (large.limit, large.resets_in) == ("bytes_per_profile", None)
    assert "larger than the project's limit of 16 MiB per profile" in str(large)
    admit(project, 16 * 2**20)


def test_a_projects_usage_does_not_count_for_another(project: Project, clock: Clock) -> None:
    other = Project.objects.create(project_id="other-project", name="Other")
    Quota.objects.update_or_create(project=None, defaults={"profiles_per_minute": 1})
    admit(project)
    admit(other)
    rejection(project)


def test_simultaneous_uploads_do_not_exceed_the_quota(project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=5)

    async def storm() -> int:
        tries = [quotas.admit_profile(project.pk, 1) for _ in range(20)]
        done = await asyncio.gather(*tries, return_exceptions=True)
        return sum(isinstance(one, Admission) for one in done)

    assert asyncio.run(storm()) == 5


def test_a_failed_upload_is_given_back_to_the_quota(project: Project, clock: Clock) -> None:
    Quota.objects.create(
        project=project, profiles_per_minute=1, profiles_per_day=1, stored_bytes=1000
    )
    admission = admit(project, 1000)
    rejection(project)
    asyncio.run(quotas.release(admission))
    admit(project, 1000)


def test_project_over_its_day_quota_gets_no_captures(project: Project) -> None:
    asyncio.run(quotas.require_room(project.pk))
    Quota.objects.create(project=project, profiles_per_day=1, profiles_per_minute=0)
    asyncio.run(quotas.require_room(project.pk))  # the next minute has begun by then
    Quota.objects.filter(project=project).delete()
    Quota.objects.create(project=project, profiles_per_day=0)
    with pytest.raises(QuotaReached, match="profiles per day"):
        asyncio.run(quotas.require_room(project.pk))
    write_behind.write_now()
    assert not DayUsage.objects.exists()


def test_rejections_are_counted_by_the_write_behind_buffer(project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_minute=0)
    for _ in range(3):
        rejection(project)
    write_behind.write_now()
    assert DayUsage.objects.get(project=project).rejected == 3


def test_an_override_takes_effect_at_once(project: Project) -> None:
    admit(project)
    quota = Quota.objects.create(project=project, profiles_per_minute=1)
    rejection(project)
    quota.profiles_per_minute = 2
    quota.save()
    admit(project)
    quota.delete()
    admit(project)


def test_another_processs_profiles_are_counted_after_a_while(
    project: Project, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [0.0]
    cache = Cache(
        day_usage.read, size=10, seconds=day_usage.SECONDS_CACHED, clock=lambda: seconds[0]
    )
    monkeypatch.setattr(day_usage, "_readings", cache)
    Quota.objects.create(project=project, profiles_per_day=3)
    admit(project)
    DayUsage.objects.create(project=project, day=clock.now.date(), profiles=3)
    admit(project)
    seconds[0] = 15.1
    rejection(project)


def test_quota_of_the_project_overrides_the_defaults_row_and_the_built_in_value(
    project: Project,
) -> None:
    assert quotas.get_limits(project.pk) == BUILT_IN
    defaults = {"profiles_per_minute": 100, "retention_days": 7}
    Quota.objects.update_or_create(project=None, defaults=defaults)
    Quota.objects.create(project=project, retention_days=0)
    limits = quotas.get_limits(project.pk)
    assert limits.profiles_per_minute == 100
    assert limits.retention_days == 0
    assert limits.profiles_per_day == BUILT_IN.profiles_per_day


@pytest.mark.parametrize("name", LimitName)
def test_every_limit_is_a_field_of_the_quota(name: LimitName) -> None:
    assert Quota._meta.get_field(name)
    assert BUILT_IN.get_limit(name) > 0

"""Retention of a project: owners lower it below the limit of the quota."""

from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import Sum

from projects import audit
from projects.account_limits import lock_project
from projects.models import DayUsage, Project, Quota, User
from projects.usage import day_usage, limits


def get_effective_days(allowed: int, days: int | None) -> int:
    """Return the retention that results from the limit and the project's own value."""
    return allowed if days is None else min(allowed, days)


def change_retention(
    project: Project, days: int | None, *, actor: User, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    """Set the days that profiles are kept; None: as long as the quota allows."""
    with transaction.atomic():
        lock_project(project)
        project.refresh_from_db(fields=["retention_days"])
        before = project.retention_days
        if before == days:
            return
        project.retention_days = days
        project.save(update_fields=["retention_days"])
        audit.record(
            project,
            "project.change",
            actor=actor,
            origin=origin,
            target=project.name,
            changed={"retention_days": days},
            before={"retention_days": before},
        )
        transaction.on_commit(partial(limits.forget, project.pk))


def count_older(project: Project | None, before: int, after: int) -> int:
    """Count the profiles that only the longer retention keeps, by the day of their arrival.

    Without a project, count those of all projects that have no retention of their own.
    """
    today = day_usage.utc_day()
    rows = DayUsage.objects.filter(
        day__gte=today - timedelta(days=before), day__lt=today - timedelta(days=after)
    )
    if project is not None:
        rows = rows.filter(project=project)
    else:
        own = Quota.objects.exclude(project=None).exclude(retention_days=None)
        rows = rows.exclude(project__in=own.values("project"))
    total: int | None = rows.aggregate(total=Sum("profiles"))["total"]
    return total or 0

"""`quotas` and `usage` of a project."""

from datetime import timedelta

from api.management.call import ProjectAction, ProjectCall, ProjectResource
from api.management.documents import LimitDocument, LimitList, UsageDocument
from projects.models import DayRejections, DayUsage
from projects.usage.day_usage import utc_day
from projects.usage.usage import LimitUsage, load_usage

_DAYS = timedelta(days=30)


def _show_quotas(call: ProjectCall) -> LimitList:
    usage = load_usage(call.project.pk)
    return {"rows": [_limit_document(limit) for limit in usage.limits]}


def _limit_document(limit: LimitUsage) -> LimitDocument:
    return {
        "limit": str(limit.name),
        "allowed": limit.allowed,
        "used": limit.used,
        "resets_in_s": limit.resets_in,
    }


def _show_usage(call: ProjectCall) -> UsageDocument:
    first = utc_day() - _DAYS
    days = DayUsage.objects.filter(project=call.project, day__gt=first).order_by("day")
    reasons = DayRejections.objects.filter(project=call.project, day__gt=first)
    return {
        "days": [
            {
                "day": row.day,
                "profiles": row.profiles,
                "stored_bytes": row.stored_bytes,
                "new_deployments": row.new_deployments,
                "rejected": row.rejected,
            }
            for row in days
        ],
        "rejections": [
            {"day": row.day, "reason": row.reason, "count": row.count}
            for row in reasons.order_by("day", "reason")
        ],
    }


RESOURCES = (
    ProjectResource("/quotas", {"GET": ProjectAction("Show limits and their usage", _show_quotas)}),
    ProjectResource(
        "/usage",
        {"GET": ProjectAction("Show usage and rejections of the last 30 days", _show_usage)},
    ),
)

"""`quotas`, `usage` and `quota-requests` of a project."""

from datetime import timedelta

from api.management.call import (
    BodyField,
    Created,
    ProjectAction,
    ProjectCall,
    ProjectResource,
    read_choice,
    require_text,
)
from api.management.documents import (
    LimitDocument,
    LimitList,
    QuotaRequestDocument,
    QuotaRequestList,
    UsageDocument,
)
from endpoints.errors import BadField
from projects import quota_requests
from projects.models import DayRejections, DayUsage, QuotaRequest
from projects.models.project import MAX_REASON
from projects.permissions import Permission
from projects.quota_requests import MAX_BYTES, RequestRejected
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
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


def _list_requests(call: ProjectCall) -> QuotaRequestList:
    return {"rows": [_request_document(row) for row in quota_requests.list_recent(call.project)]}


def _create_request(call: ProjectCall) -> Created[QuotaRequestDocument]:
    limit = LimitName(read_choice(call.body, "limit", tuple(LimitName)))
    amount = call.body.get("amount")
    if not isinstance(amount, int) or isinstance(amount, bool):
        raise BadField("amount", "must be a whole number")
    reason = require_text(call.body, "reason", MAX_REASON)
    try:
        row = quota_requests.create(
            call.project, limit, amount, reason, actor=call.user, origin=call.origin
        )
    except RequestRejected as rejected:
        raise BadField("limit", str(rejected)) from None
    return Created(_request_document(row))


def _request_document(row: QuotaRequest) -> QuotaRequestDocument:
    return {
        "id": row.pk,
        "limit": row.limit,
        "allowed": row.allowed,
        "amount": row.amount,
        "reason": row.reason,
        "created": row.created,
        "created_by": row.created_by.email if row.created_by else None,
        "state": row.state,
        "decided": row.decided,
        "granted": row.granted,
        "note": row.note,
    }


RESOURCES = (
    ProjectResource("/quotas", {"GET": ProjectAction("Show limits and their usage", _show_quotas)}),
    ProjectResource(
        "/usage",
        {"GET": ProjectAction("Show usage and rejections of the last 30 days", _show_usage)},
    ),
    ProjectResource(
        "/quota-requests",
        {
            "GET": ProjectAction("List the latest requests for higher quotas", _list_requests),
            "POST": ProjectAction(
                "Ask the operator for a higher quota",
                _create_request,
                fields=(
                    BodyField(
                        "limit",
                        "Name of the limit",
                        {"type": "string", "enum": [*LimitName]},
                        is_required=True,
                    ),
                    BodyField(
                        "amount",
                        "New value, more than the present one; sizes in bytes",
                        {"type": "integer", "minimum": 1, "maximum": MAX_BYTES},
                        is_required=True,
                    ),
                    BodyField("reason", "Reason, for the operator", is_required=True),
                ),
                permission=Permission.REQUEST_QUOTAS,
            ),
        },
    ),
)

"""Requests for higher limits: owners and admins ask, operators grant or decline."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import account_limits, audit
from projects.audit import Origin
from projects.models import Project, Quota, QuotaRequest, QuotaRequestState, User
from projects.usage.limits import LimitName, get_quota_limits
from projects.usage.quota_reached import amount_text
from projects.usage.usage import LABELS

MAX_REQUESTS_PER_DAY = 10  # of a project: more of them are the work of a script
# The columns of the limits have 32 bits, those of the sizes 64.
MAX_AMOUNT, MAX_BYTES = 2**31 - 1, 10**15
_IN_64_BITS = {LimitName.STORED_BYTES, LimitName.BYTES_PER_PROFILE}
_RECENT = 20  # requests that a project is shown


class RequestRejected(Exception):
    """Request that cannot be made or decided; the text says why."""


def create(
    project: Project, limit: LimitName, amount: int, reason: str, *, actor: User, origin: Origin
) -> QuotaRequest:
    """Ask the operators for a value of a limit. Raise RequestRejected."""
    with transaction.atomic():
        account_limits.lock_project(project)
        allowed = get_quota_limits(project.pk).get_limit(limit)
        _require_amount(limit, amount, more_than=allowed)
        rows = QuotaRequest.objects.filter(project=project)
        if rows.filter(limit=limit, state=QuotaRequestState.OPEN).exists():
            raise RequestRejected(_("A request for this limit already waits for the operator."))
        day = timezone.now() - timedelta(days=1)
        if rows.filter(created__gt=day).count() >= MAX_REQUESTS_PER_DAY:
            raise RequestRejected(
                _("A project may make %(n)d requests within 24 hours. Try again tomorrow.")
                % {"n": MAX_REQUESTS_PER_DAY}
            )
        row = QuotaRequest.objects.create(
            project=project,
            limit=limit,
            allowed=allowed,
            amount=amount,
            reason=reason,
            created_by=actor,
        )
        _record(row, "quota.request", actor, origin, amount=amount, reason=reason)
    return row


def list_recent(project: Project) -> list[QuotaRequest]:
    """Return the latest requests of a project, the newest first."""
    rows = QuotaRequest.objects.filter(project=project).select_related("created_by")
    return list(rows.order_by("-created", "-pk")[:_RECENT])


def grant(
    request: QuotaRequest, amount: int, note: str, *, actor: User, origin: Origin
) -> QuotaRequest:
    """Set the override of the limit to an amount. Raise RequestRejected if it was decided."""
    limit = LimitName(request.limit)
    with transaction.atomic():
        row = _lock_open(request)
        _require_amount(limit, amount, more_than=0)
        quota, _is_new = Quota.objects.select_for_update().get_or_create(project=row.project)
        before = getattr(quota, limit)
        setattr(quota, limit, amount)
        quota.save(update_fields=[limit])
        row.granted = amount
        _decide(row, QuotaRequestState.GRANTED, note)
        changes = {limit: [before, amount]}
        _record(row, "quota.grant", actor, origin, changes=changes, note=note)
    return row


def decline(request: QuotaRequest, note: str, *, actor: User, origin: Origin) -> QuotaRequest:
    """Decline a request. Raise RequestRejected if it was decided."""
    with transaction.atomic():
        row = _lock_open(request)
        _decide(row, QuotaRequestState.DECLINED, note)
        _record(row, "quota.decline", actor, origin, note=note)
    return row


def describe(request: QuotaRequest) -> str:
    """Return the limit and its change: "Stored, 20 GB → 40 GB"."""
    limit = LimitName(request.limit)
    amount = request.amount if request.granted is None else request.granted
    before, after = amount_text(limit, request.allowed), amount_text(limit, amount)
    return f"{LABELS[limit]}, {before} → {after}"


def _require_amount(limit: LimitName, amount: int, *, more_than: int) -> None:
    most = MAX_BYTES if limit in _IN_64_BITS else MAX_AMOUNT
    if not more_than < amount <= most:
        raise RequestRejected(
            _("The new limit must be more than %(least)s, and at most %(most)s.")
            % {"least": amount_text(limit, more_than), "most": amount_text(limit, most)}
        )


def _lock_open(request: QuotaRequest) -> QuotaRequest:
    rows = QuotaRequest.objects.select_for_update(of=("self",)).select_related("project")
    row = rows.get(pk=request.pk)
    if row.state != QuotaRequestState.OPEN:
        raise RequestRejected(_("This request was already decided."))
    return row


def _decide(row: QuotaRequest, state: QuotaRequestState, note: str) -> None:
    row.state, row.note, row.decided = state, note, timezone.now()
    row.save(update_fields=["state", "note", "decided", "granted"])


def _record(row: QuotaRequest, action: str, actor: User, origin: Origin, **detail: Any) -> None:
    audit.record(row.project, action, actor=actor, origin=origin, target=str(row.limit), **detail)

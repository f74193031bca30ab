"""Lists of a project's findings, with filters and orders, and of its analyses."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Abs

from findings.models import Direction, Finding, FindingState, ServiceDetection
from projects.credentials.allowed_services import ALL_SERVICES, AllowedServices
from projects.models import Project


class FindingOrder(StrEnum):
    RANK = "rank"  # the most urgent one first
    CHANGE = "change"  # the greatest relative to its service first
    FOUND = "found"  # the newest first
    STORED = "stored"  # in the order in which they were stored


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Restrictions of a list; empty ones match everything."""

    direction: Direction | None = None
    states: tuple[FindingState, ...] = ()
    service: str = ""
    type: str = ""
    function: str = ""  # part of its name
    version: str = ""


_ORDERS = {
    FindingOrder.RANK: (F("rank").desc(), "-pk"),
    FindingOrder.CHANGE: ((Abs("change") / F("profile_total")).desc(nulls_last=True), "-pk"),
    FindingOrder.FOUND: (F("found").desc(), "-pk"),
    FindingOrder.STORED: ("pk",),
}


def find_findings(
    project: int,
    restrictions: FindingFilter,
    order: FindingOrder = FindingOrder.RANK,
    allowed: AllowedServices = ALL_SERVICES,
) -> QuerySet[Finding]:
    """Return the matching findings in their order; the caller takes a page of them."""
    given = {
        "direction": restrictions.direction,
        "state__in": restrictions.states,
        "service": restrictions.service,
        "type": restrictions.type,
        "function__icontains": restrictions.function,
        "version": restrictions.version,
    }
    rows = Finding.objects.filter(project=project, **{k: v for k, v in given.items() if v})
    if allowed.names:
        rows = rows.filter(allowed.condition("service"))
    return rows.select_related("assignee").order_by(*_ORDERS[order])


def find_finding(project: int, finding_id: str) -> Finding | None:
    rows = Finding.objects.filter(project=project, finding_id=finding_id)
    return rows.select_related("project", "assignee").first()


def count_states(project: int, direction: Direction) -> dict[FindingState, int]:
    rows = Finding.objects.filter(project=project, direction=direction).values("state")
    counts = {row["state"]: row["count"] for row in rows.annotate(count=Count("pk"))}
    return {state: counts.get(state.value, 0) for state in FindingState}


def count_votes(finding: Finding) -> tuple[int, int]:
    """Return how many people said that the finding is real, and how many that it is not."""
    counts = finding.votes.aggregate(
        true=Count("pk", filter=Q(is_true=True)), false=Count("pk", filter=Q(is_true=False))
    )
    return counts["true"], counts["false"]


def list_detections(
    project: Project, allowed: AllowedServices = ALL_SERVICES
) -> Sequence[ServiceDetection]:
    """Return the latest analysis of each service and type, by name."""
    rows = ServiceDetection.objects.filter(project=project)
    if allowed.names:
        rows = rows.filter(allowed.condition("service"))
    return list(rows.order_by("service", "type"))

"""Findings of a project in the archive of its export."""

from typing import Any

from findings.models import Finding, FindingEvent, FindingMute, FindingVote
from projects.models import Project

_FINDING = (
    *("finding_id", "service", "type", "unit", "function", "file", "is_self", "direction", "state"),
    *("change_time", "found", "ended", "change", "low", "high", "before", "after", "p"),
    *("profile_total", "duration_ns", "profiles_before", "profiles_after"),
    *("version_before", "version", "merged", "checks", "points", "points_end"),
    *("latest_change", "escalated", "assignee__email"),
)


def describe_findings(project: Project) -> dict[str, list[dict[str, Any]]]:
    """Return findings, their history and feedback, and what is muted."""
    findings = Finding.objects.filter(project=project).order_by("pk")
    events = FindingEvent.objects.filter(finding__project=project).order_by("pk")
    votes = FindingVote.objects.filter(finding__project=project).order_by("pk")
    mutes = FindingMute.objects.filter(project=project).order_by("pk")
    return {
        "findings": list(findings.values(*_FINDING)),
        "events": list(
            events.values("finding__finding_id", "kind", "time", "note", "actor__email")
        ),
        "votes": list(votes.values("finding__finding_id", "user__email", "is_true", "time")),
        "mutes": list(mutes.values("service", "function", "version", "created")),
    }

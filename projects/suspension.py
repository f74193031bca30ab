"""Suspend and resume projects, as the operator of the server does."""

from django.db import transaction
from django.utils import timezone

from projects import account_limits, audit
from projects.models import Project, User


def suspend(project: Project, reason: str, *, actor: User, origin: audit.Origin) -> None:
    """Reject agents and uploads of a project: at once here, within 15 s in other processes.

    Members still read; the reason is shown to them and to agents. A second suspension replaces the
    reason.
    """
    with transaction.atomic():
        account_limits.lock_project(project)
        project.suspended = project.suspended or timezone.now()
        project.suspension_reason = reason
        project.save(update_fields=["suspended", "suspension_reason"])
        audit.record(
            project,
            "project.suspend",
            actor=actor,
            origin=origin,
            target=project.name,
            reason=reason,
        )


def resume(project: Project, *, actor: User, origin: audit.Origin) -> None:
    """End the suspension of a project; without one this does nothing."""
    with transaction.atomic():
        account_limits.lock_project(project)
        if project.suspended is None:
            return
        project.suspended, project.suspension_reason = None, ""
        project.save(update_fields=["suspended", "suspension_reason"])
        audit.record(project, "project.resume", actor=actor, origin=origin, target=project.name)

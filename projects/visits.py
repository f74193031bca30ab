"""Read-only visits of operators to the console of a project; its owners see them in the log."""

from datetime import UTC, datetime, timedelta

from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone

from projects import audit
from projects.models import Project, User

VISIT_TIME = timedelta(hours=1)
_PROJECT, _UNTIL = "visit_project", "visit_until"  # keys in the session


def begin(
    session: SessionBase, project: Project, reason: str, *, actor: User, origin: audit.Origin
) -> None:
    """Let the operator see the console of a project as a viewer for VISIT_TIME (an hour)."""
    until = timezone.now() + VISIT_TIME
    audit.record(
        project,
        "project.visit",
        actor=actor,
        origin=origin,
        target=project.name,
        reason=reason,
        until=until.isoformat(),
    )
    session[_PROJECT], session[_UNTIL] = project.pk, until.timestamp()


def end(session: SessionBase, *, actor: User, origin: audit.Origin) -> Project | None:
    """End the visit of a session and return its project; None without a visit."""
    pk = session.pop(_PROJECT, None)
    session.pop(_UNTIL, None)
    project = Project.objects.filter(pk=pk).first() if pk is not None else None
    if project is not None:
        audit.record(project, "project.visit_end", actor=actor, origin=origin, target=project.name)
    return project


def is_visiting(session: SessionBase) -> bool:
    """Return True for a session with a visit that has not ended, without a query of its own."""
    until: float = session.get(_UNTIL, 0.0)
    return until > datetime.now(UTC).timestamp()


def find_project(session: SessionBase, user: User) -> Project | None:
    """Return the project that the operator visits.

    None without a visit, for other people, and for a project that its owners have deleted.
    """
    if not is_visiting(session) or not user.is_staff:
        return None
    return Project.objects.filter(pk=session[_PROJECT], deletion_due=None).first()

"""Audit entries of profiles that people and programs download."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from profiles.query import QueryContext
from projects import audit
from projects.audit import Origin
from projects.models import AuditEntry, Project, User

ACTION = "profiles.download"
# Programs fetch the same file again and again: within this time it is one entry.
REPEATED = timedelta(hours=1)


def record_download(
    context: QueryContext, origin: Origin, *, user: int | None = None, key: str = ""
) -> None:
    """Add an entry if the query has made a file of profiles, as its facts say.

    `user` is User.pk; `key` the prefix of an API key. A download of the same service, profile type
    and format by the same person or key within REPEATED adds none.
    """
    facts = context.record.facts
    if not facts.download:
        return
    project = Project.objects.filter(project_id=facts.project_id).first()
    now, service = timezone.now(), ", ".join(sorted(facts.services))
    detail = {"type": ", ".join(sorted(facts.types)), "format": facts.download}
    same = {f"detail__{name}": value for name, value in detail.items()}
    entries = AuditEntry.objects.filter(
        project=project, action=ACTION, at__gt=now - REPEATED, target=service
    )
    if entries.filter(actor=user, actor_key=key, **same).exists():
        return
    audit.record(
        project,
        ACTION,
        subject=facts.project_id,
        actor=User.objects.get(pk=user) if user else None,
        actor_key=key,
        origin=origin,
        target=service,
        profiles=facts.profiles,
        start=_format_time(facts.start),
        end=_format_time(facts.end),
        **detail,
    )


def _format_time(timestamp: float | None) -> str:
    return "" if timestamp is None else datetime.fromtimestamp(timestamp, UTC).isoformat()

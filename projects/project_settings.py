"""Change the settings of a project: name, capture rate and source links."""

from collections.abc import Mapping

from django.db import transaction

from projects import audit
from projects.models import Project, User
from projects.source_templates import check_pattern

MAX_SOURCE = 500  # characters of a source link template and of the path prefix


def change(
    project: Project,
    values: Mapping[str, object],
    *,
    actor: User,
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    """Change the fields whose values differ, and record them.

    Raise source_templates.InvalidLinkTemplate for a bad `source_url`.
    """
    if pattern := values.get("source_url"):
        check_pattern(str(pattern))
    changed = {name: now for name, now in values.items() if now != getattr(project, name)}
    if not changed:
        return
    for name, now in changed.items():
        setattr(project, name, now)
    with transaction.atomic():
        project.save(update_fields=list(changed))
        audit.record(
            project,
            "project.change",
            actor=actor,
            origin=origin,
            target=project.name,
            changed=changed,
        )

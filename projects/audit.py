"""Who did what: entries that outlive the deed."""

from projects.models import AuditEntry, Project, User


def record(
    project: Project,
    action: str,
    *,
    actor: User | None = None,
    actor_key: str = "",
    **detail: object,
) -> AuditEntry:
    """Add an entry. `action` is "thing.deed" ("key.create"); `detail` has to fit into JSON.

    `actor` is the person, `actor_key` the prefix of the API key; neither: the command line.
    """
    return AuditEntry.objects.create(
        project=project, action=action, actor=actor, actor_key=actor_key, detail=detail
    )

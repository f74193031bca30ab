"""Write the audit log: actions of people and API keys on a project."""

from projects.models import AuditEntry, Project, User


def record(
    project: Project,
    action: str,
    *,
    actor: User | None = None,
    actor_key: str = "",
    **detail: object,
) -> AuditEntry:
    """Add an entry. `action` is "object.verb" ("key.create"); `detail` has to be JSON-serializable.

    `actor` is the user, `actor_key` the prefix of the API key. Without either, the action came from
    the command line.
    """
    return AuditEntry.objects.create(
        project=project, action=action, actor=actor, actor_key=actor_key, detail=detail
    )

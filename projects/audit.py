"""Write the audit log: actions of people and API keys on a project, an account or a quota."""

from projects.models import AuditEntry, Project, User


def record(
    project: Project | None,
    action: str,
    *,
    subject: str = "",
    actor: User | None = None,
    actor_key: str = "",
    **detail: object,
) -> AuditEntry:
    """Add an entry. `action` is "object.verb" ("key.create"); `detail` has to be JSON-serializable.

    The entry outlives the project; `subject` is its project ID by default. `actor` is the user,
    `actor_key` the prefix of the API key. Without either, the action came from the command line.
    """
    return AuditEntry.objects.create(
        project=project,
        subject=subject or (project.project_id if project else ""),
        action=action,
        actor=actor,
        actor_key=actor_key,
        detail=detail,
    )

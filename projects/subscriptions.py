"""E-mails about a project that its members have chosen, by kind of event."""

from collections.abc import Collection

from projects.models import EventKind, Member, Project, Role

# Kinds that members choose; those about a request reach operators and the person who asked.
KINDS = (
    EventKind.FINDING,
    EventKind.ALERT,
    EventKind.QUOTA,
    EventKind.REJECTION,
    EventKind.KEY_EXPIRY,
)
# Kinds of events that a webhook can get.
WEBHOOK_KINDS = (*KINDS, EventKind.NAMED_ALERT)
# Roles that get all kinds until they choose otherwise.
_DEFAULT_ROLES = (Role.OWNER, Role.ADMIN)


def is_subscribed(member: Member, kind: EventKind) -> bool:
    chosen = member.subscriptions or {}
    return bool(chosen.get(kind, member.role in _DEFAULT_ROLES))


def change_subscriptions(member: Member, chosen: Collection[EventKind]) -> None:
    """Store which of KINDS the member gets, also for roles to come."""
    member.subscriptions = {str(kind): kind in chosen for kind in KINDS}
    member.save(update_fields=["subscriptions"])


def find_subscribers(project: Project, kind: EventKind) -> list[int]:
    """Return the primary keys of the accounts that get e-mails of a kind."""
    members = Member.objects.filter(project=project).only("user_id", "role", "subscriptions")
    return [member.user_id for member in members if is_subscribed(member, kind)]

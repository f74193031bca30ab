"""Write the audit log: actions of people and API keys on a project, an account or a quota.

Whatever changes something calls `record` in the same transaction. Signals would miss bulk writes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.functional import Promise

from common.client_address import client_address
from projects.models import ActorKind, AuditEntry, Member, Project, User
from projects.models.audit import MAX_ADDRESS, MAX_TARGET

# The prefix of the key that stands for the operator of the server (credentials/operator_token.py).
OPERATOR = "operator"
MAX_DETAIL_BYTES = 4096  # of the details as JSON
_MAX_TEXT = 500  # characters of one text in the details
_MAX_ITEMS = 50  # of a list or an object in the details
_MAX_DEPTH = 4
_SURROGATES = dict.fromkeys(range(55296, 57344), "�")


@dataclass(frozen=True, slots=True)
class Origin:
    """Address of the client, "" if unknown; kind of actor, None if the person or the key tells."""

    address: str = ""
    kind: ActorKind | None = None
    token: str = ""  # prefix of the personal access token by which a person acts

    @classmethod
    def from_request(cls, request: HttpRequest, kind: ActorKind | None = None) -> "Origin":
        return cls(client_address(request), kind)


NO_CLIENT = Origin()
COMMAND_LINE = Origin(kind=ActorKind.OPERATOR)
SYSTEM = Origin(kind=ActorKind.SYSTEM)


def record(
    project: Project | None,
    action: str,
    *,
    subject: str = "",
    actor: User | None = None,
    actor_key: str = "",
    origin: Origin = NO_CLIENT,
    target: str = "",
    **detail: object,
) -> AuditEntry:
    """Add an entry. `action` is "object.verb" ("key.create"), of projects/audit_actions.py.

    The entry outlives the project; `subject` is its project ID by default. `actor` is the user,
    `actor_key` the prefix of the API key. Without either, and without a kind in `origin`, the
    action came from the command line. `target` names the object; `detail` has to be
    JSON-serializable, and is shortened to MAX_DETAIL_BYTES.
    """
    entry = _entry(project, action, subject, actor, actor_key, origin, target, detail)
    entry.save(force_insert=True)
    return entry


def record_account(
    account: User, action: str, *, actor: User | None, origin: Origin, **detail: object
) -> None:
    """Add an entry about an account to the log of each of its projects; one without if it has none.

    Each project sees what happened to its members while they were members, and nothing of others.
    """
    members = Member.objects.filter(user=account).select_related("project")
    projects: list[Project | None] = [member.project for member in members]
    AuditEntry.objects.bulk_create(
        _entry(project, action, account.email, actor, "", origin, account.email, detail)
        for project in projects or [None]
    )


def record_own_action(request: HttpRequest, user: User, action: str, **detail: object) -> None:
    """Add an entry about an action of a person on the own account."""
    record_account(user, action, actor=user, origin=Origin.from_request(request), **detail)


def _entry(
    project: Project | None,
    action: str,
    subject: str,
    actor: User | None,
    actor_key: str,
    origin: Origin,
    target: str,
    detail: Mapping[str, object],
) -> AuditEntry:
    return AuditEntry(
        project=project,
        subject=subject or (project.project_id if project else ""),
        project_name=project.name if project else "",
        action=action,
        actor=actor,
        actor_kind=origin.kind or _kind(actor, actor_key),
        actor_name=actor.email if actor else "",
        actor_key=actor_key or origin.token,
        address=origin.address[:MAX_ADDRESS],
        target=_clean(target, MAX_TARGET),
        detail=_shorten_detail(detail),
    )


def _kind(actor: User | None, actor_key: str) -> ActorKind:
    if actor is not None:
        return ActorKind.PERSON
    return ActorKind.KEY if actor_key not in {"", OPERATOR} else ActorKind.OPERATOR


def _shorten_detail(detail: Mapping[str, object]) -> object:
    short = _shorten(detail, _MAX_DEPTH)
    size = len(json.dumps(short).encode())
    return short if size <= MAX_DETAIL_BYTES else {"left_out_bytes": size}


def _shorten(value: object, depth: int) -> object:
    """Shorten texts, lists and objects; what is nested deeper than `depth` becomes a text."""
    if isinstance(value, str | Promise):
        return _clean(str(value), _MAX_TEXT)
    if isinstance(value, Mapping) and depth:
        items = [*value.items()][:_MAX_ITEMS]
        return {str(name)[:_MAX_TEXT]: _shorten(each, depth - 1) for name, each in items}
    if isinstance(value, list | tuple) and depth:
        return [_shorten(each, depth - 1) for each in value[:_MAX_ITEMS]]
    if isinstance(value, Mapping | list | tuple):
        return _clean(json.dumps(value, default=str), _MAX_TEXT)
    return value


def _clean(text: str, most: int) -> str:
    """Shorten a text, and replace what databases reject: NUL and surrogates."""
    text = text.replace("\0", "\ufffd").translate(_SURROGATES)
    return text if len(text) <= most else f"{text[: most - 1]}…"

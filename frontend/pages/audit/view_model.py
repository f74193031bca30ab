"""View model of the audit log: its entries in words."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from frontend.pages.audit.params import AuditQuery
from frontend.text.units import format_count
from projects.audit_actions import LABELS
from projects.audit_log import Cursor, list_page, result_name
from projects.models import ActorKind, AuditEntry, Member, Project, User

PAGE_SIZE = 50
_ICONS = {
    ActorKind.KEY: "key",
    ActorKind.OPERATOR: "shield",
    ActorKind.SYSTEM: "refresh",
    ActorKind.VISITOR: "person",
}
_REASONS: dict[str, Promise] = {
    "wrong password": gettext_lazy("wrong password"),
    "too many attempts": gettext_lazy("too many attempts"),
}


class Detail(NamedTuple):
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    pk: int
    time: datetime
    actor: str
    person: User | None  # with an avatar; others have an icon
    icon: str
    action: str
    target: str
    note: str  # below the target
    address: str
    result: str  # done, denied, system or operator
    details: list[Detail] | None  # None unless the entry is open


@dataclass(frozen=True, slots=True)
class AuditList:
    rows: list[AuditRow]
    older: str  # value of the parameter for the next page; "" on the last one
    is_partial: bool


def build_list(project: Project, query: AuditQuery, now: datetime) -> AuditList:
    after = Cursor.parse(query.older) if query.older else None
    page = list_page(query.build_filter(project.pk, now), after, PAGE_SIZE)
    return AuditList(
        rows=[_row(entry, is_open=entry.pk == query.entry) for entry in page.entries],
        older=str(page.next) if page.next else "",
        is_partial=page.is_partial,
    )


def list_people(project: Project) -> list[User]:
    """Return the members of the project, by address, for the menu."""
    rows = Member.objects.filter(project=project).select_related("user").order_by("user__email")
    return [member.user for member in rows]


def _actor_text(entry: AuditEntry) -> str:
    """Return the name of the actor as members see it: operators are not named."""
    match ActorKind(entry.actor_kind):
        case ActorKind.OPERATOR:
            return _("Operator")
        case ActorKind.SYSTEM:
            return "Flamewatch"
        case ActorKind.KEY:
            return _("API key %(prefix)s") % {"prefix": entry.actor_key}
    return entry.actor_name or _("Not signed in")


def _row(entry: AuditEntry, *, is_open: bool) -> AuditRow:
    is_person = entry.actor_kind == ActorKind.PERSON
    return AuditRow(
        pk=entry.pk,
        time=entry.at,
        actor=_actor_text(entry),
        person=entry.actor if is_person else None,
        icon=_ICONS.get(ActorKind(entry.actor_kind), "person"),
        action=str(LABELS.get(entry.action, entry.action)),
        target=entry.target,
        note=_note_text(entry),
        address=entry.address,
        result=result_name(entry),
        details=list(_details(entry)) if is_open else None,
    )


def _note_text(entry: AuditEntry) -> str:
    if entry.action == "profiles.download":
        count, type_name = entry.detail["profiles"], entry.detail["type"]
        sentence = ngettext("%(n)s profile, %(type)s", "%(n)s profiles, %(type)s", count)
        return sentence % {"n": format_count(count), "type": type_name}
    reason = str(entry.detail.get("reason", ""))
    return str(_REASONS.get(reason, reason))


def _details(entry: AuditEntry) -> Iterator[Detail]:
    yield Detail(_("Entry"), f"{entry.pk} · {entry.action}")
    yield Detail(_("Time, UTC"), f"{entry.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}")
    yield Detail(_("Project"), f"{entry.project_name} · {entry.subject}")
    for name, value in entry.detail.items():
        if name in {"changes", "changed"} and isinstance(value, dict):
            for field, change in value.items():
                yield Detail(field, _change_text(change))
        else:
            yield Detail(name, _value_text(value))


def _change_text(change: object) -> str:
    """Return `before → after` for a list of both, and another value as it is."""
    if isinstance(change, Sequence) and not isinstance(change, str) and len(change) == 2:
        return " → ".join(_value_text(each) for each in change)
    return _value_text(change)


def _value_text(value: object) -> str:
    if value is None or value == "":
        return _("none")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

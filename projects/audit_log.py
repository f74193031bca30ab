"""Read the audit log of a project: the newest entries first, a page at a time.

Person, action and time are found by an index. Texts and kinds of actors are compared entry by
entry, at most SCAN_LIMIT of them for a page; the next page goes on from there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypedDict

from django.db.models import Q

from projects.audit_actions import DENIED
from projects.models import ActorKind, AuditEntry
from projects.models.audit import AuditQuerySet

SCAN_LIMIT = 20_000  # entries: some 50 ms
_EXPORT_ROWS = 500  # entries read at once, of at most 5 kB each
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    project: int  # Project.pk
    since: datetime
    actor: int | None = None  # User.pk
    kind: ActorKind | None = None
    action: str = ""
    text: str = ""  # part of the target, of the actor's name or key, or of the address


@dataclass(frozen=True, slots=True)
class Cursor:
    """Position in the log; a page begins with the next older entry."""

    time: datetime
    pk: int

    def __str__(self) -> str:
        return f"{(self.time - _EPOCH) // _MICROSECOND}-{self.pk}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Parse the text of a cursor; raise ValueError for any other text."""
        time, _, pk = text.partition("-")
        if not (
            text.isascii() and time.isdecimal() and pk.isdecimal() and max(len(time), len(pk)) <= 18
        ):
            raise ValueError("is no position in the audit log")
        return cls(_EPOCH + int(time) * _MICROSECOND, int(pk))


@dataclass(frozen=True, slots=True)
class AuditPage:
    entries: list[AuditEntry]
    next: Cursor | None
    is_partial: bool = False  # SCAN_LIMIT ended the search before the page was full


class EntryDocument(TypedDict):
    """Entry in exports and in the API, the same in every language."""

    entry: int
    time: str  # RFC 3339, UTC
    actor_kind: str
    actor: str
    api_key: str
    action: str
    target: str
    address: str
    result: str
    project: str
    project_name: str
    details: object


def list_page(criteria: AuditFilter, after: Cursor | None, size: int) -> AuditPage:
    """Return a page of entries, by one statement, or two for a text or kind; one more for actors.

    They are no join, because an account may be deleted: an entry without one would be left out.
    """
    rows = _filter_by_index(criteria, after)
    end = None
    if criteria.text or criteria.kind:
        end = _find_scan_end(rows)
        if end is not None:
            rows = rows.filter(at__gte=end.time).filter(Q(at__gt=end.time) | Q(pk__gte=end.pk))
        rows = _filter_by_scan(rows, criteria)
    found = list(rows.prefetch_related("actor")[: size + 1])
    if len(found) > size:
        return AuditPage(found[:size], Cursor(found[size - 1].at, found[size - 1].pk))
    return AuditPage(found, end, is_partial=end is not None)


def read_all(criteria: AuditFilter) -> Iterator[list[AuditEntry]]:
    """Yield all entries in lists of bounded size; each is read by statements of its own."""
    after: Cursor | None = None
    while True:
        page = list_page(criteria, after, _EXPORT_ROWS)
        if page.entries:
            yield page.entries
        if page.next is None:
            return
        after = page.next


def result_name(entry: AuditEntry) -> str:
    if entry.action in DENIED:
        return "denied"
    is_named = entry.actor_kind in {ActorKind.OPERATOR, ActorKind.SYSTEM}
    return entry.actor_kind if is_named else "done"


def entry_document(entry: AuditEntry) -> EntryDocument:
    """Return an entry for programs; operators are not named."""
    return {
        "entry": entry.pk,
        "time": entry.at.isoformat().replace("+00:00", "Z"),
        "actor_kind": entry.actor_kind,
        "actor": "" if entry.actor_kind == ActorKind.OPERATOR else entry.actor_name,
        "api_key": entry.actor_key,
        "action": entry.action,
        "target": entry.target,
        "address": entry.address,
        "result": result_name(entry),
        "project": entry.subject,
        "project_name": entry.project_name,
        "details": entry.detail,
    }


def _filter_by_index(criteria: AuditFilter, after: Cursor | None) -> AuditQuerySet:
    rows = AuditEntry.objects.filter(project=criteria.project, at__gte=criteria.since)
    if criteria.actor is not None:
        rows = rows.filter(actor=criteria.actor)
    if criteria.action:
        rows = rows.filter(action=criteria.action)
    if after is not None:
        rows = rows.filter(at__lte=after.time).filter(Q(at__lt=after.time) | Q(pk__lt=after.pk))
    return rows.order_by("-at", "-pk")


def _find_scan_end(rows: AuditQuerySet) -> Cursor | None:
    """Return the last entry to compare; None if there are not more than SCAN_LIMIT."""
    row = rows.values_list("at", "pk")[SCAN_LIMIT - 1 : SCAN_LIMIT + 1]
    last = list(row)
    return Cursor(*last[0]) if len(last) > 1 else None


def _filter_by_scan(rows: AuditQuerySet, criteria: AuditFilter) -> AuditQuerySet:
    if criteria.kind:
        rows = rows.filter(actor_kind=criteria.kind)
    if criteria.text:
        # The names of operators are not shown to members, and so not found either.
        name = Q(actor_name__icontains=criteria.text) & ~Q(actor_kind=ActorKind.OPERATOR)
        others = ("target", "actor_key", "address")
        for each in others:
            name |= Q(**{f"{each}__icontains": criteria.text})
        rows = rows.filter(name)
    return rows

"""States of findings: who may leave which state, with the history and the audit log."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from findings.models import (
    MAX_NOTE,
    OPEN_STATES,
    Finding,
    FindingEvent,
    FindingEventKind,
    FindingMute,
    FindingState,
    FindingVote,
)
from projects import audit
from projects.models import Member, User


class FindingChanged(Exception):
    """Change that the state of the finding forbids; the text says why."""


def add_event(
    finding: Finding,
    kind: FindingEventKind,
    time: datetime,
    actor: User | None = None,
    note: str = "",
) -> None:
    FindingEvent.objects.create(
        finding=finding, kind=kind, time=time, actor=actor, note=note[:MAX_NOTE]
    )


def acknowledge(finding: Finding, *, actor: User, origin: audit.Origin, note: str = "") -> None:
    """Mark a new finding as seen by the person, who gets it if nobody has it."""
    step = _Step(FindingEventKind.ACKNOWLEDGED, actor, origin, note)
    with _change(finding, (FindingState.NEW,), step) as row:
        row.state = FindingState.ACKNOWLEDGED
        row.assignee = row.assignee or actor


def resolve(finding: Finding, *, actor: User, origin: audit.Origin, note: str = "") -> None:
    step = _Step(FindingEventKind.RESOLVED, actor, origin, note)
    with _change(finding, OPEN_STATES, step) as row:
        row.state, row.ended = FindingState.RESOLVED, timezone.now()


def reopen(finding: Finding, *, actor: User, origin: audit.Origin, note: str = "") -> None:
    """Open a resolved or muted finding again; its mute ends."""
    step = _Step(FindingEventKind.REOPENED, actor, origin, note)
    with _change(finding, (FindingState.RESOLVED, FindingState.MUTED), step) as row:
        row.state, row.ended = FindingState.ACKNOWLEDGED, None
        mutes = FindingMute.objects.filter(project=row.project, service=row.service)
        mutes.filter(function__in=("", row.function)).delete()


def mute(
    finding: Finding,
    *,
    actor: User,
    origin: audit.Origin,
    is_service: bool = False,
    is_version: bool = False,
    note: str = "",
) -> None:
    """Mute the finding, and later ones of its function, or of its whole service.

    With `is_version`, only those that come with the version of this one, which has to have one.
    """
    step = _Step(FindingEventKind.MUTED, actor, origin, note)
    with _change(finding, (*OPEN_STATES, FindingState.RESOLVED), step) as row:
        if is_version and not row.version:
            raise FindingChanged(_("This change came with no version: mute it without one."))
        row.state, row.ended = FindingState.MUTED, timezone.now()
        FindingMute.objects.create(
            project=row.project,
            service=row.service,
            function="" if is_service else row.function,
            version=row.version if is_version else "",
            created_by=actor,
        )


def assign(finding: Finding, person: User | None, *, actor: User, origin: audit.Origin) -> None:
    """Give the finding to a member of its project, or to nobody."""
    if person and not Member.objects.filter(project=finding.project, user=person).exists():
        raise FindingChanged(_("Only members of the project can have its findings."))
    step = _Step(FindingEventKind.ASSIGNED, actor, origin, person.email if person else "")
    with _change(finding, tuple(FindingState), step) as row:
        row.assignee = person


def vote(finding: Finding, *, actor: User, is_true: bool) -> None:
    """Store a person's opinion, in place of an earlier one."""
    FindingVote.objects.update_or_create(finding=finding, user=actor, defaults={"is_true": is_true})


def resolve_by_itself(finding: Finding, time: datetime) -> None:
    """Resolve a finding whose change is over."""
    finding.state, finding.ended = FindingState.RESOLVED, time
    finding.save(update_fields=["state", "ended"])
    add_event(finding, FindingEventKind.RESOLVED, time)


def escalate(finding: Finding, time: datetime) -> None:
    """Note that the change became much larger; an acknowledged finding is new again."""
    finding.state, finding.escalated = FindingState.NEW, time
    finding.save(update_fields=["state", "escalated"])
    add_event(finding, FindingEventKind.ESCALATED, time)


@dataclass(frozen=True, slots=True)
class _Step:
    """Change of a finding by a person, for its history and the audit log."""

    kind: FindingEventKind
    actor: User
    origin: audit.Origin
    note: str


@contextmanager
def _change(
    finding: Finding, allowed: tuple[FindingState, ...], step: _Step
) -> Generator[Finding, None, None]:
    """Yield the locked row, then save it and record the step. Raise FindingChanged."""
    with transaction.atomic():
        row = Finding.objects.select_for_update(of=("self",)).get(pk=finding.pk)
        if row.state not in allowed:
            sentence = _("The finding is already %(state)s. Reload the page.")
            raise FindingChanged(sentence % {"state": FindingState(row.state).label.lower()})
        yield row
        row.save(update_fields=["state", "ended", "assignee"])
        add_event(row, step.kind, timezone.now(), step.actor, step.note)
        audit.record(
            row.project,
            f"finding.{step.kind}",
            actor=step.actor,
            origin=step.origin,
            target=row.function,
            finding=row.finding_id,
            service=row.service,
            note=step.note,
        )

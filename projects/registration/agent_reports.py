"""Self-reports, rejected uploads and warnings of agents, in a write-behind buffer."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from common.write_behind import WriteBehindBuffer, split_batches
from projects.models import Agent, AgentReport
from projects.profile_types import ProfileType
from projects.registration.agent_costs import HourlyCosts, add_report, costs

_LONGEST = 255  # characters of an error or warning
# Longest time that one report of CPU time can cover; in a longer gap the agent was not running.
_LONGEST_ABSENCE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SelfReport:
    """Statistics that a profile contains about its agent; None: not reported."""

    sampler: str = ""
    samples: int = 0
    dropped: int | None = None  # samples
    cpu_ns: int | None = None  # CPU time of the agent itself since its previous profile
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class _AgentEvents:
    """Events of one agent since the last write."""

    time: datetime
    hour: HourlyCosts
    reports_cpu: bool = False
    last_type: str = ""  # type of the last profile, if there was one
    last_profile: datetime | None = None
    report: SelfReport | None = None
    rejection: str = ""
    rejected_at: datetime | None = None
    warning: str = ""
    warned_at: datetime | None = None


def note_profile(agent: int, type: ProfileType, report: SelfReport) -> None:
    """Record that a profile of the agent (Agent.pk) was stored."""
    now = timezone.now()
    hour = HourlyCosts(
        samples=report.samples,
        dropped=report.dropped or 0,
        cpu_ns=report.cpu_ns or 0,
        reporting=report.dropped is not None,
    )
    reports_cpu = report.cpu_ns is not None
    _events.note(agent, _AgentEvents(now, hour, reports_cpu, type.value, now, report))


def note_rejection(agent: int, rejection: str) -> None:
    """Record that an upload of the agent was rejected; `rejection` is the status and the reason."""
    now = timezone.now()
    _events.note(
        agent,
        _AgentEvents(now, HourlyCosts(rejected=1), rejection=_text(rejection), rejected_at=now),
    )


def note_warning(agent: int, warning: str) -> None:
    """Record that a profile was stored in part; `warning` describes what was left out."""
    now = timezone.now()
    _events.note(agent, _AgentEvents(now, HourlyCosts(), warning=_text(warning), warned_at=now))


def _text(text: str) -> str:
    return "".join(letter for letter in text[:_LONGEST] if letter.isprintable())


def _join(older: _AgentEvents, newer: _AgentEvents) -> _AgentEvents:
    return _AgentEvents(
        time=newer.time,
        hour=older.hour.plus(newer.hour),
        reports_cpu=older.reports_cpu or newer.reports_cpu,
        last_type=newer.last_type or older.last_type,
        last_profile=newer.last_profile or older.last_profile,
        report=newer.report or older.report,
        rejection=newer.rejection or older.rejection,
        rejected_at=newer.rejected_at or older.rejected_at,
        warning=newer.warning or older.warning,
        warned_at=newer.warned_at or older.warned_at,
    )


@transaction.atomic
def _write(events: dict[int, _AgentEvents]) -> None:
    for pks in split_batches(events):
        # Two processes may write the same agent: lock the rows if the database supports it.
        agents = Agent.objects.select_for_update().in_bulk(pks)
        rows = AgentReport.objects.in_bulk(list(agents))
        changed = [
            _with_events(rows.get(pk) or AgentReport(agent=agent), agent, events[pk])
            for pk, agent in agents.items()
        ]
        AgentReport.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["agent"],
            update_fields=[f.name for f in AgentReport._meta.fields if not f.primary_key],
        )


def _with_events(row: AgentReport, agent: Agent, events: _AgentEvents) -> AgentReport:
    hour = events.hour
    if events.reports_cpu:
        since = row.last_profile or agent.first_seen
        elapsed = min(_LONGEST_ABSENCE, max(timedelta(0), events.time - since))
        hour = hour._replace(elapsed_ns=elapsed // timedelta(microseconds=1) * 1000)
    if events.last_profile:
        row.last_profile, row.last_type = events.last_profile, events.last_type
    if events.report:
        row.sampler = events.report.sampler
        row.memory_bytes = events.report.memory_bytes
    if events.rejected_at:
        row.rejection, row.rejected_at = events.rejection, events.rejected_at
    if events.warned_at:
        row.warning, row.warned_at = events.warning, events.warned_at
    row.hours = add_report(row.hours, events.time, hour)
    sums = costs(row.hours)
    row.cpu_share, row.dropped = sums.cpu_share, sums.dropped
    row.samples, row.rejected = sums.samples, sums.rejected
    return row


_events: WriteBehindBuffer[int, _AgentEvents] = WriteBehindBuffer(_write, _join)

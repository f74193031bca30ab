"""Self-reports, rejected uploads and warnings of agents, in a write-behind buffer."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from common.write_behind import WriteBehindBuffer, in_parts
from projects.models import Agent, AgentReport
from projects.profile_types import ProfileType
from projects.registration.agent_costs import HourlyCosts, added, costs

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
class _AgentNews:
    """Events of one agent since the last write."""

    at: datetime
    hour: HourlyCosts
    says_cpu: bool = False
    last_type: str = ""  # type of the last profile, if there was one
    last_profile: datetime | None = None
    report: SelfReport | None = None
    refusal: str = ""
    refused_at: datetime | None = None
    warning: str = ""
    warned_at: datetime | None = None


def note_profile(agent: int, type: ProfileType, report: SelfReport) -> None:
    """Record that a profile of the agent (Agent.pk) was stored."""
    now = timezone.now()
    hour = HourlyCosts(
        samples=report.samples,
        dropped=report.dropped or 0,
        cpu_ns=report.cpu_ns or 0,
        telling=report.dropped is not None,
    )
    says_cpu = report.cpu_ns is not None
    _news.note(agent, _AgentNews(now, hour, says_cpu, type.value, now, report))


def note_refusal(agent: int, refusal: str) -> None:
    """Record that an upload of the agent was rejected; `refusal` is the status and the reason."""
    now = timezone.now()
    _news.note(
        agent, _AgentNews(now, HourlyCosts(refused=1), refusal=_text(refusal), refused_at=now)
    )


def note_warning(agent: int, warning: str) -> None:
    """Record that a profile was stored in part; `warning` describes what was left out."""
    now = timezone.now()
    _news.note(agent, _AgentNews(now, HourlyCosts(), warning=_text(warning), warned_at=now))


def _text(said: str) -> str:
    return "".join(letter for letter in said[:_LONGEST] if letter.isprintable())


def _join(older: _AgentNews, newer: _AgentNews) -> _AgentNews:
    return _AgentNews(
        at=newer.at,
        hour=older.hour.plus(newer.hour),
        says_cpu=older.says_cpu or newer.says_cpu,
        last_type=newer.last_type or older.last_type,
        last_profile=newer.last_profile or older.last_profile,
        report=newer.report or older.report,
        refusal=newer.refusal or older.refusal,
        refused_at=newer.refused_at or older.refused_at,
        warning=newer.warning or older.warning,
        warned_at=newer.warned_at or older.warned_at,
    )


@transaction.atomic
def _write(news: dict[int, _AgentNews]) -> None:
    for pks in in_parts(news):
        # Two processes may write the same agent: lock the rows if the database supports it.
        agents = Agent.objects.select_for_update().in_bulk(pks)
        rows = AgentReport.objects.in_bulk(list(agents))
        changed = [
            _with_news(rows.get(pk) or AgentReport(agent=agent), agent, news[pk])
            for pk, agent in agents.items()
        ]
        AgentReport.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["agent"],
            update_fields=[f.name for f in AgentReport._meta.fields if not f.primary_key],
        )


def _with_news(row: AgentReport, agent: Agent, news: _AgentNews) -> AgentReport:
    hour = news.hour
    if news.says_cpu:
        since = row.last_profile or agent.first_seen
        elapsed = min(_LONGEST_ABSENCE, max(timedelta(0), news.at - since))
        hour = hour._replace(elapsed_ns=elapsed // timedelta(microseconds=1) * 1000)
    if news.last_profile:
        row.last_profile, row.last_type = news.last_profile, news.last_type
    if news.report:
        row.sampler = news.report.sampler
        row.memory_bytes = news.report.memory_bytes
    if news.refused_at:
        row.refusal, row.refused_at = news.refusal, news.refused_at
    if news.warned_at:
        row.warning, row.warned_at = news.warning, news.warned_at
    row.hours = added(row.hours, news.at, hour)
    sums = costs(row.hours)
    row.cpu_share, row.dropped = sums.cpu_share, sums.dropped
    row.samples, row.refused = sums.samples, sums.refused
    return row


_news: WriteBehindBuffer[int, _AgentNews] = WriteBehindBuffer(_write, _join)

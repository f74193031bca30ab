"""List of a project's agents: state, activity and profiling overhead, and which need attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext as _

from frontend.components.results.pagination import Pages, paginate
from frontend.pages.agents.agent_kind import agent_kind
from frontend.pages.agents.params import AgentQuery
from frontend.text.display_names import agent_name
from frontend.text.units import format_count, format_percent, format_value
from projects.models import Agent, AgentReport, Project, running_agents
from projects.models.agent import MAX_REPORT_GAP
from projects.usage.limits import LimitName
from projects.usage.quota_reached import QuotaReached
from projects.usage.usage import list_reached
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import AgentActivity, QueueUnavailable

PAGE_SIZE = 20  # rows of about 1.2 kB: a fragment stays below 30 kB
SEEN_WITHIN = timedelta(hours=24)  # agents not seen for longer are not listed
MOST_CPU = 0.01  # cores used for profiling; more needs attention
MOST_DROPPED = 0.05  # share of the samples; more needs attention
_EXPLAINED = 2  # agents named in the notice


class AgentState(StrEnum):
    FINE = "fine"
    LOOK = "look"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class AgentRow:
    """Table row of an agent; texts are empty for values that the agent did not report."""

    agent: Agent
    name: str
    state: AgentState
    waiting: bool
    over_quota: bool  # a quota of the project keeps it from waiting
    capturing_for: int  # seconds until the capture ends, rounded up; 0 without a capture
    rejection: str  # error of its last upload, if that was rejected within the day
    warning: str  # data left out of a profile within the day
    kind: str
    cpu: str
    cpu_high: bool
    memory: str
    dropped: int | None
    dropped_high: bool
    rejected: int
    last_profile: datetime | None
    last_type: str


@dataclass(frozen=True, slots=True)
class AgentList:
    shown: list[AgentRow]
    all: int  # agents of the project seen within a day
    connected: int
    waiting: int | None  # parked in the long-poll queue now; None if the queue is unavailable
    look: int
    imports: bool  # files were imported within a day
    reached: list[QuotaReached]  # quotas that keep agents from reporting
    reasons: list[tuple[str, str]]  # names of some agents that need attention, each with the reason
    found: int
    services: list[str]
    pages: Pages
    tells_memory: bool


def list_agents(project: Project, query: AgentQuery, now: datetime) -> AgentList:
    all_agents, agent = _filter_agents(project, now), running_agents()
    counts = seen_lately(project, now).aggregate(
        seen=Count("pk"),
        all=Count("pk", filter=agent),
        connected=Count("pk", filter=agent & _connection_filter(now)),
        look=Count("pk", filter=agent & _needs_look(now)),
    )
    rows = _matching(all_agents, query, now)
    found = counts["all"] if not query.filtered else rows.count()
    pages = paginate(found, PAGE_SIZE, query.page)
    on_page = list(_with_rows(rows)[pages.first : pages.behind])
    activities = _load_activities(on_page)
    reached = list_reached(project.pk)
    over = any(each.limit is not LimitName.NEW_DEPLOYMENTS_PER_DAY for each in reached)
    shown = [
        _build_row(agent, activity, now, over_quota=over)
        for agent, activity in zip(on_page, activities, strict=True)
    ]
    return AgentList(
        shown=shown,
        all=counts["all"],
        connected=counts["connected"],
        waiting=_waiting(project),
        look=counts["look"],
        imports=counts["seen"] > counts["all"],
        reached=reached,
        reasons=_reasons(all_agents, now) if counts["look"] else [],
        found=found,
        services=_services(all_agents, query.service),
        pages=pages,
        tells_memory=any(one.memory for one in shown),
    )


def _filter_agents(project: Project, now: datetime) -> QuerySet[Agent]:
    return seen_lately(project, now).filter(running_agents())


def seen_lately(project: Project, now: datetime) -> QuerySet[Agent]:
    """Return agents and senders of imports of the last day."""
    return Agent.objects.filter(deployment__project=project, last_seen__gte=now - SEEN_WITHIN)


def _connection_filter(now: datetime) -> Q:
    return Q(last_seen__gte=now - MAX_REPORT_GAP)


def _needs_look(now: datetime) -> Q:
    return (
        Q(report__cpu_share__gt=MOST_CPU)
        | Q(report__dropped__gt=(F("report__samples") + F("report__dropped")) * MOST_DROPPED)
        | Q(report__rejected_at__gte=now - SEEN_WITHIN)
    )


def _matching(all_agents: QuerySet[Agent], query: AgentQuery, now: datetime) -> QuerySet[Agent]:
    rows = all_agents
    if query.service:
        rows = rows.filter(deployment__service=query.service)
    rows = find_agents(rows, query.find)
    states = {
        "look": _needs_look(now),
        "connected": _connection_filter(now),
        "silent": ~_connection_filter(now),
    }
    return rows.filter(states[query.state]) if query.state in states else rows


def find_agents(rows: QuerySet[Agent], text: str) -> QuerySet[Agent]:
    """Return the rows whose host, identity, service or version contains a text, all for ""."""
    if not text:
        return rows
    found = Q()
    for column in ("hostname", "identity", "deployment__service", "deployment__version"):
        found |= Q(**{f"{column}__icontains": text})
    return rows.filter(found)


def _with_rows(rows: QuerySet[Agent]) -> QuerySet[Agent]:
    """Order the agents stably, so that pages neither repeat nor skip rows."""
    order = ("deployment__service", "hostname", "identity", "pk")
    return rows.select_related("deployment", "report").order_by(*order)


def _load_activities(agents: Sequence[Agent]) -> list[AgentActivity]:
    try:
        return queue_of_process().activities(
            [(agent.deployment_id, agent.identity) for agent in agents]
        )
    except QueueUnavailable:
        return [AgentActivity(waiting=False, capturing_for=0.0)] * len(agents)


def _waiting(project: Project) -> int | None:
    try:
        return sum(
            target.agents for target in queue_of_process().targets() if target.project == project.pk
        )
    except QueueUnavailable:
        return None


def _services(all_agents: QuerySet[Agent], chosen: str) -> list[str]:
    names = set(all_agents.order_by().values_list("deployment__service", flat=True).distinct())
    return sorted({*names, chosen} - {""})


def _reasons(all_agents: QuerySet[Agent], now: datetime) -> list[tuple[str, str]]:
    rows = _with_rows(all_agents.filter(_needs_look(now)))[:_EXPLAINED]
    return [(agent_name(agent), look_reason(agent.report, now - SEEN_WITHIN)) for agent in rows]


def _build_row(agent: Agent, doing: AgentActivity, now: datetime, *, over_quota: bool) -> AgentRow:
    report: AgentReport | None = getattr(agent, "report", None)
    cpu = report.cpu_share if report else None
    dropped = report.dropped if report else None
    rejected_lately = bool(report and _is_lately(report.rejected_at, now))
    cpu_high = cpu is not None and cpu > MOST_CPU
    dropped_high = bool(report and dropped and dropped > MOST_DROPPED * (report.samples + dropped))
    connected = agent.last_seen >= now - MAX_REPORT_GAP
    fine = AgentState.FINE if connected else AgentState.SILENT
    return AgentRow(
        agent=agent,
        name=agent_name(agent),
        state=AgentState.LOOK if cpu_high or dropped_high or rejected_lately else fine,
        waiting=doing.waiting,
        over_quota=over_quota and connected,
        capturing_for=-int(-doing.capturing_for // 1),
        rejection=report.rejection if report and rejected_lately else "",
        warning=report.warning if report and _is_lately(report.warned_at, now) else "",
        kind=agent_kind(agent.user_agent, agent.deployment.language),
        cpu=format_percent(cpu, 1) if cpu is not None else "",
        cpu_high=cpu_high,
        memory=_memory(report),
        dropped=dropped,
        dropped_high=dropped_high,
        rejected=report.rejected if report else 0,
        last_profile=report.last_profile if report else None,
        last_type=report.last_type if report else "",
    )


def _is_lately(time: datetime | None, now: datetime) -> bool:
    return time is not None and time >= now - SEEN_WITHIN


def _memory(report: AgentReport | None) -> str:
    if report is None or report.memory_bytes is None:
        return ""
    return format_value(report.memory_bytes, "bytes")


_LONGEST = 160  # characters of an upload's error message


def look_reason(report: AgentReport, since: datetime) -> str:
    """Explain in one sentence why an agent needs attention.

    Upload errors from before `since` are ignored.
    """
    if report.rejected_at and report.rejected_at >= since:
        return _("had an upload rejected: %(reason)s") % {"reason": report.rejection[:_LONGEST]}
    share = format_percent(report.cpu_share or 0, 1)
    if not report.dropped:
        return _("uses %(share)s of a core for profiling.") % {"share": share}
    values = {
        "share": share,
        "dropped": format_count(report.dropped),
        "all": format_count(report.samples + report.dropped),
    }
    if report.cpu_share is None:
        return _("dropped %(dropped)s of %(all)s samples.") % values
    return (
        _("uses %(share)s of a core for profiling and dropped %(dropped)s of %(all)s samples.")
        % values
    )

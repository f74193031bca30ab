"""List of the senders of imported files, with the last file of each."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from frontend.components.results.pagination import Pages, paginate
from frontend.pages.agents.agent_kind import sender_name
from frontend.pages.agents.agent_list import PAGE_SIZE, find_agents, seen_lately
from frontend.pages.agents.params import AgentQuery
from frontend.text.display_names import agent_name
from projects.models import Agent, AgentReport, Project, running_agents


@dataclass(frozen=True, slots=True)
class ImportRow:
    agent: Agent
    name: str
    kind: str
    last_profile: datetime | None  # when the server stored the last file
    last_type: str
    rejection: str  # error of its last file, if that was rejected after the last stored one


@dataclass(frozen=True, slots=True)
class ImportList:
    shown: list[ImportRow]
    all: int  # senders seen within a day
    found: int
    services: list[str]
    pages: Pages


def list_imports(project: Project, query: AgentQuery, now: datetime) -> ImportList:
    senders = seen_lately(project, now).exclude(running_agents())
    names = set(senders.order_by().values_list("deployment__service", flat=True).distinct())
    rows = find_agents(_filter_service(senders, query.service), query.find)
    everything = senders.count()
    found = rows.count() if query.filtered else everything
    pages = paginate(found, PAGE_SIZE, query.page)
    ordered = rows.select_related("deployment", "report").order_by("-last_seen", "-pk")
    return ImportList(
        shown=[_build_row(each) for each in ordered[pages.first : pages.behind]],
        all=everything,
        found=found,
        services=sorted({*names, query.service} - {""}),
        pages=pages,
    )


def _filter_service(rows: QuerySet[Agent], service: str) -> QuerySet[Agent]:
    return rows.filter(deployment__service=service) if service else rows


def _build_row(agent: Agent) -> ImportRow:
    report: AgentReport | None = getattr(agent, "report", None)
    last = report.last_profile if report else None
    rejected_at = report.rejected_at if report else None
    is_rejected = rejected_at is not None and (last is None or rejected_at > last)
    return ImportRow(
        agent=agent,
        name=agent_name(agent),
        kind=sender_name(agent.user_agent),
        last_profile=last,
        last_type=report.last_type if report else "",
        rejection=report.rejection if report and is_rejected else "",
    )

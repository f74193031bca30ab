"""Insights of a project's services, in words, with links to the stacks that prove them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from endpoints.params.selection import TimeRange
from findings.costs import ServiceCosts, load_costs
from frontend.params.page_links import range_pairs
from frontend.text.display_names import SplitName, split_name, type_name
from frontend.text.money import describe_core_hour, format_money
from frontend.text.units import format_percent, format_value
from insights.catalog import RULES, Insight, find_insights
from profiles.query import (
    DeadlinePassed,
    InvalidQuery,
    ProfileSelection,
    QueryContext,
    run_services,
)
from projects.models import Project
from projects.profile_types import ProfileType

DEFAULT_RANGE = TimeRange(timedelta(days=1))
# Services of a page that does not name one: those with the most profiles.
MOST_SERVICES = 20


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: SplitName
    value: str
    share: str  # of the service


@dataclass(frozen=True)
class InsightTexts:
    insight: Insight
    type: str
    share: str
    value: str
    cores: str  # of all agents; "" if it is not known
    money: str  # a month
    emissions: str  # kg of CO₂ a month
    rank: float
    functions: Sequence[NamedValue]
    callers: Sequence[NamedValue]
    stack: Sequence[SplitName]
    flame_url: str


@dataclass(frozen=True, slots=True)
class InsightsPage:
    rows: Sequence[InsightTexts]
    services: Sequence[str]  # of the project, for the menu
    examined: int  # services
    failures: Sequence[tuple[str, str]]  # (service, reason)
    is_late: bool  # the deadline passed before all services were examined
    core_hour: str
    rules: int


def build_page(
    context: QueryContext, project: Project, range: TimeRange, service: str, now: datetime
) -> InsightsPage:
    """Examine one service, or those with the most profiles."""
    with context.snapshot:
        return _build_page(context, project, range, service, now)


def _build_page(
    context: QueryContext, project: Project, range: TimeRange, service: str, now: datetime
) -> InsightsPage:
    start, end = range.bounds(now)
    services = [row for row in run_services(context, start, end).rows if row.profiles]
    services.sort(key=lambda row: (-row.profiles, row.service))
    chosen = [row for row in services if service in ("", row.service)][:MOST_SERVICES]
    costs, examined, is_late = load_costs(project.pk, now), 0, False
    rows: list[InsightTexts] = []
    failures: list[tuple[str, str]] = []
    types = {type_ for rule in RULES for type_ in rule.types}
    try:
        for row in chosen:
            for type_ in row.types:
                if type_ not in types:
                    continue
                selection = ProfileSelection(context.project, row.service, type_, start, end)
                try:
                    found = find_insights(context, selection)
                except InvalidQuery as error:
                    failures.append((row.service, str(error)))
                else:
                    rows += [_describe(project, range, costs, each) for each in found]
            examined += 1
    except DeadlinePassed:
        is_late = True
    return InsightsPage(
        rows=sorted(_drop_repeated(rows), key=lambda row: (-row.rank, -row.insight.share)),
        services=sorted(row.service for row in services),
        examined=examined,
        failures=failures,
        is_late=is_late,
        core_hour=describe_core_hour(costs.prices),
        rules=len(RULES),
    )


def _drop_repeated(rows: Sequence[InsightTexts]) -> Sequence[InsightTexts]:
    """Keep the first row of each rule and service: CPU time before wall time."""
    first: dict[tuple[str, str], InsightTexts] = {}
    for row in sorted(rows, key=lambda row: row.insight.type != ProfileType.CPU):
        first.setdefault((row.insight.service, row.insight.rule.id), row)
    return [*first.values()]


def _describe(
    project: Project, range: TimeRange, costs: ServiceCosts, insight: Insight
) -> InsightTexts:
    zones = costs.agents.get(insight.service)
    cores = money = emissions = ""
    rank = 0.0
    if insight.type is ProfileType.CPU and insight.part_of_duration and zones:
        rank = insight.part_of_duration * zones.total()
        cores = format_value(rank, "cores")
        emissions = format_value(costs.prices.compute_emissions(rank), "kg")
        price = costs.prices.price_cores(rank, zones)
        money = "" if price is None else format_money(price, costs.prices.currency)
    evidence = insight.evidence
    whole = evidence.total / insight.share
    return InsightTexts(
        insight=insight,
        type=type_name(insight.type),
        share=format_percent(insight.share, 1),
        value=format_value(insight.value, insight.unit),
        cores=cores,
        money=money,
        emissions=emissions,
        rank=rank,
        functions=_describe_values(insight, evidence.functions, whole),
        callers=_describe_values(insight, evidence.callers, whole),
        stack=[split_name(name) for name in evidence.stack],
        flame_url=_flame_url(project, range, insight),
    )


def _describe_values(
    insight: Insight, rows: Sequence[tuple[str, int]], whole: float
) -> list[NamedValue]:
    profiles = insight.evidence.total / insight.value
    return [
        NamedValue(
            split_name(name),
            format_value(value / profiles, insight.unit),
            format_percent(value, whole),
        )
        for name, value in rows
    ]


def _flame_url(project: Project, range: TimeRange, insight: Insight) -> str:
    """Return the URL of the flame graph of the stacks through the matching functions."""
    parameters = [
        ("service", insight.service),
        ("type", str(insight.type)),
        *[pair for pair in range_pairs(range) if pair[1]],
        ("f", f"show:{insight.rule.pattern.functions}"),
    ]
    return f"{reverse('flame', args=[project.project_id])}?{urlencode(parameters)}"

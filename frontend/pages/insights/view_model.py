"""Insights of a project's services, in words, with links to the stacks that prove them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from endpoints.params.selection import TimeRange
from findings.costs import ServiceCosts, load_costs
from frontend.pages.insights.pattern_texts import PatternTexts
from frontend.text.money import describe_core_hour
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
class InsightRow:
    insight: Insight
    texts: PatternTexts


@dataclass(frozen=True, slots=True)
class InsightsPage:
    rows: Sequence[InsightRow]
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
    rows: list[InsightRow] = []
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
        rows=sorted(_drop_repeated(rows), key=lambda row: (-row.texts.rank, -row.insight.share)),
        services=sorted(row.service for row in services),
        examined=examined,
        failures=failures,
        is_late=is_late,
        core_hour=describe_core_hour(costs.prices),
        rules=len(RULES),
    )


def _drop_repeated(rows: Sequence[InsightRow]) -> Sequence[InsightRow]:
    """Keep the first row of each rule and service: CPU time before wall time."""
    first: dict[tuple[str, str], InsightRow] = {}
    for row in sorted(rows, key=_is_no_cpu_time):
        first.setdefault((row.texts.service, row.insight.rule.id), row)
    return [*first.values()]


def _is_no_cpu_time(row: InsightRow) -> bool:
    return row.insight.result.selection.type is not ProfileType.CPU


def _describe(
    project: Project, range: TimeRange, costs: ServiceCosts, insight: Insight
) -> InsightRow:
    pattern = insight.rule.pattern
    filters = [f"show:{pattern.functions}"] if pattern.functions else []
    if pattern.without:
        filters.append(f"hide:{pattern.without}")
    texts = PatternTexts(project, range, costs, insight.result, insight.evidence, filters)
    return InsightRow(insight, texts)

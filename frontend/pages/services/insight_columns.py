"""Columns of the list of services: cost, top function, latest change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.urls import reverse
from django.utils.translation import gettext as _

from findings.hourly_sums.top_functions import load_top_functions
from findings.listing import FindingFilter, find_findings, list_detections
from findings.models import OPEN_STATES, AnalysisStatus, Direction, Finding, ServiceDetection
from frontend.text.display_names import SplitName, split_name
from frontend.text.money import format_money
from frontend.text.units import (
    format_delta,
    format_delta_percent,
    format_percent,
    format_value,
)
from projects.models import Project
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class ServiceCost:
    """Cost of a service's CPU time at the agents that run now; None where it is not known."""

    currency: str
    cores: float | None = None
    money: float | None = None  # a month

    @property
    def rank(self) -> float:
        return self.money if self.money is not None else self.cores or 0.0

    @property
    def cores_text(self) -> str:
        return "" if self.cores is None else format_value(self.cores, "cores")

    @property
    def money_text(self) -> str:
        return "" if self.money is None else format_money(self.money, self.currency)


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """Most urgent open finding of a service, or the reason why there is none."""

    url: str = ""
    function: str = ""
    change: str = ""
    detail: str = ""  # relative change and version; without a finding: the reason
    more: int = 0  # further open findings
    is_regression: bool = False


@dataclass(frozen=True, slots=True)
class TopFunctionText:
    name: SplitName
    share: str


@dataclass(frozen=True, slots=True)
class ServiceInsights:
    """Results of the analysis, by service; those that were not analyzed are left out."""

    tops: Mapping[str, TopFunctionText]
    changes: Mapping[str, ServiceChange]


def load_insights(
    project: Project, types: Mapping[str, ProfileType], now: datetime
) -> ServiceInsights:
    """Return the insights of services, with the type of profiles in which to look for the top."""
    tops = {
        service: TopFunctionText(split_name(top.name), format_percent(top.share, 1))
        for service, top in load_top_functions(project.pk, types, now).items()
    }
    changes = {
        each.service: ServiceChange(detail=_describe_detection(each))
        for each in list_detections(project)
        if each.type == types.get(each.service) and each.status == AnalysisStatus.ANALYZED
    }
    rows = find_findings(project.pk, FindingFilter(states=OPEN_STATES))
    rows = rows.filter(service__in=[*types]).defer("points", "checks", "merged")
    by_service = sorted(rows, key=lambda row: row.service)
    for service, found in groupby(by_service, key=lambda row: row.service):
        first, *others = found
        changes[service] = _describe_change(project, first, len(others))
    return ServiceInsights(tops, changes)


def _describe_detection(detection: ServiceDetection) -> str:
    if not detection.misses_changes:
        return _("no change found")
    return _("Too few samples to see changes below %(change)s") % {
        "change": format_percent(detection.detectable or 0, 1)
    }


def _describe_change(project: Project, row: Finding, more: int) -> ServiceChange:
    relative = _("new") if row.relative is None else format_delta_percent(row.relative)
    detail = relative
    if row.version:
        detail = _("%(change)s since %(version)s") % {"change": relative, "version": row.version}
    return ServiceChange(
        url=reverse("finding", args=[project.project_id, row.finding_id]),
        function=split_name(row.function).leaf,
        change=format_delta(row.change, row.unit),
        detail=detail,
        more=more,
        is_regression=row.direction == Direction.REGRESSION,
    )

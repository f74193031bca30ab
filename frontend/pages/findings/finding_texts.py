"""Texts and drawings of one finding, for its row in the list and for its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from common.time_text import time_text
from findings.costs import FindingCost, ServiceCosts
from findings.evidence import list_comparison_parameters
from findings.models import POINT_HOURS, Direction, Finding, FindingState
from frontend.text.display_names import SplitName, split_name, type_name
from frontend.text.money import format_money_delta
from frontend.text.units import (
    format_delta,
    format_delta_percent,
    format_percent,
    format_value,
)
from projects.commit_ranges import build_compare_url
from projects.models import Project
from projects.profile_types import ProfileType

CORES = "cores"
_NEW_RELATIVE = 20  # change as a multiple of the value before, above which a function is new
_HIGH_CONFIDENCE_P = 1e-9  # of the likelihood ratio; p of every finding is below 1e-5 or so
CHART_WIDTH, CHART_HEIGHT = 100, 32
POINT_SECONDS = POINT_HOURS * 3600


@dataclass(frozen=True)
class FindingTexts:
    """Finding with what pages say about it."""

    project: Project
    row: Finding
    costs: ServiceCosts

    @cached_property
    def name(self) -> SplitName:
        return split_name(self.row.function)

    @property
    def type(self) -> str:
        return type_name(ProfileType(self.row.type))

    @property
    def is_regression(self) -> bool:
        return self.row.direction == Direction.REGRESSION

    @property
    def relative(self) -> str:
        """Return the change in percent, or that the function is new or gone."""
        relative = self.row.relative
        if relative is None or self._is_new:
            return _("new")
        return _("gone") if self._is_gone else format_delta_percent(relative)

    @property
    def _is_new(self) -> bool:
        """Return True if the function had hardly any cost before."""
        return self.row.relative is None or self.row.relative > _NEW_RELATIVE

    @property
    def _is_gone(self) -> bool:
        return self.row.after <= 0

    @property
    def before(self) -> str:
        return format_value(self.row.before, self.row.unit)

    @property
    def after(self) -> str:
        return format_value(max(self.row.after, 0), self.row.unit)

    @property
    def interval(self) -> str:
        low, high = (format_delta(each, self.row.unit) for each in (self.row.low, self.row.high))
        return f"{low} … {high}"

    @property
    def share_before(self) -> str:
        return format_percent(self.row.before, self.row.profile_total)

    @property
    def share_change(self) -> str:
        whole = self.row.profile_total
        return format_delta_percent(self.row.change / whole) if whole > 0 else ""

    @cached_property
    def _cost(self) -> FindingCost:
        return self.costs.compute(self.row)

    @property
    def agents(self) -> int:
        """Return the number of agents of the service that run now."""
        return self.costs.agents[self.row.service].total()

    @property
    def cores(self) -> str:
        """Return the change in cores of all agents; "" for values that are no CPU time."""
        cores = self._cost.cores
        return "" if cores is None else format_delta(cores, CORES)

    @property
    def money(self) -> str:
        """Return the change in money a month; "" without a price."""
        money = self._cost.money
        return "" if money is None else format_money_delta(money, self.costs.prices.currency)

    @property
    def emissions(self) -> str:
        kg = self._cost.kg_co2
        return "" if kg is None else format_delta(kg, "kg")

    @property
    def state(self) -> str:
        return str(FindingState(self.row.state).label)

    @property
    def is_open(self) -> bool:
        return self.row.state in {FindingState.NEW, FindingState.ACKNOWLEDGED}

    @property
    def sentence(self) -> str:
        """Return the heading of the page, after the name of the function."""
        names = {"change": self.relative.lstrip("+-"), "type": self.type}
        if self._is_new:
            text = _("is new and takes %(after)s of %(type)s per profile")
            sentence = text % {"after": self.after, "type": self.type}
        elif self.is_regression:
            sentence = _("takes %(change)s more %(type)s") % names
        elif self._is_gone:
            sentence = _("takes no %(type)s any more") % names
        else:
            sentence = _("takes %(change)s less %(type)s") % names
        if not self.row.version:
            return sentence
        return _("%(sentence)s since %(version)s") % {
            "sentence": sentence,
            "version": self.row.version,
        }

    @property
    def confidence(self) -> str:
        return _("High") if self.row.p < _HIGH_CONFIDENCE_P else _("Medium")

    @property
    def commits_url(self) -> str:
        """Return the address of the commits between the two versions; "" if it is not known."""
        row = self.row
        return build_compare_url(self.project.source_url, row.version_before, row.version)

    @property
    def url(self) -> str:
        return reverse("finding", args=[self.project.project_id, self.row.finding_id])

    @cached_property
    def chart(self) -> "FindingChart":
        return FindingChart(self.row)


class FindingChart:
    """Line of the values of a finding, in a box of CHART_WIDTH × CHART_HEIGHT."""

    def __init__(self, row: Finding) -> None:
        self._row = row
        self._points: Sequence[float | None] = row.points
        values = [each for each in row.points if each is not None]
        self.top = max([*values, row.before, row.after, 1e-300]) * 1.1

    @property
    def lines(self) -> list[str]:
        """Return the points of each line; hours without profiles divide lines."""
        lines: list[list[str]] = [[]]
        for index, value in enumerate(self._points):
            if value is None:
                lines.append([])
            else:
                x = (index + 0.5) / len(self._points) * CHART_WIDTH
                lines[-1].append(f"{x:.2f},{self._y(value):.2f}")
        return [" ".join(line) for line in lines if len(line) > 1]

    @property
    def change_x(self) -> str:
        return self._x(self._row.change_time.timestamp())

    @property
    def found_x(self) -> str:
        return self._x(self._row.found.timestamp())

    @property
    def confirmed_width(self) -> str:
        """Return the width of the time between the change and the finding."""
        return f"{max(float(self.found_x) - float(self.change_x), 0):.2f}"

    @property
    def before_y(self) -> str:
        return f"{self._y(self._row.before):.2f}"

    @property
    def after_y(self) -> str:
        return f"{self._y(max(self._row.after, 0)):.2f}"

    def _y(self, value: float) -> float:
        return float(CHART_HEIGHT * (1 - value / self.top))

    def _x(self, time: float) -> str:
        start, length = self.start, len(self._points) * POINT_SECONDS
        part = (time - start) / length if length > 0 else 0.0
        return f"{min(max(part, 0.0), 1.0) * CHART_WIDTH:.2f}"

    @property
    def start(self) -> float:
        end: float = self._row.points_end.timestamp()
        return end - len(self._points) * POINT_SECONDS


def build_evidence_links(finding: FindingTexts) -> dict[str, str]:
    """Return the URLs of the views that prove a finding, by their names."""
    row, project = finding.row, finding.project.project_id
    common = {"service": row.service, "type": row.type}
    day, change = timedelta(days=1), row.change_time
    after = _range(change, row.found)
    whole = _range(change - 10 * day, row.found + 2 * day)
    return {
        "compare": _url("compare", project, list_comparison_parameters(row)),
        "history": _url("history", project, common | whole | {"function": row.function}),
        "flame": _url("flame", project, common | after | {"focus": row.function}),
    }


def _range(start: datetime, end: datetime) -> dict[str, str]:
    return {"from": time_text(start), "to": time_text(end)}


def _url(page: str, project: str, parameters: dict[str, str]) -> str:
    return f"{reverse(page, args=[project])}?{urlencode(parameters)}"

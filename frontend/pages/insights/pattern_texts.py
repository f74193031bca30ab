"""Cost of the frames that match a pattern, in words, with a link to their stacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from endpoints.params.selection import TimeRange
from findings.costs import FindingCost, ServiceCosts
from frontend.params.page_links import range_pairs
from frontend.text.display_names import SplitName, split_name, type_name
from frontend.text.money import format_money
from frontend.text.units import format_percent, format_value
from profiles.query import PatternCost, PatternCosts
from projects.models import Project
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: SplitName
    value: str  # of one profile
    share: str  # of the service


@dataclass(frozen=True)
class PatternTexts:
    """Frames of one service that match, in one selection of its profiles."""

    project: Project
    range: TimeRange
    costs: ServiceCosts
    result: PatternCosts
    cost: PatternCost  # of the rows of the result
    filters: Sequence[str]  # of the flame graph, as in its URL

    @property
    def service(self) -> str:
        return self.result.selection.service

    @property
    def type(self) -> str:
        return type_name(self.result.selection.type)

    @property
    def share(self) -> str:
        return format_percent(self.result.compute_share(self.cost), 1)

    @property
    def value(self) -> str:
        return self._format_mean(self.cost.total)

    @property
    def rank(self) -> float:
        """Return the cores of all agents; 0 if they are not known."""
        return self._service_cost.cores or 0.0

    @property
    def cores(self) -> str:
        return format_value(self.rank, "cores") if self.rank else ""

    @property
    def price(self) -> float | None:
        """Return the cost a month; None if the cores or their price are not known."""
        return self._service_cost.money

    @property
    def money(self) -> str:
        price = self.price
        return "" if price is None else format_money(price, self.costs.prices.currency)

    @property
    def emissions(self) -> str:
        kg = self._service_cost.kg_co2
        return format_value(kg, "kg") if kg else ""

    @property
    def functions(self) -> Sequence[NamedValue]:
        return self._describe(self.cost.functions)

    @property
    def callers(self) -> Sequence[NamedValue]:
        return self._describe(self.cost.callers)

    @property
    def stack(self) -> Sequence[SplitName]:
        return [split_name(name) for name in self.cost.stack]

    @property
    def flame_url(self) -> str:
        """Return the URL of the flame graph of the stacks through the matching functions."""
        parameters = [
            ("service", self.service),
            ("type", str(self.result.selection.type)),
            *[pair for pair in range_pairs(self.range) if pair[1]],
            *(("f", each) for each in self.filters),
        ]
        return f"{reverse('flame', args=[self.project.project_id])}?{urlencode(parameters)}"

    @cached_property
    def _service_cost(self) -> FindingCost:
        if self.result.selection.type is not ProfileType.CPU:
            return FindingCost()
        return self.costs.compute_cpu(self.service, self.result.compute_cores(self.cost))

    def _describe(self, rows: Sequence[tuple[str, int]]) -> list[NamedValue]:
        whole = self.result.total
        return [
            NamedValue(split_name(name), self._format_mean(value), format_percent(value, whole))
            for name, value in rows
        ]

    def _format_mean(self, value: int) -> str:
        """Format a sum over the profiles as the value of one of them."""
        mean = value / max(self.result.coverage.profiles, 1)
        return format_value(mean, self.result.metric.unit)

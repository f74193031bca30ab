"""Cost of the frames that match a pattern, in words, with a link to their stacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from endpoints.params.selection import TimeRange
from findings.costs import ServiceCosts
from frontend.params.page_links import range_pairs
from frontend.text.display_names import SplitName, split_name, type_name
from frontend.text.money import format_money
from frontend.text.units import format_percent, format_value
from profiles.query import PatternCost, ProfileSelection
from projects.models import Project
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: SplitName
    value: str  # of one profile
    share: str  # of the service


@dataclass(frozen=True)
class PatternTexts:
    """Frames of one service that match a filter value, in one selection of its profiles."""

    project: Project
    range: TimeRange
    costs: ServiceCosts
    selection: ProfileSelection
    cost: PatternCost
    filter_value: str
    share_of_all: float
    per_profile: float
    unit: str
    cores_per_agent: float  # 0 for types without a duration

    @property
    def service(self) -> str:
        return self.selection.service

    @property
    def type(self) -> str:
        return type_name(self.selection.type)

    @property
    def share(self) -> str:
        return format_percent(self.share_of_all, 1)

    @property
    def value(self) -> str:
        return format_value(self.per_profile, self.unit)

    @cached_property
    def rank(self) -> float:
        """Return the cores of all agents; 0 if they are not known."""
        zones = self.costs.agents.get(self.service)
        if self.selection.type is not ProfileType.CPU or not zones:
            return 0.0
        return self.cores_per_agent * zones.total()

    @property
    def cores(self) -> str:
        return format_value(self.rank, "cores") if self.rank else ""

    @property
    def money(self) -> str:
        """Return the cost a month; "" without a price."""
        if not self.rank:
            return ""
        prices = self.costs.prices
        price = prices.price_cores(self.rank, self.costs.agents[self.service])
        return "" if price is None else format_money(price, prices.currency)

    @property
    def emissions(self) -> str:
        kg = self.costs.prices.compute_emissions(self.rank)
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
            ("type", str(self.selection.type)),
            *[pair for pair in range_pairs(self.range) if pair[1]],
            ("f", f"show:{self.filter_value}"),
        ]
        return f"{reverse('flame', args=[self.project.project_id])}?{urlencode(parameters)}"

    def _describe(self, rows: Sequence[tuple[str, int]]) -> list[NamedValue]:
        whole = self.cost.total / self.share_of_all
        profiles = self.cost.total / self.per_profile
        return [
            NamedValue(
                split_name(name),
                format_value(value / profiles, self.unit),
                format_percent(value, whole),
            )
            for name, value in rows
        ]

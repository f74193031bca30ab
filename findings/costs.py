"""Cost of findings: the change of one profile, times the agents that run, by the prices."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from findings.models import OPEN_STATES, Direction, Finding
from projects.prices import PriceList, load_price_list
from projects.profile_types import ProfileType
from projects.registration.live_agents import count_live_agents

MOST_SUMMED = 1_000  # findings


@dataclass(frozen=True, slots=True)
class FindingCost:
    """Change of a service's cost for a month; None where it is not known."""

    cores: float | None = None
    money: float | None = None
    kg_co2: float | None = None


@dataclass(frozen=True, slots=True)
class ServiceCosts:
    """Prices of a project, and the agents of its services that run now, by zone."""

    prices: PriceList
    agents: Mapping[str, Counter[str]]

    def compute(self, finding: Finding) -> FindingCost:
        """Return the cost of a change: CPU time as cores, heap in use as memory."""
        zones = self.agents.get(finding.service, Counter())
        number = zones.total()
        if not number:
            return FindingCost()
        if finding.type == ProfileType.HEAP:
            money = None
            if finding.unit == "bytes":
                money = self.prices.price_memory(finding.change * number)
            return FindingCost(money=money)
        if finding.type != ProfileType.CPU or not finding.duration_ns:
            return FindingCost()
        return self.compute_cpu(finding.service, finding.change / finding.duration_ns)

    def compute_cpu(self, service: str, cores_per_agent: float) -> FindingCost:
        """Return the cost of CPU time on all agents of a service; nothing known without any."""
        zones = self.agents.get(service, Counter())
        if not zones:
            return FindingCost()
        cores = cores_per_agent * zones.total()
        return FindingCost(
            cores, self.prices.price_cores(cores, zones), self.prices.compute_emissions(cores)
        )

    def sum_open(self, project: int, direction: Direction) -> FindingCost:
        """Return the cost of the open findings of one direction together; one statement."""
        rows: QuerySet[Finding] = Finding.objects.filter(
            project=project, direction=direction, state__in=OPEN_STATES
        ).only("service", "type", "unit", "change", "duration_ns")
        costs = [self.compute(row) for row in rows.order_by("-rank")[:MOST_SUMMED]]
        return FindingCost(
            _sum([each.cores for each in costs]),
            _sum([each.money for each in costs]),
            _sum([each.kg_co2 for each in costs]),
        )


def load_costs(project: int, now: datetime) -> ServiceCosts:
    """Return the prices and the agents of a project (its pk); two statements."""
    return ServiceCosts(load_price_list(project), count_live_agents(project, now))


def _sum(values: list[float | None]) -> float | None:
    given = [each for each in values if each is not None]
    return sum(given) if given else None

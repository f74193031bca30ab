"""Cost and emissions of cores and of memory, by the prices of a project."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace

from django.db import transaction

from projects import audit
from projects.models import Prices, Project, User
from projects.models.prices import KG_CO2_PER_KWH, POWER_USAGE_EFFECTIVENESS, WATTS_PER_CORE

HOURS_A_MONTH = 730
DEFAULT_CURRENCY = "USD"
MAX_PRICE = 1_000_000.0  # an hour
MAX_ZONES = 200
_GIB = 2**30
_CURRENCY = re.compile("[A-Z]{3}")


class InvalidPrice(ValueError):
    """Price that cannot be stored; `name` is its field."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices of an hour, and factors of emissions; None is not set."""

    currency: str = DEFAULT_CURRENCY
    core_hour: float | None = None
    gib_hour: float | None = None
    zones: Mapping[str, float] = field(default_factory=dict)  # core-hour, where it differs
    watts_per_core: float = WATTS_PER_CORE
    power_usage_effectiveness: float = POWER_USAGE_EFFECTIVENESS
    kg_co2_per_kwh: float = KG_CO2_PER_KWH

    def find_core_hour(self, agents: Mapping[str, int]) -> float | None:
        """Return the mean price of a core-hour of a service, by the agents of each zone.

        It is None if a zone with agents has no price.
        """
        if not agents:
            return self.core_hour
        total = 0.0
        for zone, count in agents.items():
            price = self.zones.get(zone, self.core_hour)
            if price is None:
                return None
            total += price * count
        return total / sum(agents.values())

    def price_cores(self, cores: float, agents: Mapping[str, int]) -> float | None:
        """Return the cost of cores for a month."""
        price = self.find_core_hour(agents)
        return None if price is None else price * cores * HOURS_A_MONTH

    def price_memory(self, size: float) -> float | None:
        """Return the cost of bytes for a month."""
        return None if self.gib_hour is None else size / _GIB * self.gib_hour * HOURS_A_MONTH

    def compute_emissions(self, cores: float) -> float:
        """Return the kilograms of CO₂ that cores cause in a month."""
        kilowatts = cores * self.watts_per_core * self.power_usage_effectiveness / 1000
        return kilowatts * HOURS_A_MONTH * self.kg_co2_per_kwh


def load_price_list(project: int) -> PriceList:
    """Return the prices of a project (its pk); one statement."""
    row = Prices.objects.filter(project=project).first()
    if row is None:
        return PriceList()
    return PriceList(**{each.name: getattr(row, each.name) for each in fields(PriceList)})


def change_prices(
    project: Project,
    values: Mapping[str, object],
    *,
    actor: User,
    origin: audit.Origin = audit.NO_CLIENT,
) -> PriceList:
    """Change the fields of PriceList whose values differ, and record them. Raise InvalidPrice."""
    before = load_price_list(project.pk)
    after = replace(before, **values)  # type: ignore[arg-type]  # the fields are checked below
    _check(after)
    old = asdict(before)
    changed = {name: value for name, value in asdict(after).items() if value != old[name]}
    if not changed:
        return after
    with transaction.atomic():
        Prices.objects.update_or_create(project=project, defaults=asdict(after))
        audit.record(
            project,
            "prices.change",
            actor=actor,
            origin=origin,
            target=project.name,
            changed=changed,
        )
    return after


def _check(prices: PriceList) -> None:
    if not _CURRENCY.fullmatch(prices.currency):
        raise InvalidPrice("currency", "must be three capital letters, for example EUR")
    if len(prices.zones) > MAX_ZONES:
        raise InvalidPrice("zones", f"has {len(prices.zones)} zones; {MAX_ZONES} are allowed")
    numbers = {
        "core_hour": prices.core_hour,
        "gib_hour": prices.gib_hour,
        "watts_per_core": prices.watts_per_core,
        "power_usage_effectiveness": prices.power_usage_effectiveness,
        "kg_co2_per_kwh": prices.kg_co2_per_kwh,
    }
    for name, value in (*numbers.items(), *(("zones", each) for each in prices.zones.values())):
        if value is not None and not 0 <= value <= MAX_PRICE:  # also rejects NaN
            raise InvalidPrice(name, f"must be a number from 0 to {MAX_PRICE:,.0f}")

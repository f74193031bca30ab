"""Prices of a project: cost of cores by zone, of memory, emissions, and their changes."""

import math
from collections import Counter

import pytest

from projects.models import AuditEntry, Prices, Project, User
from projects.prices import InvalidPrice, PriceList, change_prices, load_price_list

GIB = 2**30


def test_cores_cost_the_mean_price_of_the_zones_of_their_agents() -> None:
    prices = PriceList("EUR", 0.03, zones={"us-1": 0.05})
    # Three agents at 0.03 and one at 0.05: 0.035 an hour on average, 730 hours, 2 cores.
    agents = Counter({"eu-1": 3, "us-1": 1})
    assert prices.price_cores(2, agents) == pytest.approx(0.035 * 730 * 2)
    assert prices.price_cores(2, {}) == pytest.approx(0.03 * 730 * 2)


def test_cost_is_not_known_if_a_zone_has_no_price() -> None:
    prices = PriceList("EUR", zones={"us-1": 0.05})
    assert prices.price_cores(1, {"us-1": 1}) == pytest.approx(0.05 * 730)
    assert prices.price_cores(1, {"us-1": 1, "eu-1": 1}) is None
    assert prices.price_cores(1, {}) is None


def test_memory_and_emissions() -> None:
    assert PriceList().price_memory(GIB) is None
    assert PriceList(gib_hour=0.004).price_memory(3 * GIB) == pytest.approx(0.004 * 730 * 3)
    # 7 W × 1.7 × 730 h = 8.687 kWh a core, × 0.379 kg
    assert PriceList().compute_emissions(10) == pytest.approx(32.92, abs=0.01)


@pytest.mark.django_db
def test_change_is_stored_and_recorded_once(project: Project, alice: User) -> None:
    assert load_price_list(project.pk) == PriceList()
    values = {"currency": "CHF", "core_hour": 0.04, "zones": {"eu-1": 0.05}}
    for _again in range(2):
        change_prices(project, values, actor=alice)
    assert load_price_list(project.pk) == PriceList("CHF", 0.04, zones={"eu-1": 0.05})
    entry = AuditEntry.objects.get(project=project, action="prices.change")
    assert entry.detail["changed"] == values
    change_prices(project, {"core_hour": None}, actor=alice)
    assert load_price_list(project.pk).core_hour is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"currency": "euro"}, "currency"),
        ({"core_hour": -1.0}, "core_hour"),
        ({"gib_hour": math.nan}, "gib_hour"),
        ({"watts_per_core": math.inf}, "watts_per_core"),
        ({"zones": {"a": -1.0}}, "zones"),
        ({"zones": {str(number): 1.0 for number in range(201)}}, "zones"),
    ],
)
def test_bad_prices_change_nothing(
    values: dict[str, object], field: str, project: Project, alice: User
) -> None:
    with pytest.raises(InvalidPrice) as caught:
        change_prices(project, values, actor=alice)
    assert caught.value.name == field
    assert not Prices.objects.exists()

"""Hourly sums of agent costs over the last day."""

from datetime import UTC, datetime, timedelta

from projects.registration.agent_costs import HOURS, Costs, HourlyCosts, add_report, costs

NOON = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
NS = 10**9


def test_reports_of_one_hour_are_added_up() -> None:
    hours = add_report(
        {}, NOON, HourlyCosts(samples=90, dropped=10, cpu_ns=NS, elapsed_ns=100 * NS, reporting=1)
    )
    hours = add_report(
        hours, NOON, HourlyCosts(samples=10, cpu_ns=NS, elapsed_ns=100 * NS, reporting=1)
    )
    assert len(hours) == 1
    assert costs(hours) == Costs(cpu_share=0.01, dropped=10, samples=100, rejected=0)


def test_costs_older_than_a_day_are_deleted() -> None:
    hours: dict[str, list[int]] = {}
    for hour in range(HOURS + 6):
        hours = add_report(hours, NOON + timedelta(hours=hour), HourlyCosts(rejected=1))
    assert len(hours) == HOURS
    assert costs(hours).rejected == HOURS


def test_a_cost_that_was_never_reported_is_not_zero() -> None:
    assert costs(add_report({}, NOON, HourlyCosts(samples=5))) == Costs(None, None, 5, 0)


def test_sums_stay_within_64_bits() -> None:
    hours = add_report({}, NOON, HourlyCosts(cpu_ns=2**62))
    assert (
        costs(add_report(hours, NOON, HourlyCosts(cpu_ns=2**62, elapsed_ns=1))).cpu_share == 2**62
    )

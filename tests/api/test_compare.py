"""Responses of `…/compare`, with both sides in one result."""

import csv
import io

import pytest

from projects.models import Deployment
from tests.api.conftest import Ask
from tests.ingest.client import assert_error_response
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_comparison_has_values_of_both_sides(ask: Ask, shop: Deployment) -> None:
    rows.stored(rows.deployment(shop.project, version="3"), {"main": 1, "main;new": 4}, minutes=3)
    document = ask("compare", version="1", **{"b.version": "3"}).json()
    assert (document["profiles"], document["total"]) == (2, 18_000_000)
    assert (document["b"]["profiles"], document["b"]["total"]) == (1, 5_000)
    assert sum(document["self"]) == 18_000_000
    assert sum(document["b"]["self"]) == 5_000
    assert document["q"] == document["ci_lo"] == [None] * len(document["self"])
    functions = document["functions"]
    new = functions["name"].index("new")
    assert (functions["a_total"][new], functions["b_total"][new]) == (0, 4_000)
    assert functions["real"] == [False] * 5


def test_a_change_is_real_among_enough_profiles(ask: Ask, shop: Deployment) -> None:
    for number in range(12):
        rows.stored(shop, {"main;same": 50, "main;work": 40 + number % 3}, minutes=20 + number)
        rows.stored(shop, {"main;same": 50, "main;work": 90 + number % 3}, minutes=40 + number)
    first = {"from": "2026-11-20T12:20:00Z", "to": "2026-11-20T12:32:00Z"}
    second = {"b.from": "2026-11-20T12:40:00Z", "b.to": "2026-11-20T12:52:00Z"}
    functions = ask("compare", **first, **second).json()["functions"]
    real = dict(zip(functions["name"], functions["real"], strict=True))
    assert real["work"]
    assert not real["same"]
    work = functions["name"].index("work")
    assert functions["low"][work] < -50_000 < functions["high"][work] < 0
    response = ask("compare", format="csv", **first, **second)
    _head, *lines = csv.reader(io.StringIO(response.text))
    names = "name", "file", "b_self", "b_total", "a_self", "a_total", "low", "high", "q", "real"
    assert lines == [
        [*map(str, line[:-1]), "yes" if line[-1] else "no"]
        for line in zip(*(functions[name] for name in names), strict=True)
    ]


def test_comparison_is_returned_as_csv(ask: Ask) -> None:
    response = ask("compare", version="1", format="csv", **{"b.version": "2"})
    head, *lines = csv.reader(io.StringIO(response.text))
    assert head[:4] == [
        "name",
        "file",
        "baseline self (nanoseconds, profiles: 1)",
        "baseline total (nanoseconds, profiles: 1)",
    ]
    assert head[4:6] == [
        "selected self (nanoseconds, profiles: 2)",
        "selected total (nanoseconds, profiles: 2)",
    ]
    assert head[-1] == "significant"
    assert sum(int(line[4]) for line in lines) == 18_000_000
    assert {line[-1] for line in lines} == {"no"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("b.type", "b.type: is unknown here; there are b.span"),
        ("b.f", "b.f: is unknown here"),
        ("b.weight", "b.weight: 'x' is no percentage"),
        ("c.zone", "c.zone: is unknown here; there are format, service"),
    ],
)
def test_a_parameter_that_sides_do_not_have_is_named(name: str, said: str, ask: Ask) -> None:
    assert_error_response(ask("compare", **{name: "x"}), 400, "INVALID_ARGUMENT", said)

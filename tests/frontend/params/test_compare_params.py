"""Conversion between URLs of comparisons and their two sides."""

from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from endpoints.params.reader import LenientReader
from flamewatch_client.check_command import add_check, build_query
from frontend.params.compare_params import CompareQuery, read

NOW = datetime(2026, 11, 20, 22, 14, 30, tzinfo=UTC)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read_query(query: str) -> CompareQuery:
    found, notices = read(LenientReader.from_query(QueryDict(query)), NOW)
    assert notices == ()
    return found


def test_baseline_inherits_parameters_without_an_override() -> None:
    found = read_query("service=shop&zone=eu&version=2&span=1d&b.version=1")
    assert (found.baseline.service, found.baseline.zones, found.baseline.versions) == (
        "shop",
        ("eu",),
        ("1",),
    )
    assert found.baseline.span == timedelta(days=1)
    assert found.baseline.end is None


def test_empty_override_selects_every_value() -> None:
    assert read_query("version=2&b.version=").baseline.versions == ()
    assert read_query("version=2&b.version=").parameters().endswith("b.version=")


def test_a_value_of_the_baseline_replaces_an_unset_label() -> None:
    query = "span=1h&unset=version&unset=label.pod&b.version=1&b.unset=label.pod"
    found = read_query("unset=version&unset=label.pod&b.version=1")
    assert [each.parameter for each in found.baseline.unset] == ["label.pod"]
    assert found.baseline.versions == ("1",)
    assert sorted(found.parameters().split("&")) == sorted(query.split("&"))
    assert read_query("unset=version&b.unset=").baseline.unset == ()


def test_baseline_without_overrides_is_the_range_before() -> None:
    found = read_query("span=6h")
    assert (found.baseline.end, found.baseline.span) == (
        NOW - timedelta(hours=6),
        timedelta(hours=6),
    )
    assert found.before
    assert found.parameters() == "span=6h"


def test_the_baseline_may_have_its_own_range() -> None:
    found = read_query(
        "from=2026-11-20T06:00:00Z&to=2026-11-20T12:00:00Z&b.to=2026-11-19T12:00:00Z"
    )
    assert found.selected.end == NOON
    assert found.baseline.end == NOON - timedelta(days=1)
    own = read_query("span=6h&b.from=2026-11-20T10:00:00Z&b.to=2026-11-20T12:00:00Z")
    assert (own.selected.span, own.baseline.span, own.baseline.end) == (
        timedelta(hours=6),
        timedelta(hours=2),
        NOON,
    )


def test_end_of_the_baseline_is_read_beside_the_span() -> None:
    found = read_query("span=1h&b.end=2026-11-20T12:00:00Z&b.version=")
    assert (found.selected.end, found.baseline.end) == (None, NOON)


@pytest.mark.parametrize(
    "query",
    [
        "span=1h",
        "service=shop&type=CPU&version=2&span=1h&b.version=1",
        "span=1h&end=2026-11-20T12%3A00%3A00Z&b.end=now",
        "zone=eu&span=1d&b.zone=us&b.zone=asia&b.span=6h",
        "span=1h&side=sides&values=relative&real=1&sort=-name&all=1",
        "span=1h&b.weights=5..9",
    ],
)
def test_parameters_are_written_as_they_were_read(query: str) -> None:
    assert read_query(query).parameters() == query


def test_swap_sides_exchanges_selected_and_baseline() -> None:
    found = read_query("version=2&span=1h&b.version=1").swap_sides()
    assert (found.selected.versions, found.baseline.versions) == (("1",), ("2",))
    assert read_query(found.parameters()) == found


@pytest.mark.parametrize(
    "query", ["span=1h&b.end=now", "span=1h&end=2026-11-20T12%3A00%3A00Z&b.version="]
)
def test_equal_sides_stay_equal(query: str) -> None:
    found = read_query(query)
    assert found.baseline == found.selected
    assert not found.before
    assert read_query(found.parameters()) == found


def test_service_and_unknown_parameters_of_the_baseline_are_ignored() -> None:
    assert read_query("service=shop&b.service=other&b.nonsense=1").baseline.service == "shop"


def test_link_of_a_check_selects_its_versions_and_range() -> None:
    parser = ArgumentParser()
    add_check(parser)
    given = (
        "--service shop --base 1 --head 2 --type WALL --zone eu --label team=web --last 2d "
        "--filter hide:idle"
    )
    pairs = build_query(parser.parse_args(given.split()), NOW)
    found = read_query(urlencode(pairs))
    for side, version in ((found.baseline, "1"), (found.selected, "2")):
        assert (side.service, side.type, side.zones, side.versions) == (
            *("shop", "WALL", ("eu",)),
            (version,),
        )
        assert (side.span, side.end) == (timedelta(days=2), NOW)
    assert not found.before

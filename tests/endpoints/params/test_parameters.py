"""Query parameters: any input is parsed or rejected with the parameter's name."""

import contextlib
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endpoints.params.reader import BadParameter, StrictReader, parse
from endpoints.params.selection import read_other_side, read_range, read_selection
from endpoints.params.view import read_order, read_view
from profiles.query import ProfileSelection
from projects.profile_types import ProfileType
from tests.examples import examples

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NAMES = (
    *("service", "type", "zone", "version", "label.a", "from", "to", "span", "end"),
    *("weight", "weights", "profile", "metric", "view", "f", "unset"),
)
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["CPU", "now", "1h", "7d", "2026-11-21T09:30:00Z", "show:a", "hide:/b+/", "1..5", "50"]
)


@settings(max_examples=examples(500), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=5), TEXTS), max_size=8))
def test_any_parameters_are_read_or_raise_bad_parameter(pairs: list[tuple[str, str]]) -> None:
    with contextlib.suppress(BadParameter):  # any other exception is a bug
        of = StrictReader(pairs)
        selection = read_selection(of, 1, NOW)
        read_view(of)
        read_order(of)
        of.done()
        assert selection.start < selection.end
        assert selection.service


@pytest.mark.parametrize("query", ["%ff=1", "a=%C3", "a=1;b=2", "+=1"])
def test_unread_parameters_are_rejected(query: str) -> None:
    with pytest.raises(BadParameter):
        parse(query).done()


@pytest.mark.parametrize("query", ["", "&&&"])
def test_empty_query_string_has_no_parameters(query: str) -> None:
    parse(query).done()


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("", -1, 0),
        ("end=now", -1, 0),
        ("span=3h", -3, 0),
        ("end=2026-11-21T10:00:00Z", -3, -2),
        ("end=2026-11-21T10:00:00%2B02:00&span=1h", -5, -4),
        ("from=2026-11-21T10:00:00Z", -2, 0),
        ("from=2026-11-21T08:00:00Z&to=2026-11-21T10:00:00Z", -4, -2),
        ("to=2026-11-21T10:00:00Z", -3, -2),
    ],
)
def test_range_parameters_give_start_and_end(query: str, start: int, end: int) -> None:
    found = read_range(parse(query), NOW).bounds(NOW)
    assert found == (NOW + timedelta(hours=start), NOW + timedelta(hours=end))


def sides(**changes: object) -> tuple[ProfileSelection, ProfileSelection]:
    usual = {"service": "shop", "type": "CPU", "zone": "eu-1", "label.instance": "a"}
    of = parse(urlencode(usual | changes, doseq=True))
    first = read_selection(of, 1, NOW)
    other = of.side("b.")
    second = read_other_side(other, first, NOW)
    other.done()
    of.done()
    return first, second


def test_baseline_equals_the_selected_side_except_for_its_own_parameters() -> None:
    first, second = sides()
    assert first == second
    first, second = sides(**{"b.zone": ["us-1", "us-2"], "b.label.version": "7", "b.weight": "5"})
    assert second.zones == ("us-1", "us-2")
    assert second.labels == (("instance", ("a",)), ("version", ("7",)))
    assert (first.top_percent, second.top_percent) == (None, 5.0)
    assert (second.service, second.type) == ("shop", ProfileType.CPU)


def test_unset_labels_are_empty_values() -> None:
    names = ["version", "zone", "label.instance", "label.pod", "sample.endpoint"]
    first, _ = sides(unset=names)
    assert (first.versions, first.zones) == (("",), ("eu-1", ""))
    assert first.labels == (("instance", ("a", "")), ("pod", ("",)))
    assert first.samples == (("endpoint", ("",)),)


def test_baseline_replaces_unset_labels_by_values_and_values_by_unset_labels() -> None:
    of_first: dict[str, object] = {"unset": ["version", "label.pod"]}
    _, second = sides(**of_first, **{"b.version": "2", "b.unset": "label.instance"})
    assert second.versions == ("2",)
    assert second.labels == (("instance", ("",)), ("pod", ("",)))


def test_baseline_with_one_end_keeps_the_length_of_the_selected_range() -> None:
    span: dict[str, str | list[str]] = {
        "from": "2026-11-21T08:00:00Z",
        "to": "2026-11-21T10:00:00Z",
    }
    _, second = sides(**span, **{"b.end": "2026-11-20T10:00:00Z"})
    assert second.start == NOW - timedelta(hours=28)
    assert second.end == NOW - timedelta(hours=26)
    _, second = sides(**span, **{"b.span": "1h"})
    assert (second.start, second.end) == (NOW - timedelta(hours=3), NOW - timedelta(hours=2))
    _, second = sides(**{"b.from": "2026-11-20T08:00:00Z", "b.to": "2026-11-20T09:00:00Z"})
    assert second.end - second.start == timedelta(hours=1)


@pytest.mark.parametrize("name", ["b.service", "b.type", "b.metric", "b.f", "b.nothing"])
def test_sides_do_not_differ_in_service_type_or_view(name: str) -> None:
    with pytest.raises(BadParameter, match=f"{name}: is unknown here; there are b.span"):
        sides(**{name: "x"})


def test_bad_parameter_of_the_baseline_is_named_with_its_prefix() -> None:
    with pytest.raises(BadParameter, match=r"b\.weight: '0' is no percentage"):
        sides(**{"b.weight": "0"})

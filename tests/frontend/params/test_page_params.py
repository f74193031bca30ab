"""Conversion between URLs and selections."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from endpoints.params.lists import FUNCTION_COLUMNS
from endpoints.params.reader import BadParameter, LenientReader, StrictReader
from endpoints.params.selection import read_selection
from endpoints.params.view import read_view
from frontend.params.formats import next_sort, span_text
from frontend.params.page_params import VIEWS, PageParams, ParsedParams, page_params, read
from profiles.query import FilterOption, Order, Shape, View, ViewFilter
from projects.profile_types import ProfileType

NOW = datetime(2026, 11, 20, 22, 14, 30, tzinfo=UTC)
PAIRS = (
    *(("zone", zone) for zone in ("eu-1", "us-1", "")),
    *(("version", "2"), ("label.a", "x"), ("label.a", ""), ("label.b", "y"), ("profile", "p-1")),
    *(("unset", "zone"), ("unset", "label.a"), ("unset", "zone")),
    *(("from", "2026-11-19T09:30:00Z"), ("to", "2026-11-20T11:30:00Z"), ("to", "now")),
    *(("span", "7d"), ("end", "now"), ("end", "2026-11-20T11:30:00+01:00")),
    *(("weight", "50"), ("weights", "1..5"), ("metric", "cpu"), ("view", "bottomup")),
    *(("f", "show:a"), ("f", "hide:/b+/"), ("focus", "main"), ("root", "00f1e2d3c4b5a697")),
)


def parsed(query: str) -> ParsedParams:
    return read(LenientReader.from_query(QueryDict(query)), NOW)


def read_params(query: str) -> PageParams:
    reading = parsed(query)
    assert reading.notices == ()
    return reading.params


def test_empty_address_selects_the_last_hour() -> None:
    assert read_params("") == PageParams()
    selection = read_params("").selection(7, "shop", ProfileType.CPU, NOW)
    assert (selection.start, selection.end) == (NOW - timedelta(hours=1), NOW)


def test_zones_and_versions_may_be_repeated() -> None:
    assert read_params("zone=a&zone=b&zone=a&zone=").zones == ("a", "b")


def test_from_and_to_give_end_and_span() -> None:
    found = read_params("from=2026-11-20T10:00:00Z&to=2026-11-20T13:20:00%2B01:00")
    assert found.end == datetime(2026, 11, 20, 12, 20, tzinfo=UTC)
    assert found.span == timedelta(hours=2, minutes=20)


def test_range_from_a_start_alone_ends_now() -> None:
    found = read_params("from=2026-11-20T22:00:30Z&to=now")
    assert (found.end, found.span) == (None, timedelta(minutes=14))


def test_time_of_the_picker_counts_only_if_its_end_is_selected() -> None:
    assert read_params("end=now&at=2026-11-20T10:00:00Z").end is None
    assert read_params("end=2026-11-20T10:00").end == datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "query",
    [
        "span=forever",
        "weights=5..4",
        "weights=-1..4",
        "weights=1..99999999999999999999",
        "weights=4",
        "span=0m",
        "span=99999d",
        "end=yesterday",
        "end=9999-12-31T23:59:59Z",
        "end=0001-01-01T00:00:00%2B14:00",
        "type=cpu",
        "sort=colour",
        "colour=purple",
        "frame=zz",
        "weight=0",
        "weight=101",
        "weight=1e1",
        "f=show.x",
        "f=paint:red",
        "view=sideways",
        "root=12",
        "order=random",
    ],
)
def test_invalid_parameter_gets_a_notice_and_its_default(query: str) -> None:
    reading = parsed(query)
    assert reading.params == PageParams()
    (notice,) = reading.notices
    assert notice.startswith(f"“{query.split('=', maxsplit=1)[0]}=")


def test_a_range_that_runs_backwards_keeps_its_end() -> None:
    reading = parsed("from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z")
    assert reading.params == PageParams(end=datetime(2026, 11, 20, tzinfo=UTC))
    assert reading.notices == (
        "A range has to start before it ends. Showing the default length instead.",
    )


def test_texts_are_bounded() -> None:
    assert len(read_params(f"service={'x' * 5000}").service) == 512
    assert len(read_params("&".join(f"zone={i}" for i in range(500))).zones) == 50


@pytest.mark.parametrize(
    ("sort", "column", "link"),
    [
        *[("self", "total", "total"), ("total", "total", "-total"), ("-total", "total", "total")],
        *[("-total", "self", ""), ("-self", "self", ""), ("self", "self", "-self")],
    ],
)
def test_heading_of_the_sorted_column_reverses_the_order(sort: str, column: str, link: str) -> None:
    assert next_sort(sort, column, "self") == link


@given(st.lists(st.sampled_from(PAIRS), max_size=6))
def test_page_and_api_read_the_same_selection(pairs: list[tuple[str, str]]) -> None:
    pairs = [("service", "shop"), ("type", "CPU"), *pairs]
    try:
        api = StrictReader(pairs)
        selection, view = read_selection(api, 7, NOW), read_view(api)
    except BadParameter:
        return
    page = LenientReader(pairs)
    params = page_params(page, NOW)
    assert page.issues == []
    found = params.profile_selection(7, "shop", ProfileType.CPU, NOW)
    assert replace(found, labels=()) == replace(selection, labels=())
    assert dict(found.labels) == dict(selection.labels)
    assert params.build_view(view.metric) == replace(
        view, filters=tuple(dict.fromkeys(view.filters))
    )


def _range(ends: list[int]) -> tuple[int, int]:
    return min(ends), max(ends)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1f"), max_size=20)
times = st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30)).map(
    lambda time: time.replace(microsecond=0, tzinfo=UTC)
)


@given(
    st.builds(
        PageParams,
        service=texts,
        type=st.none() | st.sampled_from(ProfileType),
        zones=st.lists(texts.filter(bool), unique=True, max_size=3).map(tuple),
        versions=st.lists(texts.filter(bool), unique=True, max_size=3).map(tuple),
        weights=st.none()
        | st.lists(st.integers(0, 10**18 - 1), min_size=2, max_size=2).map(_range),
        profile=texts,
        span=st.integers(1, 400 * 86400).map(lambda seconds: timedelta(seconds=seconds)),
        end=st.none() | times,
        labels=st.dictionaries(
            texts.filter(bool),
            st.lists(texts.filter(bool), unique=True, min_size=1, max_size=3).map(tuple),
            max_size=3,
        ).map(lambda labels: tuple(sorted(labels.items()))),
        weight=st.none() | st.sampled_from([0.5, 1.0, 25.0, 100.0]),
        metric=texts,
        filters=st.lists(
            st.builds(
                ViewFilter,
                st.sampled_from(FilterOption),
                st.from_regex(r"[a-z. ]{1,20}", fullmatch=True),
            ),
            unique=True,
            max_size=4,
        ).map(tuple),
        view=st.sampled_from(VIEWS),
        focus=texts,
        root=st.none() | st.integers(0, 2**64 - 1),
        order=st.sampled_from(Order),
        recursion=st.booleans(),
        flip=st.booleans(),
        search=texts,
        sort=st.sampled_from([*FUNCTION_COLUMNS, *(f"-{each}" for each in FUNCTION_COLUMNS)]),
        colour=st.sampled_from(["package", "self", "total"]),
        frame=st.sampled_from(["", "00f1e2d3c4b5a697"]),
        all_rows=st.booleans(),
    )
)
def test_written_parameters_are_read_back_unchanged(params: PageParams) -> None:
    assert read_params(params.parameters()) == params


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600), ("6h", 21600), ("7d", 604800), ("90s", 90)]
)
def test_a_span_is_written_as_it_was_read(text: str, seconds: int) -> None:
    assert read_params(f"span={text}").span == timedelta(seconds=seconds)
    assert span_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize("text", ["100", "0.5", "12.345678", "0.000001", "99.999999"])
def test_a_percentage_is_written_as_it_was_read(text: str) -> None:
    assert read_params(f"weight={text}").weight == float(text)
    assert read_params(read_params(f"weight={text}").parameters()).weight == float(text)


def test_a_range_below_a_second_becomes_one_second() -> None:
    found = read_params("from=2026-11-20T10:00:00Z&to=2026-11-20T10:00:00.3Z")
    assert read_params(found.parameters()).span == timedelta(seconds=1)


@pytest.mark.parametrize("text", ["2000-01-01T00:00:00%2B01:00", "2199-12-31T23:59:59-01:00"])
def test_the_year_of_a_time_counts_in_utc(text: str) -> None:
    assert parsed(f"end={text}").params.end is None


def test_a_time_without_a_zone_is_utc() -> None:
    assert read_params("end=2026-11-20T22:14").end == datetime(2026, 11, 20, 22, 14, tzinfo=UTC)


def test_filters_keep_their_order_and_a_form_adds_one() -> None:
    found = read_params("f=hide:b&f=show:/a|c/&f=hide:b&f=from:main")
    assert [(each.option, each.value) for each in found.filters] == [
        ("hide", "b"),
        ("show", "/a|c/"),
        ("from", "main"),
    ]
    view = read_params(
        "f=hide:b&view=bottomup&focus=main&root=00f1e2d3c4b5a697&order=name"
    ).build_view(None)
    assert view == View(
        filters=(ViewFilter(FilterOption.HIDE, "b"),),
        shape=Shape.BOTTOM_UP,
        focus="main",
        root=0x00F1E2D3C4B5A697,
        order=Order.NAME,
    )


def test_an_expression_that_cannot_be_used_is_explained() -> None:
    reading = parsed("f=show:/a(/&f=show:" + "x" * 501)
    assert reading.params == PageParams()
    assert reading.notices[0].startswith("Invalid regex /a(/")
    assert "at most 500 are allowed" in reading.notices[1]


def test_no_address_has_more_filters_than_a_page_shows() -> None:
    reading = parsed("&".join(f"f=show:{i}" for i in range(40)))
    assert len(reading.params.filters) == 20
    assert reading.notices == ("The address has more than 20 filters; the others were left out.",)


def test_unset_labels_stay_in_the_address() -> None:
    query = "unset=version&unset=label.region&unset=sample.endpoint"
    found = read_params(f"label.region=eu&{query}")
    selection = found.profile_selection(7, "shop", ProfileType.CPU, NOW)
    assert (selection.versions, selection.labels) == (("",), (("region", ("eu", "")),))
    assert selection.samples == (("endpoint", ("",)),)
    assert found.parameters() == f"span=1h&label.region=eu&{query}"


def test_restrictions_to_labels_of_profiles_and_of_samples_are_removed_separately() -> None:
    of_profiles = "zone=a&version=1&label.region=eu&unset=label.pod"
    of_samples = "sample.endpoint=/pay&unset=sample.plan"
    found = read_params(f"{of_profiles}&{of_samples}&weight=5&profile=p-1")
    assert found.drop_profile_labels() == read_params(f"{of_samples}&weight=5&profile=p-1")
    assert found.drop_sample_labels() == read_params(f"{of_profiles}&weight=5&profile=p-1")


def test_any_label_selects_profiles() -> None:
    found = read_params("label.region=eu&label.region=us&label.instance=a7&label.=x&label.empty=")
    assert found.labels == (("instance", ("a7",)), ("region", ("eu", "us")))
    assert found.profile_selection(7, "shop", ProfileType.CPU, NOW).labels == found.labels

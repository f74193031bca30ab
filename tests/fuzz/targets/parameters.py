"""Query parameters of the API and of the pages."""

from datetime import timedelta

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict

from endpoints.errors import BadField, BadRequest
from endpoints.params import reader
from endpoints.params.reader import BadParameter, LenientReader
from endpoints.params.selection import read_other_side, read_selection
from endpoints.params.values import LONGEST_SPAN
from endpoints.params.view import filter_text, parse_filter, read_order, read_view
from frontend.components.charts.time_steps import steps_for
from frontend.pages.breakdown import params as breakdown
from frontend.pages.history import params as history
from frontend.pages.profiles import params as profiles
from frontend.params import page_params
from frontend.params.form_address import form_address
from frontend.params.page_params import PageParams
from frontend.params.view_address import change_address, page_state
from ingest.uploads import requests
from projects.profile_types import ProfileType
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import NOON


def read_api_query(data: bytes) -> None:
    """Read the parameters of a comparison, which has two selections and a view."""
    of = reader.parse(data.decode("latin-1"))
    selection = read_selection(of, 7, NOON)
    view, order = read_view(of), read_order(of)
    other = read_other_side(of.side("b."), selection, NOON)
    of.done()
    for each in (selection, other):
        assert timedelta(0) < each.end - each.start <= LONGEST_SPAN
        assert each.start.utcoffset() == each.end.utcoffset() == timedelta(0)
        texts = [each.service, each.profile, *each.zones, *each.versions]
        texts += [text for name, values in each.labels for text in (name, *values)]
        assert not any("\0" in text for text in texts)
        assert hash(each), "a selection is a key of caches"
    assert hash((view, order))
    assert all(parse_filter(filter_text(option)) == option for option in view.filters)


def read_page_query(data: bytes) -> None:
    """Read the parameters of pages; the addresses that they link to must mean the same."""
    query = QueryDict(data)
    first = page_params.read(LenientReader.from_query(query), NOON).params
    linked = _linked(first)
    assert _linked(linked) == linked
    first.selection(7, "shop", ProfileType.CPU, NOON)
    profiles_page, _ = profiles.read(LenientReader.from_query(query), NOON)
    profiles_page.selection(7, "shop", ProfileType.CPU, NOON)
    _linked(profiles_page.page_params)
    history_page, _ = history.read(LenientReader.from_query(query), NOON)
    steps_for(history_page.params.span)
    _, notices = history.read(LenientReader.from_query(QueryDict(history_page.parameters())), NOON)
    assert not notices, f"the history links to parameters that it rejects: {notices}"
    breakdown_page, _ = breakdown.read(LenientReader.from_query(query), NOON)
    _, notices = breakdown.read(
        LenientReader.from_query(QueryDict(breakdown_page.parameters())), NOON
    )
    assert not notices, f"the breakdown links to parameters that it rejects: {notices}"
    _linked(breakdown_page.only("a"))
    form_address(query).urlencode()
    change_address(page_state(query), "zone", ["eu-1"]).urlencode()


def _linked(page: PageParams) -> PageParams:
    """Return the parameters of an address that a page links to."""
    linked = page_params.read(LenientReader.from_query(QueryDict(page.parameters())), NOON)
    assert not linked.notices, f"a page links to parameters that it rejects: {linked.notices}"
    return linked.params


def read_upload_query(data: bytes) -> None:
    """Read the query string of an upload, which may hold its key."""
    assert len(requests._parse_query(data)) <= 20


_QUERIES = (
    b"service=shop&type=CPU&span=6h&end=now&zone=eu-1&zone=us&version=1&weight=0.5&metric=cpu",
    b"service=shop&type=CPU&from=2026-11-20T12:00:00Z&to=2026-11-20T13:00:00%2B01:00&f=hide:/a%2Bb/",
    b"service=a&type=HEAP&label.instance=a&label.x=&weights=10..20&root=00ff00ff00ff00ff&view=bottomup",
    b"service=a&type=CPU&b.zone=&b.span=1d&b.end=2026-11-20T12:00:00Z&focus=main&group=line&sort=name",
    b"type=WALL&order=name&sort=-total&colour=self&search=%C3%A9&frame=00ff00ff00ff00ff&all=1",
    b"f.option=show&f.value=a&at=2026-11-20T12:00:00Z&end=at&zone=a%1Fb&recursion=folded&profile=x",
)
_TOKENS = (
    *(b"&service=a", b"&type=CPU", b"&span=400d", b"&end=2199-12-31T23:59:59Z", b"&f=from:a"),
    *(b"&from=2000-01-01T00:00:00%2B23:59", b"%00", b"%ff", b"&label.=a", b"&weight=0.000001"),
    *(b"&b.", b"now", b"&f=show:/(a|b)*{1000}/", b"&weights=1..999999999999999999", b"+", b"%"),
    *(b"&to=2026-11-20T12:00:00.4Z", b"&from=2026-11-20T12:00:00Z"),
    *(b"&pick_from=2026-11-20T12:00:00Z&pick_to=2026-11-20T13:00:00.5Z", b"&step=1h", b"&top=5"),
    *(b"&pick_to=2199-01-01T00:00:00Z", b"&function=main", b"&values=percent", b"&page=0~1~a"),
)
TARGETS = (
    FuzzTarget("api-query", read_api_query, (BadParameter,), lambda: _QUERIES, _TOKENS),
    FuzzTarget(
        "page-query",
        read_page_query,
        (BadParameter, SuspiciousOperation),
        lambda: _QUERIES,
        _TOKENS,
    ),
    FuzzTarget(
        "upload-query",
        read_upload_query,
        (BadField, BadRequest),
        lambda: [b"key=fw_a&updateMask=profileBytes,labels", b"a=1&" * 25],
        _TOKENS,
        max_size=1024,
    ),
)

"""Parameters of the profiles page."""

from datetime import UTC, datetime, timedelta

from django.http import QueryDict

from endpoints.params.reader import LenientReader
from endpoints.params.values import LONGEST_SPAN
from frontend.pages.profiles.params import read
from frontend.params import page_params
from frontend.params.formats import precise_time_text

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def picked(span: timedelta) -> LenientReader:
    return LenientReader(
        [("pick_from", precise_time_text(NOON - span)), ("pick_to", precise_time_text(NOON))]
    )


def test_selected_region_is_read_by_other_pages() -> None:
    page, notices = read(picked(LONGEST_SPAN), NOON)
    assert not notices
    linked = page_params.read(
        LenientReader.from_query(QueryDict(page.page_params.parameters())), NOON
    )
    assert (linked.params.span, linked.notices) == (LONGEST_SPAN, ())


def test_a_region_longer_than_any_range_is_left_out() -> None:
    page, notices = read(picked(LONGEST_SPAN + timedelta(seconds=1)), NOON)
    assert page.picked is None
    assert len(notices) == 1

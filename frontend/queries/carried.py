"""Parameters that the links of the navigation carry to other pages: the range, service and type.

A page that opens by such a link shows the range that the page before it showed. A range that ends
now goes on following the clock.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone

from endpoints.params.reader import LenientReader
from endpoints.params.selection import FROM, SPAN, TO, TimeRange, read_range
from frontend.queries.params import PageParams, span_text, time_text

PAGES_OF_PROFILES = frozenset({"flame", "compare", "history", "breakdown", "profiles"})


@dataclass(frozen=True, slots=True)
class Carried:
    """Range, service and type of a page; None or "" if it has none of its own."""

    range: TimeRange | None = None
    service: str = ""
    type: str = ""

    def parameters(self, page: str) -> str:
        """Return the query string for a page, by the name of its URL.

        Only pages of profiles take the service and type: `service` restricts the lists of others.
        The comparison begins anew; without `new` its baseline would be the period before.
        """
        pairs = range_pairs(self.range) if self.range else []
        if page in PAGES_OF_PROFILES:
            pairs = [("service", self.service), ("type", self.type), *pairs]
        if page == "compare" and any(value for _name, value in pairs):
            pairs = [*pairs, ("new", "1")]
        return urlencode([(name, value) for name, value in pairs if value])


def range_pairs(within: TimeRange) -> list[tuple[str, str]]:
    """Return the parameters of a range; `end` is empty for one that ends now."""
    return [("span", span_text(within.span)), ("end", time_text(within.end) if within.end else "")]


def carried_of(params: PageParams) -> Carried:
    """Return what a page passes on; nothing of a snapshot, whose range is over."""
    if params.snapshot:
        return Carried()
    return Carried(params.range, params.service, params.type or "")


def carried_by(request: HttpRequest) -> Carried:
    """Return the range in the URL of a page that has no range of its own, to pass it on."""
    of = LenientReader.of_query(request.GET)
    if not of.has(SPAN, FROM, TO):
        return Carried()
    return Carried(read_range(of, timezone.now()))

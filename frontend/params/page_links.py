"""Links to other pages, and the parameters that the navigation carries there: range and selection.

A page that opens by such a link shows what the page before it showed. A range that ends now goes on
following the clock.
"""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from common.time_text import time_text
from endpoints.params.reader import LenientReader
from endpoints.params.selection import FROM, SPAN, TO, TimeRange, read_range
from frontend.params.formats import span_text
from frontend.params.page_params import SNAPSHOT, PageParams, page_params
from frontend.params.restrictions import PAGES_OF_PROFILES, list_restrictions
from frontend.params.url_parameter import Pair
from projects.models import Project

_PAGES_OF_SNAPSHOTS = ("flame", "compare")


@dataclass(frozen=True, slots=True)
class Carried:
    """Range, service, type and restrictions of a page; empty if it has none of its own."""

    range: TimeRange | None = None
    service: str = ""
    type: str = ""
    restrictions: tuple[Pair, ...] = ()

    def parameters(self, page: str) -> str:
        """Return the query string for a page, by the name of its URL.

        Only pages of profiles take the selection: `service` restricts the lists of others.
        The comparison begins anew; without `new` its baseline would be the period before.
        """
        pairs = range_pairs(self.range) if self.range else []
        names = {name for name, _ in self.restrictions}
        if page in _PAGES_OF_SNAPSHOTS and SNAPSHOT.name in names:
            pairs = [*self.restrictions]  # it has its own service, type and range
        elif page in PAGES_OF_PROFILES:
            selected = [("service", self.service), ("type", self.type)]
            pairs = [*selected, *pairs, *self.restrictions]
        if page == "compare" and any(value for _name, value in pairs):
            pairs = [*pairs, ("new", "1")]
        return urlencode([(name, value) for name, value in pairs if value])

    def service_parameters(self, service: str) -> str:
        """Return the query string of the flame graph of a service.

        Restrictions of this page's service are not those of another one; the range is.
        """
        if service == self.service:
            return self.parameters("flame")
        return replace(self, service=service, type="", restrictions=()).parameters("flame")


def range_pairs(range: TimeRange) -> list[Pair]:
    """Return the parameters of a range; `end` is empty for one that ends now."""
    return [("span", span_text(range.span)), ("end", time_text(range.end) if range.end else "")]


def get_carried(params: PageParams) -> Carried:
    """Return what a page passes on; of a snapshot neither service nor range, which are its own."""
    if params.snapshot:
        return Carried(restrictions=list_restrictions(params))
    return Carried(params.range, params.service, params.type or "", list_restrictions(params))


def read_carried_range(request: HttpRequest) -> Carried:
    """Return the range in the URL of a page without a selection of its own, to pass it on."""
    reader = LenientReader.from_query(request.GET)
    if not reader.has(SPAN, FROM, TO):
        return Carried()
    return Carried(read_range(reader, timezone.now()))


def read_carried(request: HttpRequest) -> Carried:
    """Return the whole selection that the parameters of a request state."""
    reader = LenientReader.from_query(request.GET)
    carried = get_carried(page_params(reader, timezone.now()))
    return carried if reader.has(SPAN, FROM, TO) else replace(carried, range=None)


def flame_url(project: Project, params: PageParams | None = None) -> str:
    """Return the URL of the flame page, with the given parameters."""
    url = reverse("flame", args=[project.project_id])
    return f"{url}?{params.parameters()}" if params else url

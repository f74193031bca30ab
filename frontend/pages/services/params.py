"""URL parameters of the services page."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import TimeRange, read_range
from frontend.params.list_params import FIND, PAGE
from frontend.params.notices import list_replacement_notices
from frontend.params.page_links import range_pairs
from frontend.params.url_parameter import format_parameters, read_parameters, url_parameter

DEFAULT_RANGE = TimeRange(timedelta(days=1))
SORTS: dict[str, Promise] = {
    "name": gettext_lazy("name"),
    "profiles": gettext_lazy("profiles"),
    "cost": gettext_lazy("cost"),
    "last": gettext_lazy("last profile"),
}
SORT = parameter.choice("sort", "Order of the services", [*SORTS])


@dataclass(frozen=True, slots=True)
class ServiceQuery:
    find: str = url_parameter(FIND)
    sort: str = url_parameter(SORT)
    page: int = url_parameter(PAGE)
    range: TimeRange = DEFAULT_RANGE  # of the profiles that the list counts

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on page one unless given."""
        query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        own = [] if self.range == DEFAULT_RANGE else self.range_fields
        return f"?{urlencode([*format_parameters(query), *own])}"

    @property
    def range_fields(self) -> list[tuple[str, str]]:
        """Return names and values of the range, without empty ones."""
        return [(name, value) for name, value in range_pairs(self.range) if value]

    @property
    def range_parameters(self) -> str:
        """Return the range as a query string, also where it is the default."""
        return urlencode(self.range_fields)


def read(reader: LenientReader, now: datetime) -> tuple[ServiceQuery, list[str]]:
    """Read the parameters; return them with a notice for each invalid one."""
    query = read_parameters(ServiceQuery, reader, range=read_range(reader, now, DEFAULT_RANGE))
    return query, list_replacement_notices(reader)

"""URL parameters of the services page."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import TimeRange, read_range
from frontend.queries.carried import range_pairs
from frontend.queries.list_params import FIND, PAGE
from frontend.queries.notices import replacements_of

DEFAULT_RANGE = TimeRange(timedelta(days=1))
SORTS: dict[str, Promise] = {
    "name": gettext_lazy("name"),
    "profiles": gettext_lazy("profiles"),
    "last": gettext_lazy("last profile"),
}
SORT = parameter.choice("sort", "Order of the services", [*SORTS])


@dataclass(frozen=True, slots=True)
class ServiceQuery:
    find: str = ""
    range: TimeRange = DEFAULT_RANGE  # of the profiles that the list counts
    sort: str = SORT.default
    page: int = PAGE.default

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on page one unless given."""
        changed_query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        default = ServiceQuery()
        said = [
            (name, value)
            for name in ("find", "sort", "page")
            if (value := getattr(changed_query, name)) != getattr(default, name)
        ]
        of_range = [] if self.range == DEFAULT_RANGE else self.range_fields
        return f"?{urlencode([*said, *of_range])}"

    @property
    def range_fields(self) -> list[tuple[str, str]]:
        """Return the parameters of the range."""
        return [(name, value) for name, value in range_pairs(self.range) if value]

    @property
    def range_parameters(self) -> str:
        """Return the range as a query string, also where it is the default."""
        return urlencode(self.range_fields)


def read(of: LenientReader, now: datetime) -> tuple[ServiceQuery, list[str]]:
    """Read the parameters; return them with a notice for each invalid one."""
    within = read_range(of, now, DEFAULT_RANGE)
    query = ServiceQuery(of.read(FIND), within, of.read(SORT), of.read(PAGE))
    return query, replacements_of(of)

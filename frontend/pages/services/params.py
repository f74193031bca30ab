"""URL parameters of the services page."""

from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from frontend.queries.list_params import FIND, PAGE
from frontend.queries.notices import replacements_of

SPANS: dict[str, tuple[timedelta, Promise]] = {
    "1h": (timedelta(hours=1), gettext_lazy("hour")),
    "6h": (timedelta(hours=6), gettext_lazy("6 hours")),
    "24h": (timedelta(days=1), gettext_lazy("24 hours")),
    "7d": (timedelta(days=7), gettext_lazy("7 days")),
    "30d": (timedelta(days=30), gettext_lazy("30 days")),
}
SORTS: dict[str, Promise] = {
    "name": gettext_lazy("name"),
    "profiles": gettext_lazy("profiles"),
    "last": gettext_lazy("last profile"),
}
SPAN = parameter.choice("span", "Range whose profiles the list counts", [*SPANS], "24h")
SORT = parameter.choice("sort", "Order of the services", [*SORTS])


@dataclass(frozen=True, slots=True)
class ServiceQuery:
    find: str = ""
    span: str = SPAN.default
    sort: str = SORT.default
    page: int = PAGE.default

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on page one unless given."""
        changed_query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        default = ServiceQuery()
        said = {
            name: value
            for name in ("find", "span", "sort", "page")
            if (value := getattr(changed_query, name)) != getattr(default, name)
        }
        return f"?{urlencode(said)}"


def read(of: LenientReader) -> tuple[ServiceQuery, list[str]]:
    """Read the parameters; return them with a notice for each invalid one."""
    query = ServiceQuery(of.read(FIND), of.read(SPAN), of.read(SORT), of.read(PAGE))
    return query, replacements_of(of)

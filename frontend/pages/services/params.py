"""URL parameters of the services page."""

from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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
_LONGEST = 255


@dataclass(frozen=True, slots=True)
class ServiceQuery:
    find: str = ""
    span: str = "24h"
    sort: str = "name"
    page: int = 1

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


def read(parameters: QueryDict) -> tuple[ServiceQuery, list[str]]:
    """Parse the parameters; return them with a notice for each invalid one."""
    notices: list[str] = []
    query = ServiceQuery(find=parameters.get("find", "").strip()[:_LONGEST])
    for name, allowed in (("span", SPANS), ("sort", SORTS)):
        value = parameters.get(name, getattr(query, name))
        if value in allowed:
            query = replace(query, **{name: value})
        else:
            notices.append(_unread(name, value, getattr(query, name)))
    page = parameters.get("page", "1")
    if page.isascii() and page.isdigit() and int(page[:9]) > 0:
        return replace(query, page=int(page[:9])), notices
    return query, [*notices, _unread("page", page, "1")]


def _unread(name: str, value: str, instead: str) -> str:
    return _("%(name)s=%(value)s could not be read; showing %(instead)s instead.") % {
        "name": name,
        "value": value[:40],
        "instead": instead,
    }

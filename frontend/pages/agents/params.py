"""URL parameters of the agents and deployments pages."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

STATES: dict[str, Promise] = {
    "all": pgettext_lazy("agents", "all"),
    "look": gettext_lazy("Needs attention"),
    "connected": gettext_lazy("Connected"),
    "silent": gettext_lazy("Not reporting"),
}
SHOWN: dict[str, Promise] = {
    "agents": gettext_lazy("Agents"),
    "deployments": gettext_lazy("Deployments"),
}
_LONGEST = 255
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class AgentQuery:
    show: str = "agents"
    find: str = ""
    service: str = ""
    state: str = "all"
    page: int = 1

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on page one unless given."""
        changed_query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        default = AgentQuery()
        said = {
            name: value
            for name in ("show", "find", "service", "state", "page")
            if (value := getattr(changed_query, name)) != getattr(default, name)
        }
        return f"?{urlencode(said)}"

    @property
    def filtered(self) -> bool:
        return bool(self.find or self.service or self.state != "all")


def read(parameters: QueryDict) -> tuple[AgentQuery, list[str]]:
    """Parse the parameters; return them with a notice for each invalid one."""
    notices: list[str] = []
    query = AgentQuery(
        find=_plain(parameters.get("find", "").strip()),
        service=_plain(parameters.get("service", "")),
    )
    for name, allowed in (("show", SHOWN), ("state", STATES)):
        value = parameters.get(name, getattr(query, name))
        if value in allowed:
            query = replace(query, **{name: value})
        else:
            notices.append(_unread(name, value, getattr(query, name)))
    page = parameters.get("page", "1")[:_DIGITS]
    if page.isascii() and page.isdigit() and int(page) > 0:
        return replace(query, page=int(page)), notices
    return query, [*notices, _unread("page", page, "1")]


def _plain(text: str) -> str:
    """Remove NUL, which PostgreSQL rejects in text, and limit the length."""
    return text.replace("\0", "")[:_LONGEST]


def _unread(name: str, value: str, instead: str) -> str:
    return _("%(name)s=%(value)s could not be read; showing %(instead)s instead.") % {
        "name": name,
        "value": value[:40],
        "instead": instead,
    }

"""URL parameters of the agents and deployments pages."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE
from frontend.queries.list_params import FIND, PAGE
from frontend.queries.notices import replacements_of

STATES: dict[str, Promise] = {
    "all": pgettext_lazy("agents", "all"),
    "look": gettext_lazy("Needs attention"),
    "connected": gettext_lazy("Connected"),
    "silent": gettext_lazy("Not reporting"),
}
SHOWN: dict[str, Promise] = {
    "agents": gettext_lazy("Agents"),
    "deployments": gettext_lazy("Deployments"),
    "imports": gettext_lazy("Imports"),
}
FIND_TEXTS: dict[str, Promise] = {
    "agents": gettext_lazy("Find an agent"),
    "deployments": gettext_lazy("Find a deployment"),
    "imports": gettext_lazy("Find an import"),
}
SHOW = parameter.choice("show", "List of the page", [*SHOWN])
STATE = parameter.choice("state", "State of the agents", [*STATES])


@dataclass(frozen=True, slots=True)
class AgentQuery:
    show: str = SHOW.default
    find: str = ""
    service: str = ""
    state: str = STATE.default
    page: int = PAGE.default

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


def read(of: LenientReader) -> tuple[AgentQuery, list[str]]:
    """Read the parameters; return them with a notice for each invalid one."""
    query = AgentQuery(
        show=of.read(SHOW),
        find=of.read(FIND),
        service=of.read(SERVICE),
        state=of.read(STATE),
        page=of.read(PAGE),
    )
    return query, replacements_of(of)

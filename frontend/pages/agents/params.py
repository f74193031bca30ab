"""URL parameters of the agents and deployments pages."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE
from frontend.params.list_params import FIND, PAGE
from frontend.params.notices import list_replacement_notices
from frontend.params.url_parameter import format_parameters, read_parameters, url_parameter

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
    show: str = url_parameter(SHOW)
    find: str = url_parameter(FIND)
    service: str = url_parameter(SERVICE)
    state: str = url_parameter(STATE)
    page: int = url_parameter(PAGE)

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on page one unless given."""
        query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        return f"?{urlencode(format_parameters(query))}"

    @property
    def filtered(self) -> bool:
        return bool(self.find or self.service or self.state != "all")


def read(reader: LenientReader) -> tuple[AgentQuery, list[str]]:
    """Read the parameters; return them with a notice for each invalid one."""
    return read_parameters(AgentQuery, reader), list_replacement_notices(reader)

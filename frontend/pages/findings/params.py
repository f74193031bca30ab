"""URL parameters of the list of findings."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE, TYPE
from findings.listing import FindingFilter, FindingOrder
from findings.models import OPEN_STATES, Direction, FindingState
from frontend.params.list_params import FIND, PAGE
from frontend.params.notices import list_notices
from frontend.params.url_parameter import format_parameters, read_parameters, url_parameter
from projects.profile_types import ProfileType

# Choices of states, by their values in the URL; the first is the default.
STATES: dict[str, str | Promise] = {
    "open": pgettext_lazy("findings", "open"),
    **{state.value: state.label for state in FindingState},
    "all": pgettext_lazy("findings", "all"),
}
ORDERS: dict[str, str | Promise] = {
    FindingOrder.RANK.value: pgettext_lazy("order of findings", "urgency"),
    FindingOrder.CHANGE.value: pgettext_lazy("order of findings", "share of the service"),
    FindingOrder.FOUND.value: pgettext_lazy("order of findings", "newest"),
}
DIRECTION = parameter.choice("direction", "Regressions or improvements", [*Direction.values])
STATE = parameter.choice("state", "State of findings", [*STATES])
SORT = parameter.choice("sort", "Order of findings", [*ORDERS])


@dataclass(frozen=True, slots=True)
class FindingsQuery:
    direction: str = url_parameter(DIRECTION)
    find: str = url_parameter(FIND)
    service: str = url_parameter(SERVICE)
    type: ProfileType | None = url_parameter(TYPE)
    state: str = url_parameter(STATE)
    sort: str = url_parameter(SORT)
    page: int = url_parameter(PAGE)

    def address(self, **changed: str | int) -> str:
        """Return the query string with some parameters changed, on the first page unless given."""
        query = replace(self, **({"page": 1} | changed))  # type: ignore[arg-type]
        return f"?{urlencode(format_parameters(query))}"

    @property
    def is_filtered(self) -> bool:
        return bool(self.find or self.service or self.type or self.state != "open")

    @property
    def shows_improvements(self) -> bool:
        return self.direction == Direction.IMPROVEMENT

    def build_filter(self) -> FindingFilter:
        states: tuple[FindingState, ...] = ()
        if self.state == "open":
            states = OPEN_STATES
        elif self.state != "all":
            states = (FindingState(self.state),)
        return FindingFilter(
            direction=Direction(self.direction),
            states=states,
            service=self.service,
            type=self.type or "",
            function=self.find,
        )


def read_findings_query(reader: LenientReader) -> tuple[FindingsQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one, which is left out."""
    return read_parameters(FindingsQuery, reader), list_notices(reader)

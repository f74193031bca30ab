"""URL parameters of a comparison: its two sides, and how they are shown.

The selected side uses the parameter names of every page; the same names prefixed with `b.`
override them for the baseline. Without any override, the baseline is the range of the same length
just before the selected one.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import parse_qs, urlencode

from endpoints.params import parameter
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import (
    END,
    FROM,
    LABEL,
    SAMPLE,
    SPAN,
    TO,
    UNSET,
    VERSION,
    WEIGHT,
    WEIGHTS,
    ZONE,
)
from frontend.params.notices import list_notices
from frontend.params.page_params import (
    DEFAULT_VIEW,
    FLAME_PAGE_NAMES,
    LIST_VIEW,
    SEARCH,
    SNAPSHOT,
    PageParams,
    page_params,
)
from frontend.params.restrictions import restrict
from frontend.params.url_parameter import (
    declare_dependents,
    format_parameters,
    read_parameters,
    url_flag,
    url_parameter,
)

PREFIX = "b."
_RANGE = frozenset({SPAN.name, END.name, FROM.name, TO.name})
# Parameters that may differ; service, type, metric and filters are shared by both sides.
_OVERRIDDEN = _RANGE | {
    *(ZONE.name, VERSION.name, UNSET.name, WEIGHT.name, WEIGHTS.name, SNAPSHOT.name)
}
SORTS = ("total", "self", "name")
VIEWS = ("difference", "sides", LIST_VIEW)

SIDE = Parameter(
    "side",
    "How the two sides are shown",
    lambda text: text if text in VIEWS else VIEWS[0],
    VIEWS[0],
)
RELATIVE = "relative"
VALUES = parameter.choice(
    "values", "`relative` shows shares instead of values", ("absolute", RELATIVE)
)
SORT = parameter.sort("sort", "Column that sorts the changes", SORTS)
NEW = parameter.flag("new", "`1` leads to a new comparison, whose sides have the same range")
# The graph checks the id itself.
FRAME = parameter.text("frame", "Id of the node that the graph zooms to", 16)


declare_dependents([f"{PREFIX}{each.name}" for each in (ZONE, VERSION, UNSET)], ["service"])
declare_dependents([f"{PREFIX}{each.name}" for each in (WEIGHT, WEIGHTS)], ["type"])


@dataclass(frozen=True, slots=True)
class CompareQuery:
    baseline: PageParams
    selected: PageParams
    before: bool  # the baseline is the range of the same length just before the selected one
    view: str = url_parameter(SIDE)
    # shares of each side's total instead of values
    relative: bool = url_parameter(VALUES, default=False, format=lambda _: RELATIVE)
    real: bool = url_flag("real", "`1` shows significant changes only")
    sort: str = url_parameter(SORT)
    all_rows: bool = url_flag("all", "`1` shows every row of the list of changes")
    search: str = url_parameter(SEARCH)

    def parameters(self) -> str:
        return "&".join(filter(None, [self.side_parameters(), self.display_parameters()]))

    def display_parameters(self) -> str:
        """Return the parameters that affect only how the page shows the compared data."""
        return urlencode(format_parameters(self))

    def side_parameters(self) -> str:
        """Return the parameters that define the compared data."""
        both = self.selected.parameters()
        return both if self.before else f"{both}&{self._overrides()}"

    def swap_sides(self) -> "CompareQuery":
        return replace(self, baseline=self.selected, selected=self.baseline, before=False)

    @property
    def fixed(self) -> bool:
        """Return whether neither side follows the current time."""
        return bool(self.baseline.end and self.selected.end)

    @property
    def unrooted(self) -> "CompareQuery":
        baseline, selected = (replace(side, root=None) for side in (self.baseline, self.selected))
        return replace(self, baseline=baseline, selected=selected)

    def _overrides(self) -> str:
        """Return the overrides of the baseline.

        A parameter that only the selected side has is empty. There is always one: without any, the
        baseline would be the range before.
        """
        selected, baseline = _group_values(self.selected), _group_values(self.baseline)
        names = [
            name
            for name in dict.fromkeys([*selected, *baseline])
            if _differs(name) and selected.get(name) != baseline.get(name)
        ]
        said = []
        for name in names or [END.name]:
            nothing = "now" if name == END.name else ""
            said += [(f"{PREFIX}{name}", value) for value in baseline.get(name, [nothing])]
        return urlencode(said)


def read(reader: LenientReader, now: datetime) -> tuple[CompareQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = page_params(reader.without(*FLAME_PAGE_NAMES), now)
    selected = _plain(params)
    own = {name.removeprefix(PREFIX) for name in reader.names if name.startswith(PREFIX)}
    before = not any(_differs(name) for name in own)
    baseline = replace(selected, end=(selected.end or now) - selected.span)
    if not before:
        baseline = _plain(page_params(_baseline_reader(reader, selected, own), now))
    query = read_parameters(
        CompareQuery,
        reader,
        baseline=baseline,
        selected=selected,
        before=before,
        relative=reader.read(VALUES) == RELATIVE,
        search=params.search,
    )
    return query, list_notices(reader)


def _baseline_reader(reader: LenientReader, selected: PageParams, own: set[str]) -> LenientReader:
    """Return the selected side's parameters with the overrides of the baseline applied.

    Values of a label also override that the selected side has none of it.
    """
    parameters = _group_values(selected)
    parameters[UNSET.name] = [name for name in parameters.get(UNSET.name, ()) if name not in own]
    if {FROM.name, TO.name} & own:
        parameters = {name: found for name, found in parameters.items() if name not in _RANGE}
    overrides = {name: reader.all(f"{PREFIX}{name}") for name in own if _differs(name)}
    return reader.replace_values(parameters | overrides)


def _plain(params: PageParams) -> PageParams:
    """Return the parameters without those that only the flame page uses."""
    return replace(restrict(params.data_params(), "compare"), view=DEFAULT_VIEW)


def _group_values(params: PageParams) -> dict[str, list[str]]:
    return parse_qs(params.parameters(), keep_blank_values=True)


def _differs(name: str) -> bool:
    return name in _OVERRIDDEN or name.startswith((LABEL.prefix, SAMPLE.prefix))

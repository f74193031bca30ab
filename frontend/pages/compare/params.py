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
from frontend.queries.notices import notices_of
from frontend.queries.params import (
    ALL_ROWS,
    DEFAULT_VIEW,
    OTHER_MEANINGS,
    SNAPSHOT,
    PageParams,
    page_params,
)
from frontend.queries.restrictions import restrict

PREFIX = "b."
_RANGE = frozenset({SPAN.name, END.name, FROM.name, TO.name})
# Parameters that may differ; service, type, metric and filters are shared by both sides.
_OVERRIDDEN = _RANGE | {
    *(ZONE.name, VERSION.name, UNSET.name, WEIGHT.name, WEIGHTS.name, SNAPSHOT.name)
}
SORTS = ("total", "self", "name")
VIEWS = ("difference", "sides", "list")

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
REAL = parameter.flag("real", "`1` shows significant changes only")
SORT = parameter.sort("sort", "Column that sorts the changes", SORTS)
NEW = parameter.flag("new", "`1` leads to a new comparison, whose sides have the same range")
# The graph checks the id itself.
FRAME = parameter.text("frame", "Id of the node that the graph zooms to", 16)


@dataclass(frozen=True, slots=True)
class CompareQuery:
    baseline: PageParams
    selected: PageParams
    before: bool  # the baseline is the range of the same length just before the selected one
    view: str = VIEWS[0]
    relative: bool = False  # shares of each side's total instead of values
    real: bool = False  # only significant changes
    sort: str = SORTS[0]
    reverse: bool = False
    all_rows: bool = False
    search: str = ""

    def parameters(self) -> str:
        return "&".join(filter(None, [self.of_sides(), self.of_page()]))

    def of_page(self) -> str:
        """Return the parameters that affect only how the page shows the compared data."""
        own = [
            ("side", self.view if self.view != VIEWS[0] else ""),
            ("values", RELATIVE if self.relative else ""),
            ("real", "1" if self.real else ""),
            ("sort", self.sort_text),
            ("all", "1" if self.all_rows else ""),
            ("search", self.search),
        ]
        return urlencode([(name, value) for name, value in own if value])

    def of_sides(self) -> str:
        """Return the parameters that define the compared data."""
        both = self.selected.parameters()
        return both if self.before else f"{both}&{self._overrides()}"

    def swapped(self) -> "CompareQuery":
        return replace(self, baseline=self.selected, selected=self.baseline, before=False)

    @property
    def fixed(self) -> bool:
        """Return whether neither side follows the current time."""
        return bool(self.baseline.end and self.selected.end)

    @property
    def unrooted(self) -> "CompareQuery":
        baseline, selected = (replace(side, root=None) for side in (self.baseline, self.selected))
        return replace(self, baseline=baseline, selected=selected)

    def sorted_by(self, column: str) -> "CompareQuery":
        return replace(self, sort=column, reverse=self.sort == column and not self.reverse)

    @property
    def sort_text(self) -> str:
        """Return the value of the `sort` parameter; "" for the default."""
        if self.reverse:
            return f"-{self.sort}"
        return self.sort if self.sort != SORTS[0] else ""

    def _overrides(self) -> str:
        """Return the overrides of the baseline.

        A parameter that only the selected side has is empty. There is always one: without any, the
        baseline would be the range before.
        """
        selected, baseline = _grouped(self.selected), _grouped(self.baseline)
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


def read(of: LenientReader, now: datetime) -> tuple[CompareQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = page_params(of.without(*OTHER_MEANINGS), now)
    selected = _plain(params)
    own = {name.removeprefix(PREFIX) for name in of.names if name.startswith(PREFIX)}
    before = not any(_differs(name) for name in own)
    baseline = replace(selected, end=(selected.end or now) - selected.span)
    if not before:
        baseline = _plain(page_params(_of_baseline(of, selected, own), now))
    sort = of.read(SORT)
    query = CompareQuery(
        baseline=baseline,
        selected=selected,
        before=before,
        view=of.read(SIDE),
        relative=of.read(VALUES) == RELATIVE,
        real=of.read(REAL),
        sort=sort.removeprefix("-"),
        reverse=sort.startswith("-"),
        all_rows=of.read(ALL_ROWS),
        search=params.search,
    )
    return query, notices_of(of)


def _of_baseline(of: LenientReader, selected: PageParams, own: set[str]) -> LenientReader:
    """Return the selected side's parameters with the overrides of the baseline applied.

    Values of a label also override that the selected side has none of it.
    """
    parameters = _grouped(selected)
    parameters[UNSET.name] = [name for name in parameters.get(UNSET.name, ()) if name not in own]
    if {FROM.name, TO.name} & own:
        parameters = {name: found for name, found in parameters.items() if name not in _RANGE}
    overrides = {name: of.all(f"{PREFIX}{name}") for name in own if _differs(name)}
    return of.replaced(parameters | overrides)


def _plain(params: PageParams) -> PageParams:
    """Return the parameters without those that only the flame page uses."""
    return replace(restrict(params.of_the_data(), "compare"), view=DEFAULT_VIEW)


def _grouped(params: PageParams) -> dict[str, list[str]]:
    return parse_qs(params.parameters(), keep_blank_values=True)


def _differs(name: str) -> bool:
    return name in _OVERRIDDEN or name.startswith((LABEL.prefix, SAMPLE.prefix))

"""URL parameters of a comparison: its two sides, and how they are shown.

Side A uses the parameter names of every page; the same names prefixed with `b.` override them for
side B. Without any override, B is the range of the same length just before A.
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
    PageParams,
    page_params,
)

PREFIX = "b."
_RANGE = frozenset({SPAN.name, END.name, FROM.name, TO.name})
# Parameters that may differ; service, type, metric and filters are shared by both sides.
_OVERRIDDEN = _RANGE | {ZONE.name, VERSION.name, WEIGHT.name, WEIGHTS.name}
SORTS = ("total", "self", "name")
VIEWS = ("difference", "sides", "list")

SIDE = Parameter(
    "side",
    "How the two sides are shown",
    lambda text: text if text in VIEWS else VIEWS[0],
    VIEWS[0],
)
ABSOLUTE = parameter.flag("values", "`absolute` shows values instead of shares", "absolute")
REAL = parameter.flag("real", "`1` shows significant changes only")
SORT = parameter.sort("sort", "Column that sorts the changes", SORTS)
# The graph checks the id itself.
FRAME = parameter.text("frame", "Id of the node that the graph zooms to", 16)


@dataclass(frozen=True, slots=True)
class CompareQuery:
    a: PageParams
    b: PageParams
    before: bool  # B is the range of the same length just before A, and follows it
    view: str = VIEWS[0]
    absolute: bool = False
    real: bool = False  # only significant changes
    sort: str = SORTS[0]
    reverse: bool = False
    all_rows: bool = False
    search: str = ""

    def parameters(self) -> str:
        own = [
            ("side", self.view if self.view != VIEWS[0] else ""),
            ("values", "absolute" if self.absolute else ""),
            ("real", "1" if self.real else ""),
            ("sort", self.sort_text),
            ("all", "1" if self.all_rows else ""),
            ("search", self.search),
        ]
        said = [(name, value) for name, value in own if value]
        return "&".join(filter(None, [self.of_sides(), urlencode(said)]))

    def of_sides(self) -> str:
        """Return the parameters that define the compared data."""
        both = self.a.parameters()
        return both if self.before else "&".join(filter(None, [both, self._overrides()]))

    def swapped(self) -> "CompareQuery":
        return replace(self, a=self.b, b=self.a, before=False)

    @property
    def fixed(self) -> bool:
        """Return whether neither side follows the current time."""
        return bool(self.a.end and self.b.end)

    @property
    def unrooted(self) -> "CompareQuery":
        return replace(self, a=replace(self.a, root=None), b=replace(self.b, root=None))

    def sorted_by(self, column: str) -> "CompareQuery":
        return replace(self, sort=column, reverse=self.sort == column and not self.reverse)

    @property
    def sort_text(self) -> str:
        """Return the value of the `sort` parameter; "" for the default."""
        if self.reverse:
            return f"-{self.sort}"
        return self.sort if self.sort != SORTS[0] else ""

    def _overrides(self) -> str:
        """Return the overrides of B; a parameter that only A has is empty."""
        a, b = _grouped(self.a), _grouped(self.b)
        said = []
        for name in dict.fromkeys([*a, *b]):
            if _differs(name) and a.get(name) != b.get(name):
                nothing = "now" if name == "end" else ""
                said += [(f"{PREFIX}{name}", value) for value in b.get(name, [nothing])]
        return urlencode(said)


def read(of: LenientReader, now: datetime) -> tuple[CompareQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = page_params(of.without(*OTHER_MEANINGS), now)
    a = _plain(params)
    own = {name.removeprefix(PREFIX) for name in of.names if name.startswith(PREFIX)}
    before = not any(_differs(name) for name in own)
    b = replace(a, end=(a.end or now) - a.span)
    if not before:
        b = _plain(page_params(_of_b(of, a, own), now))
    sort = of.read(SORT)
    query = CompareQuery(
        a=a,
        b=b,
        before=before,
        view=of.read(SIDE),
        absolute=of.read(ABSOLUTE),
        real=of.read(REAL),
        sort=sort.removeprefix("-"),
        reverse=sort.startswith("-"),
        all_rows=of.read(ALL_ROWS),
        search=params.search,
    )
    return query, notices_of(of)


def _of_b(of: LenientReader, a: PageParams, own: set[str]) -> LenientReader:
    """Return A's parameters with the overrides of B applied."""
    parameters = _grouped(a)
    if {FROM.name, TO.name} & own:
        parameters = {name: found for name, found in parameters.items() if name not in _RANGE}
    overrides = {name: of.all(f"{PREFIX}{name}") for name in own if _differs(name)}
    return of.replaced(parameters | overrides)


def _plain(params: PageParams) -> PageParams:
    """Return the parameters without those that only the flame page uses."""
    return replace(params.of_the_data(), view=DEFAULT_VIEW, focus="", profile="")


def _grouped(params: PageParams) -> dict[str, list[str]]:
    return parse_qs(params.parameters(), keep_blank_values=True)


def _differs(name: str) -> bool:
    return name in _OVERRIDDEN or name.startswith((LABEL.prefix, SAMPLE.prefix))

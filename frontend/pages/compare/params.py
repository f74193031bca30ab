"""URL parameters of a comparison: its two sides, and how they are shown.

Side A uses the parameter names of every page; the same names prefixed with `b.` override them for
side B. Without any override, B is the range of the same length just before A.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from frontend.queries.params import DEFAULT_VIEW, PageParams, without
from frontend.queries.params import read as read_asked

PREFIX = "b."
# Parameters that may differ; service, type, metric and filters are shared by both sides.
_OVERRIDDEN = ("zone", "version", "span", "end", "from", "to", "weight", "weights")
_LABEL = "label."
_RANGE = {"span", "end", "from", "to"}
SORTS = ("total", "self", "name")
VIEWS = ("difference", "sides", "list")


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


def read(query: QueryDict, now: datetime) -> tuple[CompareQuery, tuple[str, ...]]:
    """Parse the parameters; return them with a notice for each invalid one."""
    reading = read_asked(without(query, "sort", "frame", "all"), now)
    a = _plain(reading.params)
    own = {name.removeprefix(PREFIX) for name in query if name.startswith(PREFIX)}
    before = not any(_differs(name) for name in own)
    unread: tuple[str, ...] = ()
    b = replace(a, end=(a.end or now) - a.span)
    if not before:
        of_b = read_asked(_of_b(query, a, own), now)
        b, unread = _plain(of_b.params), of_b.notices
    order, unordered = _order(query.get("sort", ""))
    return CompareQuery(
        a=a,
        b=b,
        before=before,
        view=query.get("side", "") if query.get("side", "") in VIEWS else VIEWS[0],
        absolute=query.get("values") == "absolute",
        real=query.get("real") == "1",
        sort=order.removeprefix("-"),
        reverse=order.startswith("-"),
        all_rows=query.get("all") == "1",
        search=reading.params.search,
    ), (*reading.notices, *unread, *unordered)


def _order(text: str) -> tuple[str, tuple[str, ...]]:
    if not text or text.removeprefix("-") in SORTS:
        return text or SORTS[0], ()
    sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
    return SORTS[0], (sentence % {"name": "sort", "value": text[:60]},)


def _of_b(query: QueryDict, a: PageParams, own: set[str]) -> QueryDict:
    """Return A's parameters with the overrides of B applied."""
    parameters = QueryDict(a.parameters(), mutable=True)
    if {"from", "to"} & own:
        for name in _RANGE & parameters.keys():
            del parameters[name]
    for name in own:
        if _differs(name):
            parameters.setlist(name, query.getlist(f"{PREFIX}{name}"))
    return parameters


def _plain(params: PageParams) -> PageParams:
    """Return the parameters without those that only the flame page uses."""
    return replace(params.of_the_data(), view=DEFAULT_VIEW, focus="", profile="")


def _grouped(params: PageParams) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(params.parameters(), keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return found


def _differs(name: str) -> bool:
    return name in _OVERRIDDEN or name.startswith(_LABEL)

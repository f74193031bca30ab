"""Results of queries, one frozen class for each kind of query."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.peek import Peek
from profiles.engine.calltree.preorder_columns import depths
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.queries.result_codec import encodable, encodable_row
from profiles.queries.selection import Grouping, ProfileSelection, Selection, View
from projects.profile_types import ProfileType

_LARGE = 200  # a function's total is large from this part of all values: half a percent


@encodable
@dataclass(frozen=True, slots=True)
class TreeResult:
    """Call tree of a view, summed over the matching profiles."""

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]  # all metrics that the view may choose
    coverage: Coverage
    tree: Tree  # one metric; sums over the profiles
    # By index of a node: (number, total) of the nodes below it that folding removed.
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order

    @property
    def levels(self) -> int:
        """Return the number of levels, with one below a node for what folding removed there."""
        return _levels(self.tree, self.folded)

    @property
    def drawn_total(self) -> int:
        """Return the total of all roots, after the view's filters."""
        return int(self.tree.self.sum()) + sum(total for _, total in self.folded.values())


@encodable_row
@dataclass(frozen=True, slots=True)
class FunctionRow:
    """Function in a list, with sums over the matching profiles."""

    name: str
    file: str
    self: int
    total: int  # recursion counted once
    count: int  # distinct stacks that reach it


@encodable
@dataclass(frozen=True, slots=True)
class TopResult:
    """List of the functions of a view."""

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    rows: tuple[FunctionRow, ...]  # by self, then total, then name
    # Σ before the view's filters; less than the coverage's if the selection has sample labels
    selected_total: int

    @property
    def rows_for_packages(self) -> list[FunctionRow]:
        """Return the rows with a self value or a large total, which decide colours of packages."""
        large = max(1, sum(row.self for row in self.rows) // _LARGE)
        return [row for row in self.rows if row.self or row.total >= large]


@encodable
@dataclass(frozen=True, slots=True)
class FocusResult:
    """Callers and callees of one function, summed over its call sites.

    Both trees have the function as root, with equal totals. There is a root for each file that
    has a function of this name, so rarely more than one.
    """

    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    row: FunctionRow | None  # None: no selected stack reaches it
    callers: Tree  # inverted
    callees: Tree
    peek: Peek
    callers_folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # see TreeResult
    callees_folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    callers_highlighted: tuple[int, ...] = ()
    callees_highlighted: tuple[int, ...] = ()

    @property
    def levels_of_callers(self) -> int:
        """Return the number of levels of `callers`, counted as by `TreeResult.levels`."""
        return _levels(self.callers, self.callers_folded)

    @property
    def levels_of_callees(self) -> int:
        """Return the number of levels of `callees`, counted as by `TreeResult.levels`."""
        return _levels(self.callees, self.callees_folded)


@dataclass(frozen=True, slots=True)
class LineRow:
    """Source line of a function, with sums over the matching profiles."""

    line: int  # 0 where unknown
    self: int
    total: int  # recursion counted once


@dataclass(frozen=True, slots=True)
class LinesResult:
    """Costs of the lines of one function, in order of line number."""

    selection: Selection
    metric: Metric
    coverage: Coverage
    name: str
    file: str
    rows: tuple[LineRow, ...]
    drawn_total: int  # Σ of all functions, after the view's filters


@encodable
@dataclass(frozen=True, slots=True)
class Intervals:
    """Confidence intervals of differences of per-profile mean totals; each array is [N].

    NaN where nothing was tested: a side has too few profiles, or too few profiles have the node.
    """

    low: NDArray[np.float64]  # 95 %
    high: NDArray[np.float64]
    q: NDArray[np.float64]  # false discovery rate over all tested nodes


@encodable_row
class FunctionChange(NamedTuple):
    """Function on both sides, with sums over the profiles and an interval as in Intervals.

    `a` is the selected side, `b` the baseline; the names are those of the query API.
    """

    name: str
    file: str
    a_self: int
    a_total: int
    b_self: int
    b_total: int
    low: float | None  # bound of the difference of mean totals; None: not tested
    high: float | None
    q: float | None
    real: bool  # significant: q is at most profiles.engine.stats.significance.REAL


@encodable
@dataclass(frozen=True, slots=True)
class TotalChange:
    """Totals of all nodes of both sides, with an interval and names as in FunctionChange."""

    a_total: int
    b_total: int
    low: float | None
    high: float | None
    q: float | None
    real: bool


@encodable
class UntestedReason(StrEnum):
    SNAPSHOT = "snapshot"
    SAMPLE_LABELS = "sample_labels"
    TOO_MANY_VALUES = "too_many_values"
    FEW_PROFILES = "few_profiles"


@encodable
@dataclass(frozen=True, slots=True)
class Untested:
    """Reason for which a comparison has no tests of significance, and so no intervals.

    The text is the sentence of the query API.
    """

    reason: UntestedReason
    # TOO_MANY_VALUES: values of individual profiles that the view needs, at least, and the limit;
    # FEW_PROFILES: profiles of the smaller side, and the least number that a test needs.
    found: int = 0
    limit: int = 0

    def __str__(self) -> str:
        match self.reason:
            case UntestedReason.SNAPSHOT:
                return "No intervals: a snapshot has the sums of its profiles only."
            case UntestedReason.SAMPLE_LABELS:
                return "No intervals: samples selected by their labels are not tested."
            case UntestedReason.TOO_MANY_VALUES:
                return (
                    f"No intervals: this view needs {self.found:,} or more values of individual "
                    f"profiles, and the limit is {self.limit:,}. Select fewer profiles."
                )
            case UntestedReason.FEW_PROFILES:
                return (
                    f"No intervals: each side needs {self.limit:,} profiles or more, and one has "
                    f"{self.found:,}."
                )


@encodable
@dataclass(frozen=True, slots=True)
class CompareResult:
    """Comparison of two selections of one project, service and type.

    Pairs are the selected side and its baseline; difference = selected - baseline.
    """

    selections: tuple[Selection, Selection]
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverages: tuple[Coverage, Coverage]
    tree: Tree  # every node of either side; `self` is [2, N]: sums of the sides
    intervals: Intervals | None  # by node of the tree
    untested: Untested | None  # None if there are intervals
    whole: TotalChange  # of all nodes, before folding
    functions: tuple[FunctionChange, ...]  # the largest absolute difference of means first
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # see TreeResult; both sides
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """Time step of a history, with sums over its profiles."""

    start: datetime
    profiles: int
    total: int  # Σ of the metric, after filters
    duration_ns: int  # Σ


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Sums of a function in each step; recursion counted once."""

    name: str
    file: str
    self: tuple[int, ...]
    total: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VersionSpan:
    """Version of the service, with the times of its first and last profile in the range."""

    version: str
    first: datetime
    last: datetime
    profiles: int


@encodable
@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Profiles between two times."""

    first: int  # µs since 1970
    last: int
    profiles: int


@encodable
@dataclass(frozen=True, slots=True)
class SeriesSums:
    """Sums of a history by time step, before its view."""

    tree: Tree  # its metrics are the steps
    stats: list[ScanStats]  # by step
    deployments: dict[int, TimeSpan]  # by Deployment.pk

    def coverage(self) -> Coverage:
        whole = ScanStats()
        for stats in self.stats:
            whole.add(stats)
        return whole.coverage()


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """Costs of functions by time step, with the versions that ran in the range."""

    selection: ProfileSelection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    step_seconds: float
    steps: tuple[HistoryStep, ...]  # equal, without gaps; the first may begin before the range
    lines: tuple[HistoryLine, ...]  # the requested functions, or the top ones by self value
    versions: tuple[VersionSpan, ...]  # in order of first profile


@encodable
@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums by group and time step, before groups are named; X cells with a value."""

    keys: tuple[int | str | None, ...]  # of each of the G groups
    profiles: tuple[int, ...]  # [G]
    duration_ns: tuple[int, ...]  # [G], Σ
    group: NDArray[np.int64]  # [X]
    step: NDArray[np.int64]  # [X]
    total: NDArray[np.int64]  # [X]
    step_profiles: NDArray[np.int64]  # [T]
    step_duration_ns: NDArray[np.int64]  # [T], Σ
    stats: ScanStats


@dataclass(frozen=True, slots=True)
class GroupSeries:
    """Sums of one value of a label, over the range and by time step."""

    value: str | None  # None: profiles or samples without the label
    total: int
    totals: tuple[int, ...]  # by step
    profiles: int | None  # None for a sample label: a profile has samples of many values
    duration_ns: int | None  # Σ


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Sums of a metric by time step, for each value of a label."""

    selection: ProfileSelection
    view: View
    group_by: Grouping | None
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    step_seconds: float
    steps: tuple[HistoryStep, ...]  # equal, without gaps; the first may begin before the range
    values: tuple[GroupSeries, ...]  # the greatest total first
    other: GroupSeries | None  # sum of all other values; None without any
    other_values: int  # number of values in `other`


@dataclass(frozen=True, slots=True)
class HeatMapResult:
    """Number of profiles by time and weight."""

    selection: ProfileSelection
    metric: Metric
    coverage: Coverage
    starts: tuple[datetime, ...]  # [T], equal steps
    step_seconds: float
    edges: tuple[float, ...]  # [W + 1], bounds of the weight bins, ascending
    counts: tuple[tuple[int, ...], ...]  # [W][T]


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """Service in the list of a project's services."""

    service: str
    types: tuple[ProfileType, ...]
    versions: tuple[str, ...]  # newest first
    zones: tuple[str, ...]
    profiles: int  # in the range
    last_profile: datetime | None  # latest of all, not only in the range


@dataclass(frozen=True, slots=True)
class ServiceName:
    """Service as an entry of a menu."""

    service: str
    types: tuple[ProfileType, ...]
    last_seen: datetime  # latest of its deployments


@dataclass(frozen=True, slots=True)
class ServiceSearchResult:
    names: tuple[str, ...]  # at most as many as the query allows
    found: int  # all services that match


@dataclass(frozen=True, slots=True)
class ServicesResult:
    rows: tuple[ServiceRow, ...]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Mean weights of a service and type over a range, in equal steps."""

    profiles: float  # fractional: a summary step that the range cuts counts proportionally
    weight: float  # Σ of the type's default metric
    duration_ns: float  # Σ
    steps: tuple[float | None, ...]  # mean weight of the step's profiles; None without any


@dataclass(frozen=True, slots=True)
class MenuChoice:
    """Value in a menu of the picker."""

    value: str
    profiles: int  # in the range


@dataclass(frozen=True, slots=True)
class WeightChoice:
    """Weights of the top `percent` of the profiles, from `lowest` to `highest`."""

    percent: float
    profiles: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class OptionsResult:
    """Choices in the picker's menus; each menu ignores what the other menus have selected."""

    zones: tuple[MenuChoice, ...]  # of the service and type within the range, as all menus
    versions: tuple[MenuChoice, ...]
    labels: dict[str, tuple[MenuChoice, ...]]
    weights: tuple[WeightChoice, ...]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class StripStep:
    """Time step of a strip."""

    start: datetime
    profiles: int
    total: float  # Σ of the metric
    duration_ns: int  # Σ


@dataclass(frozen=True, slots=True)
class StripResult:
    """Profiles over time, in equal steps without gaps from the selection's start."""

    selection: ProfileSelection
    step_seconds: float
    metric: Metric
    coverage: Coverage
    steps: tuple[StripStep, ...]


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Profile in a list; `zone` and `version` are empty if its deployment has been deleted."""

    name_id: str
    time: datetime
    duration_ns: int
    zone: str
    version: str
    weight: int
    labels: dict[str, str]
    agent: str


@dataclass(frozen=True, slots=True)
class ProfileValuesResult:
    """Time and value of P profiles, grouped by the values of labels; each array is int64 [P]."""

    selection: ProfileSelection
    metric: Metric
    coverage: Coverage  # reports unreadable profiles only
    time: NDArray[np.int64]  # µs since 1970
    value: NDArray[np.int64]
    group: NDArray[np.int64]  # index of `groups`
    groups: tuple[tuple[str, ...], ...]  # values of the labels; "" for a label that is absent


class StoredTimes(NamedTuple):
    """Times of the first and last stored profile; None without any."""

    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ProfilesResult:
    """Page of a list of profiles."""

    selection: ProfileSelection
    coverage: Coverage  # of all pages
    rows: tuple[ProfileRow, ...]
    next_page: str | None  # parameter `page` of the next page; None on the last one


def _levels(tree: Tree, folded: dict[int, tuple[int, int]]) -> int:
    depth = depths(tree.parent)
    below = 1 + depth[list(folded)]
    return 1 + max(int(each.max(initial=-1)) for each in (depth, below))

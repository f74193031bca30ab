"""What is answered: one frozen type for each kind of question."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.peek import Peek
from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.queries.selection import Selection, View
from projects.profile_types import ProfileType


class Reason(StrEnum):
    """Why profiles that match are not in an answer."""

    UNREADABLE = "unreadable"
    NO_METRIC = "no_metric"


@dataclass(frozen=True, slots=True)
class Missing:
    """Matching profiles that are left out, and why."""

    start: datetime
    end: datetime
    why: str
    profiles: int  # of a block whose profiles cannot be told: all that it has
    reason: Reason


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an answer was made of."""

    profiles: int  # how many were used
    total: int  # Σ of the metric over them, before filters
    duration_ns: int  # Σ of their durations
    first: datetime | None  # time of the earliest profile used
    last: datetime | None
    missing: tuple[Missing, ...] = ()

    @property
    def is_readable(self) -> bool:
        """Tell whether nothing was left out but for want of the metric, which stays so."""
        return all(each.reason is Reason.NO_METRIC for each in self.missing)

    @property
    def left_out(self) -> int:
        """How many matching profiles are missing."""
        return sum(each.profiles for each in self.missing)


@dataclass(frozen=True, slots=True)
class TreeResult:
    selection: Selection
    project_id: str
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]  # what else could be chosen
    coverage: Coverage
    tree: Tree  # one metric; sums over the profiles
    # Nodes below which others were left out of the drawing: (how many, their total).
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order


@dataclass(frozen=True, slots=True)
class FunctionRow:
    name: str
    file: str
    self: int
    total: int  # recursion counted once
    count: int  # distinct stacks that reach it


@dataclass(frozen=True, slots=True)
class TopResult:
    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    rows: tuple[FunctionRow, ...]  # by self, then total, then name


@dataclass(frozen=True, slots=True)
class FocusResult:
    """One function, over all its call sites: both trees have it as root, with equal totals.

    One root for each file that has a function of this name, so seldom more than one.
    """

    selection: Selection
    project_id: str
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    row: FunctionRow | None  # None: no selected stack reaches it
    callers: Tree  # inverted
    callees: Tree
    peek: Peek
    callers_folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # as in TreeResult
    callees_folded: dict[int, tuple[int, int]] = field(default_factory=dict)
    callers_highlighted: tuple[int, ...] = ()
    callees_highlighted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LineRow:
    line: int  # 0 where unknown
    self: int
    total: int  # recursion counted once


@dataclass(frozen=True, slots=True)
class LinesResult:
    """The lines of one function, in order of line."""

    selection: Selection
    metric: Metric
    coverage: Coverage
    name: str
    file: str
    rows: tuple[LineRow, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Of the difference A - B of per-profile mean totals, over profiles; each array [N].

    NaN where nothing was tested: too few profiles on either side (the floor of support).
    """

    low: NDArray[np.float64]  # 95 %
    high: NDArray[np.float64]
    q: NDArray[np.float64]  # false-discovery rate over all that was tested


class FunctionChange(NamedTuple):
    """A function on both sides: sums over the profiles; the interval as in Intervals."""

    name: str
    file: str
    a_self: int
    a_total: int
    b_self: int
    b_total: int
    low: float | None  # of the difference of mean totals; None: not tested
    high: float | None
    q: float | None
    real: bool  # q within the rate that is asked for


@dataclass(frozen=True, slots=True)
class CompareResult:
    """Two selections of one project, service and type. Difference = A - B."""

    selections: tuple[Selection, Selection]
    project_id: str
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverages: tuple[Coverage, Coverage]
    tree: Tree  # every node of either side; `self` is [2, N]: sums of A, sums of B
    intervals: Intervals | None  # by node of the tree
    why_no_intervals: str  # a sentence; "" where there are some
    functions: tuple[FunctionChange, ...]  # the greatest absolute difference of means first
    folded: dict[int, tuple[int, int]] = field(default_factory=dict)  # total: A's and B's added
    highlighted: tuple[int, ...] = ()  # indexes of nodes, in order


@dataclass(frozen=True, slots=True)
class HistoryStep:
    start: datetime
    profiles: int
    total: int  # Σ of the metric over them, after filters
    duration_ns: int


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A function's sums, step by step; recursion counted once."""

    name: str
    file: str
    self: tuple[int, ...]
    total: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VersionSpan:
    """A version of the service: its first and last profile within the range."""

    version: str
    first: datetime
    last: datetime
    profiles: int


@dataclass(frozen=True, slots=True)
class HistoryResult:
    selection: Selection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    step_seconds: float
    steps: tuple[HistoryStep, ...]  # equal, without gaps; the first may begin before the range
    lines: tuple[HistoryLine, ...]  # the functions asked for, or the top ones by total self
    versions: tuple[VersionSpan, ...]  # in order of first profile


@dataclass(frozen=True, slots=True)
class HeatMapResult:
    """How many profiles had which weight when."""

    selection: Selection
    metric: Metric
    coverage: Coverage
    starts: tuple[datetime, ...]  # [T], equal steps
    step_seconds: float
    edges: tuple[float, ...]  # [W + 1] of weight, ascending
    counts: tuple[tuple[int, ...], ...]  # [W][T]


@dataclass(frozen=True, slots=True)
class ServiceRow:
    service: str
    types: tuple[ProfileType, ...]
    versions: tuple[str, ...]  # newest first
    zones: tuple[str, ...]
    profiles: int  # in the range
    last_profile: datetime | None  # ever


@dataclass(frozen=True, slots=True)
class ServiceName:
    """What a menu of services needs to know of one."""

    service: str
    types: tuple[ProfileType, ...]
    last_seen: datetime  # of any of its deployments


@dataclass(frozen=True, slots=True)
class ServicesResult:
    rows: tuple[ServiceRow, ...]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The course of a service and type over a range, in equal steps."""

    profiles: float  # where the range cuts a step of a block's course, as much as is inside
    weight: float  # Σ of the type's default metric
    duration_ns: float  # Σ
    steps: tuple[float | None, ...]  # mean weight of the step's profiles; None without any


@dataclass(frozen=True, slots=True)
class MenuChoice:
    """An entry of a menu."""

    value: str
    profiles: int  # in the range


@dataclass(frozen=True, slots=True)
class WeightChoice:
    """The top `percent` of the profiles by weight: from `lowest` to `highest`."""

    percent: float
    profiles: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class OptionsResult:
    """What the menus of the picker offer; each in the range, whatever the others have chosen."""

    zones: tuple[MenuChoice, ...]  # of the service and type, and so are the following
    versions: tuple[MenuChoice, ...]
    labels: dict[str, tuple[MenuChoice, ...]]
    weights: tuple[WeightChoice, ...]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class StripStep:
    start: datetime
    profiles: int
    weight: float  # the mean over them of the type's default metric; 0 without profiles


@dataclass(frozen=True, slots=True)
class StripResult:
    """Profiles over time, from the selection's start, in equal steps without gaps."""

    selection: Selection
    step_seconds: float
    metric: Metric
    steps: tuple[StripStep, ...]


@dataclass(frozen=True, slots=True)
class ProfileRow:
    name_id: str
    time: datetime
    duration_ns: int
    zone: str
    version: str
    weight: int
    labels: dict[str, str]
    agent: str


@dataclass(frozen=True, slots=True)
class ProfilesResult:
    selection: Selection
    coverage: Coverage
    rows: tuple[ProfileRow, ...]
    next_page: str | None

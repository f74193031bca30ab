"""Context of a query: its project, its limits, its database snapshot, and what it has read."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from threading import Event

from profiles.engine.metrics import Metric
from profiles.storage.snapshot import Snapshot

NO_PROJECT = 0  # of a context whose project is not known yet: no selection is of it
MOST_LISTED = 10  # groups of profiles without the metric that a result lists separately
_OTHERS = frozenset[Metric]()


class DeadlinePassed(Exception):
    """Deadline of a query passed, or its client is gone; the text names what was waited for."""


class Reason(StrEnum):
    """Reason for which matching profiles are missing from a result."""

    UNREADABLE = "unreadable"
    NO_METRIC = "no_metric"


@dataclass(frozen=True, slots=True)
class Missing:
    """Matching profiles that a result leaves out, and the reason."""

    start: datetime
    end: datetime
    why: str
    profiles: int  # if a block's matching profiles cannot be counted: all profiles of the block
    reason: Reason


@dataclass(frozen=True, slots=True)
class Coverage:
    """Profiles that a result includes, and those that it leaves out."""

    profiles: int  # number of profiles used
    total: int  # Σ of the metric over these profiles, before filters
    duration_ns: int  # Σ of the profiles' durations
    first: datetime | None  # time of the earliest profile used
    last: datetime | None
    missing: tuple[Missing, ...] = ()

    @property
    def is_readable(self) -> bool:
        """Return True if no profile was unreadable; profiles without the metric do not count."""
        return all(each.reason is Reason.NO_METRIC for each in self.missing)

    @property
    def left_out(self) -> int:
        """Return the number of matching profiles that the result leaves out."""
        return sum(each.profiles for each in self.missing)


@dataclass(slots=True)
class ScanStats:
    """Counters of the profiles that a scan has added and left out so far."""

    profiles: int = 0
    total: int = 0  # Σ of the query's metric
    duration_ns: int = 0  # Σ
    first: datetime | None = None
    last: datetime | None = None
    missing: list[Missing] = field(default_factory=list)  # unreadable profiles
    # Candidate metrics that exactly the profiles with the query's metric have, so far.
    shared: set[Metric] = field(default_factory=set)
    lacking: dict[tuple[Metric, frozenset[Metric]], Missing] = field(default_factory=dict)

    def take(
        self, profiles: int, total: int, duration_ns: int, first: datetime, last: datetime
    ) -> None:
        """Count profiles that were added; `first` and `last` are their earliest and latest time."""
        self.profiles += profiles
        self.total += total
        self.duration_ns += duration_ns
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)

    def leave_out(self, start: datetime, end: datetime, why: str, profiles: int = 1) -> None:
        """Report profiles that could not be read, with the reason `why`."""
        self.missing.append(Missing(start, end, why, profiles, Reason.UNREADABLE))

    def narrow(self, having: Collection[Metric]) -> None:
        """Reduce `shared` to metrics that another profile with the query's metric has too."""
        self.shared.intersection_update(having)

    def lack(
        self,
        metric: Metric,
        others: Collection[Metric],
        profiles: int,
        first: datetime,
        last: datetime,
    ) -> None:
        """Count profiles that have the metrics `others`, but not the query's metric."""
        self.shared.difference_update(others)
        self._lack(metric, frozenset(others), Missing(first, last, "", profiles, Reason.NO_METRIC))

    def _lack(self, metric: Metric, others: frozenset[Metric], more: Missing) -> None:
        if (metric, others) not in self.lacking and len(self.lacking) >= MOST_LISTED:
            others = _OTHERS
        before = self.lacking.get((metric, others), more)
        self.lacking[metric, others] = Missing(
            start=min(before.start, more.start),
            end=max(before.end, more.end),
            why=_why(metric, others),
            profiles=more.profiles if before is more else before.profiles + more.profiles,
            reason=Reason.NO_METRIC,
        )

    def add(self, other: "ScanStats") -> None:
        """Add the statistics of other profiles."""
        if other.first is not None and other.last is not None:
            self.take(other.profiles, other.total, other.duration_ns, other.first, other.last)
        self.missing.extend(other.missing)
        for (metric, others), missing in other.lacking.items():
            self._lack(metric, others, missing)

    def coverage(self) -> Coverage:
        lacking = sorted(self.lacking.values(), key=lambda each: (each.start, each.why))
        return Coverage(
            profiles=self.profiles,
            total=self.total,
            duration_ns=self.duration_ns,
            first=self.first,
            last=self.last,
            missing=(*self.missing, *lacking),
        )


def _why(metric: Metric, others: frozenset[Metric]) -> str:
    having = ", ".join(_text(other) for other in sorted(others)) or "others"
    return f"No metric {_text(metric)}; available: {having}."


def _text(metric: Metric) -> str:
    """Format a metric in about 100 characters at most: uploads may contain names of any length."""
    return f"{metric.name[:60]} ({metric.unit[:40]})"


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Everything that a query needs besides its parameters.

    Queries with one context read the same state of the database inside `with context.snapshot`.
    """

    project: int  # Project.pk
    project_id: str = ""  # public id, which results name
    deadline: float | None = None  # in seconds of time.monotonic(); None: no deadline
    cancelled: Event = field(default_factory=Event)  # set when the client is gone
    snapshot: Snapshot = field(default_factory=Snapshot)
    stats: ScanStats = field(default_factory=ScanStats)  # of the scan in progress

    def check(self) -> None:
        """Raise DeadlinePassed if the deadline has passed or the client is gone."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DeadlinePassed
        if self.cancelled.is_set():
            raise DeadlinePassed

    def for_project(
        self, project: int, project_id: str, seconds: float | None = None
    ) -> "QueryContext":
        """Return the context of a project that the client may read.

        With `seconds`, the deadline is so long from now.
        """
        deadline = self.deadline if seconds is None else time.monotonic() + seconds
        return replace(self, project=project, project_id=project_id, deadline=deadline)

    def for_scan(self, stats: ScanStats | None = None) -> "QueryContext":
        """Return the context with the statistics of another scan, by default with empty ones."""
        return replace(self, stats=stats or ScanStats())

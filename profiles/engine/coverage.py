"""Coverage of a sum: the profiles that it includes, and those that it leaves out."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np

from profiles.engine.blocks import Mask, ProfileColumns
from profiles.engine.blocks.sparse_values import exact_sum
from profiles.engine.metrics import Metric
from profiles.engine.timestamps import to_datetime

MOST_LISTED = 10  # groups of profiles without the metric that a result lists separately
_OTHERS = frozenset[Metric]()


class Reason(StrEnum):
    """Reason for which matching profiles are missing from a result."""

    UNREADABLE = "unreadable"
    NO_METRIC = "no_metric"


@dataclass(frozen=True, slots=True)
class Missing:
    """Matching profiles that a result leaves out, and the reason."""

    start: datetime
    end: datetime
    explanation: str
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

    def take_rows(
        self, columns: ProfileColumns, metric: Metric, having: Mask, lacking: Mask
    ) -> None:
        """Count the profiles of a block that the masks [P] mark: with and without the metric."""
        if having.any():
            time = columns.time[having]
            self.take(
                profiles=len(time),
                total=exact_sum(columns.totals[columns.metrics.index(metric)][having]),
                duration_ns=exact_sum(columns.duration_ns[having]),
                first=to_datetime(int(time.min())),
                last=to_datetime(int(time.max())),
            )
            if self.shared:
                has = columns.has[:, having].all(axis=1)
                self.narrow([columns.metrics[k] for k in np.flatnonzero(has)])
        if not lacking.any():
            return
        rows = np.flatnonzero(lacking)
        kinds, kind = np.unique(columns.has[:, rows], axis=1, return_inverse=True)
        for number, has in enumerate(kinds.T):
            time = columns.time[rows[kind.ravel() == number]]
            others = [columns.metrics[k] for k in np.flatnonzero(has)]
            earliest, latest = to_datetime(int(time.min())), to_datetime(int(time.max()))
            self.lack(metric, others, len(time), earliest, latest)

    def leave_out(
        self, start: datetime, end: datetime, explanation: str, profiles: int = 1
    ) -> None:
        """Report profiles that could not be read, with an explanation."""
        self.missing.append(Missing(start, end, explanation, profiles, Reason.UNREADABLE))

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
            explanation=_explain_lack(metric, others),
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
        lacking = sorted(self.lacking.values(), key=lambda each: (each.start, each.explanation))
        return Coverage(
            profiles=self.profiles,
            total=self.total,
            duration_ns=self.duration_ns,
            first=self.first,
            last=self.last,
            missing=(*self.missing, *lacking),
        )


def _explain_lack(metric: Metric, others: frozenset[Metric]) -> str:
    having = ", ".join(_text(other) for other in sorted(others)) or "others"
    return f"No metric {_text(metric)}; available: {having}."


def _text(metric: Metric) -> str:
    """Format a metric in about 100 characters at most: uploads may contain names of any length."""
    return f"{metric.name[:60]} ({metric.unit[:40]})"

"""Statistics of a scan: the profiles that a result includes and those that it leaves out."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from profiles.engine.metrics import Metric
from profiles.queries.results import Coverage, Missing, Reason

MOST_LISTED = 10  # groups of profiles without the metric that a result lists separately
_OTHERS = frozenset[Metric]()


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
        known = self.lacking.get((metric, others), more)
        self.lacking[metric, others] = Missing(
            start=min(known.start, more.start),
            end=max(known.end, more.end),
            why=_why(metric, others),
            profiles=more.profiles if known is more else known.profiles + more.profiles,
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
    return f"No metric {_text(metric)}: the profiles have {having}."


def _text(metric: Metric) -> str:
    """Format a metric in about 100 characters at most: uploads may contain names of any length."""
    return f"{metric.name[:60]} ({metric.unit[:40]})"

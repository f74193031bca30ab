"""What an answer is made of, counted on the way."""

from dataclasses import dataclass, field
from datetime import datetime

from profiles.queries.answers import Coverage, Missing


@dataclass(slots=True)
class Used:
    profiles: int = 0
    total: int = 0  # Σ of the metric
    duration_ns: int = 0  # Σ
    first: datetime | None = None
    last: datetime | None = None
    missing: list[Missing] = field(default_factory=list)

    def take(
        self, profiles: int, total: int, duration_ns: int, first: datetime, last: datetime
    ) -> None:
        """So many profiles were added, `first` and `last` their earliest and latest time."""
        self.profiles += profiles
        self.total += total
        self.duration_ns += duration_ns
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)

    def leave_out(self, start: datetime, end: datetime, why: str) -> None:
        self.missing.append(Missing(start, end, why))

    def coverage(self) -> Coverage:
        return Coverage(
            profiles=self.profiles,
            total=self.total,
            duration_ns=self.duration_ns,
            first=self.first,
            last=self.last,
            missing=tuple(self.missing),
        )

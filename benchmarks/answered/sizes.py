"""How large the sets are, and when they begin."""

from dataclasses import dataclass
from datetime import UTC, datetime

START = datetime(2026, 9, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sizes:
    a_days: int = 2  # of one A each 15 s
    d_days: int = 31  # of one D a minute
    pair: int = 500  # of A in the head, whose first half is asked for alone
    many: int = 6_000  # of D in the head, within an hour
    deployments: int = 100  # of these

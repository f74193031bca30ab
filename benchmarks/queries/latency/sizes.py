"""Sizes and start time of the benchmark's data sets."""

from dataclasses import dataclass
from datetime import UTC, datetime

START = datetime(2026, 9, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sizes:
    a_days: int = 2  # days of shape A, one profile every 15 s
    d_days: int = 31  # days of shape D, one profile a minute
    pair: int = 500  # profiles of A in the head; their first half is queried alone
    many: int = 6_000  # profiles of D in the head, within an hour
    deployments: int = 100  # deployments of the `many` profiles

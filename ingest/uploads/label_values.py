"""How many values the labels of profiles have: of each at most so many a day.

A label that is different in every profile (a request's id, say) says nothing in a menu and makes
every block larger. Counted by each process for itself, from its start on.
"""

from collections.abc import Mapping
from datetime import date

from django.conf import settings

from endpoints.errors import TooManyLabelValues
from projects.usage.day_usage import utc_day

MOST_KEPT = 1_000_000  # values of all projects; beyond it the count begins anew


class LabelValues:
    """Used from one event loop only."""

    def __init__(self) -> None:
        self._day = date.min
        self._seen: dict[tuple[int, str], set[int]] = {}  # hashes of values by project and name
        self._kept = 0

    def take(self, project: int, labels: Mapping[str, str], day: date, allowed: int) -> None:
        """Count these values; TooManyLabelValues where one is new and one too many."""
        if day != self._day or self._kept > MOST_KEPT:
            self._day, self._kept = day, 0
            self._seen.clear()
        for name, value in labels.items():
            seen, key = self._seen.setdefault((project, name), set()), hash(value)
            if key in seen:
                continue
            if len(seen) >= allowed:
                raise TooManyLabelValues(name, allowed)
            seen.add(key)
            self._kept += 1


def take(project: int, labels: Mapping[str, str]) -> None:
    """The same with this process's count of today, and the setting."""
    _values.take(project, labels, utc_day(), settings.MAX_LABEL_VALUES)


_values = LabelValues()

"""Limit on the number of distinct values of each profile label, for each project and UTC day.

A label that differs in every profile (a request's id, for example) is useless in a menu and makes
every block larger. Each process counts only the values that it has received since its start.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from django.conf import settings

from endpoints.errors import TooManyLabelValues
from projects.usage import rejections
from projects.usage.day_usage import utc_day
from projects.usage.rejections import RejectionReason

MAX_VALUES = 1_000_000  # values of all projects; above this number, all counts restart at zero
# Values of all labels of a project, at least. An upload may have 500 labels of new names, each of
# which has its own values.
MAX_VALUES_OF_PROJECT = 100_000


class LabelValues:
    """Values seen today, by project and label name.

    Not thread-safe: use from one event loop only.
    """

    def __init__(self) -> None:
        self._day = date.min
        self._seen: dict[tuple[int, str], set[int]] = {}  # value hashes, by (Project.pk, label)
        self._count = 0
        self._counts: Counter[int] = Counter()  # values by Project.pk

    def count(self, project: int, labels: Mapping[str, str], day: date, allowed: int) -> None:
        """Count the values of `labels`, and reset all counts when `day` changes.

        Raise TooManyLabelValues if a value is new and its label already has `allowed` values, or
        all labels of the project together MAX_VALUES_OF_PROJECT.
        """
        if day != self._day or self._count > MAX_VALUES:
            self._day, self._count = day, 0
            self._seen.clear()
            self._counts.clear()
        most = max(allowed, MAX_VALUES_OF_PROJECT)
        for name, value in labels.items():
            seen, key = self._seen.get((project, name), set()), hash(value)
            if key in seen:
                continue
            if len(seen) >= allowed:
                raise TooManyLabelValues(allowed, name)
            if self._counts[project] >= most:
                raise TooManyLabelValues(most)
            seen.add(key)
            self._seen[project, name] = seen
            self._count += 1
            self._counts[project] += 1


def count(project: int, labels: Mapping[str, str]) -> None:
    """Count the values of `labels` for today in this process, up to FLAMEWATCH_MAX_LABEL_VALUES."""
    try:
        _values.count(project, labels, utc_day(), settings.MAX_LABEL_VALUES)
    except TooManyLabelValues:
        rejections.note(project, RejectionReason.LABEL_VALUES)
        raise


_values = LabelValues()

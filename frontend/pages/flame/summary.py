"""One-sentence summary of a selection: the average of its profiles."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from frontend.text.display_names import metric_name
from frontend.text.units import format_value
from profiles.query import Coverage, Metric
from projects.profile_types import INSTANTANEOUS, ProfileType


@dataclass(frozen=True, slots=True)
class Average:
    """A value and the text after it: **2.38 s** of CPU in a 10 s profile.

    A share of a core or a rate would be a second unit for the value at the root of the graph.
    """

    value: str
    after: str


def average(type_: ProfileType, metric: Metric, coverage: Coverage) -> Average:
    """Return the average of the profiles of `coverage`; there must be at least one."""
    each = coverage.total / coverage.profiles
    return Average(format_value(each, metric.unit), _after(type_, metric, coverage))


def _after(type_: ProfileType, metric: Metric, coverage: Coverage) -> str:
    phrase = _value_phrase(metric)
    if type_ in INSTANTANEOUS or not coverage.duration_ns:
        return phrase
    duration = format_value(coverage.duration_ns / coverage.profiles, "nanoseconds")
    return _("%(what)s in a %(duration)s profile") % {"what": phrase, "duration": duration}


def _value_phrase(metric: Metric) -> str:
    phrases = {
        "cpu": _("of CPU"),
        "wall": _("of wall time"),
        "inuse_space": _("in use"),
        "inuse_objects": _("objects in use"),
        "alloc_space": _("allocated"),
        "alloc_objects": _("objects allocated"),
        "delay": _("of waiting"),
        "contentions": _("waits"),
    }
    return phrases.get(metric.name) or metric_name(metric).lower()

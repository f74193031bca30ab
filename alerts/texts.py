"""Sentences about rules and incidents, for messages and pages."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from alerts.conditions.against_last_week import WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.points import Measure
from alerts.conditions.quota import QuotaCondition
from alerts.conditions.registry import Condition
from alerts.conditions.stopped_reporting import StoppedReportingCondition
from alerts.conditions.value import ValueCondition
from alerts.models import AlertIncident, AlertRule
from profiles.query import DEFAULT_METRICS
from projects.usage.limits import LimitName
from projects.usage.usage import LABELS

_SCALES = {
    "nanoseconds": (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)),
    "bytes": (("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)),
}
MEASURES: dict[Measure, Promise] = {
    Measure.SHARE: gettext_lazy("share of the service"),
    Measure.CORES: gettext_lazy("cores of an agent"),
    Measure.PER_PROFILE: gettext_lazy("value per profile"),
}


def get_unit(measure: Measure, type_: str) -> str:
    """Return the unit of a measure of a profile type: %, cores, nanoseconds, bytes or count."""
    if measure is Measure.SHARE:
        return "%"
    if measure is Measure.CORES:
        return "cores"
    return DEFAULT_METRICS[type_].unit


def format_quantity(value: float, unit: str) -> str:
    """Format a value with its unit and three significant digits: `13.5%`, `2 cores`, `12 GiB`."""
    if unit == "%":
        return f"{_digits(value)}%"
    if unit == "cores":
        return ngettext("%(value)s core", "%(value)s cores", 1 if value == 1 else 2) % {
            "value": _digits(value)
        }
    for name, size in _SCALES.get(unit, ()):
        if abs(value) >= size:
            return f"{_digits(value / size)} {name}"
    return _digits(value)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def format_minutes(minutes: float) -> str:
    """Format a duration: `30 minutes`, `2 hours`, `1 day`, `1 h 50 min`."""
    whole = int(minutes)
    days, hours = whole // (24 * 60), whole // 60
    if days and whole % (24 * 60) == 0:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    if hours and whole % 60 == 0:
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    if hours:
        return _("%(h)d h %(m)d min") % {"h": hours, "m": whole % 60}
    return ngettext("%(n)d minute", "%(n)d minutes", whole) % {"n": whole}


def describe_rule(rule: AlertRule, condition: Condition, type_name: str = "") -> str:
    """Return the condition as a sentence; `type_name` is that of the profile type in words."""
    values: dict[str, object] = {
        "type": type_name or rule.type,
        "service": rule.service,
        "function": rule.function,
    }
    match condition:
        case ValueCondition():
            return _describe_value(condition, rule, values)
        case WeekCondition():
            return _describe_week(condition, rule, values)
        case StoppedReportingCondition():
            values["minutes"] = format_minutes(condition.minutes)
            one = _("%(service)s sends no profile for %(minutes)s")
            sentence = one if rule.service else _("Any service sends no profile for %(minutes)s")
        case QuotaCondition():
            values["percent"] = format_quantity(condition.percent, "%")
            values["quota"] = LABELS[LimitName(condition.quota)] if condition.quota else ""
            one = _("Quota “%(quota)s” is used to %(percent)s")
            sentence = one if condition.quota else _("Any quota is used to %(percent)s")
        case FindingCondition():
            values["percent"] = format_quantity(condition.percent, "%")
            one = _("New regression of %(percent)s or more in %(service)s")
            whole = _("New regression of %(percent)s or more in any service")
            sentence = one if rule.service else whole
    return sentence % values


def _describe_value(
    condition: ValueCondition, rule: AlertRule, values: Mapping[str, object]
) -> str:
    words = {
        **values,
        "limit": format_quantity(condition.threshold, get_unit(condition.measure, rule.type)),
        "minutes": format_minutes(condition.minutes),
    }
    words["subject"] = _describe_subject(condition.measure, rule, words)
    if condition.is_above:
        return _("%(subject)s above %(limit)s for %(minutes)s") % words
    return _("%(subject)s below %(limit)s for %(minutes)s") % words


def _describe_week(condition: WeekCondition, rule: AlertRule, values: Mapping[str, object]) -> str:
    words = {
        **values,
        "subject": _describe_subject(condition.measure, rule, values),
        "percent": format_quantity(condition.percent, "%"),
        "minutes": format_minutes(condition.minutes),
    }
    if condition.is_above:
        return _("%(subject)s more than %(percent)s above the week before, for %(minutes)s") % words
    return _("%(subject)s more than %(percent)s below the week before, for %(minutes)s") % words


def _describe_subject(measure: Measure, rule: AlertRule, values: Mapping[str, object]) -> str:
    if measure is Measure.SHARE:
        return _("Share of %(function)s in %(type)s of %(service)s") % values
    if rule.function:
        return _("%(type)s of %(function)s in %(service)s") % values
    return _("%(type)s of %(service)s") % values


def format_observed(rule: AlertRule, condition: Condition, value: float | None) -> str:
    """Return the value of an observation in words; "" without one."""
    if value is None:
        return ""
    match condition:
        case ValueCondition():
            return format_quantity(value, get_unit(condition.measure, rule.type))
        case StoppedReportingCondition():
            return format_minutes(value)
        case QuotaCondition():
            return format_quantity(value, "%")
        case WeekCondition() | FindingCondition():
            sign = "+" if value > 0 else ""
            return f"{sign}{format_quantity(value, '%')}"


def describe_incident(rule: AlertRule, condition: Condition, incident: AlertIncident) -> str:
    """Return the subject of an incident with its latest value in a sentence."""
    value = format_observed(rule, condition, incident.last_value)
    values = {"service": incident.service, "value": value or _("unknown")}
    match condition:
        case StoppedReportingCondition():
            return _("Last profile of %(service)s: %(value)s ago") % values
        case QuotaCondition():
            label = LABELS[LimitName(incident.subject)]
            return _("Used of quota “%(quota)s”: %(value)s") % {**values, "quota": label}
        case FindingCondition():
            return _("Regression in %(service)s: %(value)s") % values
        case WeekCondition():
            return _("Change of %(service)s against the week before: %(value)s") % values
        case ValueCondition():
            return _("Value in %(service)s: %(value)s") % values

"""Selection of profiles and time range from query parameters."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from endpoints.params import values
from endpoints.params.query_string import Parameters
from profiles.query import Selection
from projects.profile_types import ProfileType

DEFAULT_SPAN = timedelta(hours=1)
_ABSOLUTE, _RELATIVE = ("from", "to"), ("span", "end")


@dataclass(frozen=True, slots=True)
class Range:
    """Time range, start <= time < end."""

    start: datetime
    end: datetime

    @property
    def span(self) -> timedelta:
        return self.end - self.start


def read_range(of: Parameters, now: datetime, default: Range | None = None) -> Range:
    """Read a time range from `from` and `to`, or from `span` and `end`.

    A missing end is the end of `default`, a missing start lies the span of `default` before the
    end; without a `default`, the range is the DEFAULT_SPAN up to `now`. Raise BadParameter if
    both pairs are given, and for a range that is empty or longer than LONGEST_SPAN (400 days).
    """
    moment = partial(values.time, now=now)
    default = default or Range(now - DEFAULT_SPAN, now)
    if of.has(*_ABSOLUTE) and of.has(*_RELATIVE):
        raise of.bad("from", "and to stand alone, without span and end")
    length = of.read("span", values.span, default.span)
    end = of.read("to", moment, None) or of.read("end", moment, default.end)
    start = of.read("from", moment, end - length)
    if not timedelta(0) < end - start <= values.LONGEST_SPAN:
        longest = values.LONGEST_SPAN.days
        raise of.bad("from", f"has to be before the end, by {longest} days at most")
    return Range(start, end)


def read_selection(of: Parameters, project: int, now: datetime) -> Selection:
    """Read a selection of one service and type of the project with the pk `project`."""
    service = of.required("service")
    type_ = of.required("type")
    within = read_range(of, now)
    plain = Selection(
        project=project,
        service=of.read("service", values.short, service),
        type=ProfileType(of.read("type", _profile_type, type_)),
        start=within.start,
        end=within.end,
    )
    return _narrowed(plain, of)


def read_other_side(of: Parameters, first: Selection, now: datetime) -> Selection:
    """Read the second selection of a comparison: `first` with the parameters in `of` replaced."""
    within = read_range(of, now, Range(first.start, first.end))
    return _narrowed(replace(first, start=within.start, end=within.end), of)


def _narrowed(plain: Selection, of: Parameters) -> Selection:
    labels = dict(plain.labels)
    for name, allowed in of.starting("label.").items():
        if not name:
            raise of.bad("label.", "has no name of a label behind its point")
        labels[name] = _short(of, f"label.{name}", allowed)
    return replace(
        plain,
        zones=_short(of, "zone", of.several("zone")) or plain.zones,
        versions=_short(of, "version", of.several("version")) or plain.versions,
        labels=tuple((name, allowed) for name, allowed in labels.items() if allowed),
        weight=of.read("weight", values.percent, plain.weight),
        weights=of.read("weights", values.weights, plain.weights),
        profile=of.read("profile", values.short, plain.profile),
    )


def _short(of: Parameters, name: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(values.short(text) for text in texts))
    except ValueError as error:
        raise of.bad(name, str(error)) from error


def _profile_type(text: str) -> str:
    return values.one_of(text, tuple(type_.value for type_ in ProfileType))

"""Selection of profiles and time range: their parameters, and how they combine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from endpoints.params import parameter, values
from endpoints.params.parameter import Family, Parameter, Repeated
from endpoints.params.reader import Reader, StrictReader
from endpoints.params.values import Now
from profiles.query import Grouping, GroupKind, ProfileSelection
from projects.profile_types import ProfileType


def parse_grouping(text: str) -> Grouping:
    """Parse the name of the parameter that selects one value of a label: `version`, `label.NAME`.

    Raise ValueError for any other text.
    """
    kind, point, name = text.partition(".")
    is_named = kind in (GroupKind.LABEL, GroupKind.SAMPLE)
    if kind not in tuple(GroupKind) or bool(name) is not is_named or (point and not name):
        allowed = "version, zone, label.NAME or sample.NAME"
        raise ValueError(f"{text[:60]!r} is none of {allowed}")
    return Grouping(GroupKind(kind), values.short(name))


SERVICE = parameter.text("service", "Name of the service")
TYPE = Parameter(
    "type",
    "Profile type",
    lambda text: ProfileType(values.choice(text, tuple(each.value for each in ProfileType))),
    None,
)
SPAN = Parameter("span", "Length of the range", values.span, None)
END, FROM, TO = (
    Parameter(name, meaning, values.time_or_now, None, values.with_zone)
    for name, meaning in (
        ("end", "End of the range (exclusive), or now"),
        ("from", "Start of the range (inclusive), instead of its length"),
        ("to", "End of a range that is given by its start"),
    )
)
ZONE = Repeated("zone", "Only profiles of these zones", values.short, values.cut)
VERSION = Repeated("version", "Only profiles of these versions", values.short, values.cut)
LABEL = Family(
    "label.",
    "Only profiles whose label of this name has one of these values",
    values.short,
    values.cut,
    unnamed="has no name of a label behind its point",
    most_used=10,
)
SAMPLE = Family(
    "sample.",
    "Only samples whose label of this name has one of these values",
    values.short,
    values.cut,
    unnamed="has no name of a label behind its point",
    most_used=10,
)
UNSET = Repeated(
    "unset",
    "Only profiles, or samples, without this label: version, zone, label.NAME or sample.NAME",
    parse_grouping,
)
WEIGHT = Parameter("weight", "Only the top n percent of profiles by total", values.percent, None)
WEIGHTS = Parameter(
    "weights", "Only profiles whose total is in this range, inclusive", values.weights, None
)
PROFILE = parameter.text("profile", "Only one profile, by the last part of its name")

DEFAULT_SPAN = timedelta(hours=1)
Labels = tuple[tuple[str, tuple[str, ...]], ...]  # (name, allowed values)


class StartNotBeforeEnd(ValueError):
    """Range whose start is its end, or later."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Time range of length `span`, start <= time < end."""

    span: timedelta = DEFAULT_SPAN
    end: datetime | None = None  # None: now, moving with the clock

    def bounds(self, now: datetime) -> tuple[datetime, datetime]:
        """Return start and end; a range without an end ends at `now`."""
        end = self.end or now
        return end - self.span, end


DEFAULT_RANGE = TimeRange()


def read_range(reader: Reader, now: datetime, default: TimeRange = DEFAULT_RANGE) -> TimeRange:
    """Read a time range from `from` and `to`, or from `span` and `end`.

    A missing end is the end of `default`, a missing start lies the span of `default` before the
    end. Reject ranges that are empty or longer than LONGEST_SPAN (400 days). If both pairs are
    given, which the strict policy rejects, `from` and `to` count.
    """
    reader.expect(SPAN, TO, END, FROM)
    is_absolute = reader.has(FROM, TO)
    if is_absolute and reader.has(SPAN, END):
        reader.conflict(FROM, "and to stand alone, without span and end")
    stated_end, start = reader.read(TO if is_absolute else END), reader.read(FROM)
    end = default.end if stated_end is None else stated_end
    if end is Now.NOW:
        end = None
    if start is None:
        return TimeRange(reader.read(SPAN) or default.span, end)
    span = (end or now) - (now if start is Now.NOW else start)
    if timedelta(0) < span <= values.LONGEST_SPAN:
        return TimeRange(span, end)
    longest = values.LONGEST_SPAN.days
    reason = f"has to be before the end, by {longest} days at most"
    error = ValueError(reason) if span > timedelta(0) else StartNotBeforeEnd(reason)
    reader.reject(FROM, reader.text(FROM), error)
    return TimeRange(default.span, end)


class Narrowing(NamedTuple):
    """Restrictions to some profiles, or samples, of a service and type; empty ones select all."""

    zones: tuple[str, ...]
    versions: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]
    weight: float | None
    weights: tuple[int, int] | None
    profile: str
    samples: dict[str, tuple[str, ...]]
    unset: tuple[Grouping, ...]


def read_narrowing(reader: Reader) -> Narrowing:
    return Narrowing(
        labels={name: _distinct(found) for name, found in reader.family(LABEL).items()},
        samples={name: _distinct(found) for name, found in reader.family(SAMPLE).items()},
        zones=_distinct(reader.several(ZONE)),
        versions=_distinct(reader.several(VERSION)),
        weight=reader.read(WEIGHT),
        weights=reader.read(WEIGHTS),
        profile=reader.read(PROFILE),
        unset=tuple(dict.fromkeys(reader.several(UNSET))),
    )


def with_unset(selection: ProfileSelection, unset: Sequence[Grouping]) -> ProfileSelection:
    """Return the selection that also allows profiles, or samples, without these labels.

    A label of which the selection allows some values keeps them.
    """
    for each in unset:
        match each.kind:
            case GroupKind.VERSION:
                selection = replace(selection, versions=(*selection.versions, ""))
            case GroupKind.ZONE:
                selection = replace(selection, zones=(*selection.zones, ""))
            case GroupKind.LABEL:
                selection = replace(selection, labels=_allowing(selection.labels, each.name))
            case GroupKind.SAMPLE:
                selection = replace(selection, samples=_allowing(selection.samples, each.name))
    return selection


def _allowing(labels: Labels, name: str) -> Labels:
    allowed = dict(labels)
    return tuple((allowed | {name: (*allowed.get(name, ()), "")}).items())


def read_selection(reader: StrictReader, project: int, now: datetime) -> ProfileSelection:
    """Read a selection of one service and type of the project with the pk `project`."""
    service, type_ = reader.read_required(SERVICE), reader.read_required(TYPE)
    start, end = read_range(reader, now).bounds(now)
    return _narrow(ProfileSelection(project, service, type_, start, end), reader)


def read_other_side(
    reader: StrictReader, first: ProfileSelection, now: datetime
) -> ProfileSelection:
    """Read the second selection of a comparison: `first` with the reader's parameters."""
    range_of_first = TimeRange(first.end - first.start, first.end)
    start, end = read_range(reader, now, range_of_first).bounds(now)
    return _narrow(replace(first, start=start, end=end), reader)


def _narrow(plain: ProfileSelection, reader: StrictReader) -> ProfileSelection:
    narrowing = read_narrowing(reader)
    own = with_unset(
        replace(
            plain,
            zones=narrowing.zones,
            versions=narrowing.versions,
            labels=tuple(narrowing.labels.items()),
            top_percent=narrowing.weight or plain.top_percent,
            total_range=narrowing.weights or plain.total_range,
            profile=narrowing.profile or plain.profile,
            samples=tuple(narrowing.samples.items()),
        ),
        narrowing.unset,
    )
    return replace(
        own,
        zones=own.zones or plain.zones,
        versions=own.versions or plain.versions,
        labels=_replace_labels(plain.labels, own.labels),
        samples=_replace_labels(plain.samples, own.samples),
    )


def _replace_labels(plain: Labels, own: Labels) -> Labels:
    """Return the labels of a selection with those in `own` replaced; no values remove a label."""
    labels = dict(plain) | dict(own)
    return tuple((name, allowed) for name, allowed in labels.items() if allowed)


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

"""Conversion of the profiles of an OTLP request to pprof.

Each profile of OTLP has one sample type. Those of one deployment, profile type and time become one
pprof profile with a metric for each: `samples` and `cpu`, or the four of Go's heap. Processes of a
deployment that differ in no label are summed, so that equal ones are not taken for a repetition.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.otlp.async_profiler import UNNAMED, name_engine
from ingest.formats.otlp.attributes import Attribute
from ingest.formats.otlp.pprof_encoder import ByteBudget, Label, PprofEncoder
from ingest.formats.otlp.request import ExportRequest, OtlpProfile
from ingest.formats.otlp.revision import Revision
from ingest.formats.otlp.sample_types import (
    TIME_METRICS,
    ValueType,
    choose_metric,
    counts_samples,
    find_profile_type,
)
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric, normalise_unit
from profiles.engine.pprof.limits import FREE_EXPANSION_BYTES, DecodeLimits, setting
from projects.profile_types import INSTANTANEOUS, ProfileType

# Attributes of resources and profiles, summed over the distinct pairs of these sets in a request:
# mapping so many takes about a second.
MAX_MAPPED_ATTRIBUTES = 500_000
ASSUMED_DURATION_NS = 10 * 10**9  # of profiles that state neither a time nor a duration
_NO_DURATION = (
    "The profile states neither a time nor a duration, so its end at arrival and a "
    f"duration of {ASSUMED_DURATION_NS // 10**9} s is assumed."
)
_LONGEST_REASON = 500  # characters
_MOST_REASONS = 100  # that are counted separately; many name an index
_OTHER_REASONS = "Other reasons."
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_ALLOCATIONS = ("alloc_", "allocated_")

# Deployment and labels of a profile, for the caller; equal ones belong to one stored profile.
Owner = TypeVar("Owner", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Reason for which profiles of the request are not stored."""

    reason: str
    profiles: int = 1


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one sample type of an OTLP profile."""

    sample_type: int  # index in the OTLP profile
    metric: Metric
    factor: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """OTLP profile, or some sample types of it, that is part of a stored profile."""

    profile: OtlpProfile
    columns: list[Column]


@dataclass(slots=True)
class ProfileGroup(Generic[Owner]):
    """OTLP profiles that become one stored profile."""

    owner: Owner
    type: ProfileType
    time_ns: int
    duration_ns: int
    members: list[GroupMember] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def profiles(self) -> int:
        """Return the number of OTLP profiles."""
        return len({member.profile.number for member in self.members})


@dataclass(frozen=True, slots=True)
class GroupedProfiles(Generic[Owner]):
    groups: list[ProfileGroup[Owner]]
    rejections: list[Rejection]


def group_profiles(
    request: ExportRequest, owner_of: Callable[[Mapping[str, str]], Owner | str]
) -> GroupedProfiles[Owner]:
    """Group the profiles of a request that belong to one stored profile.

    `owner_of` maps the attributes of a resource and a profile to their deployment and labels, or to
    a sentence that says why there is none. Profiles without samples are left out. Raise `TooLarge`
    if their attributes are more than MAX_MAPPED_ATTRIBUTES.
    """
    rejections = [Rejection(reason) for reason in request.rejections]
    buckets: dict[tuple[Owner, int, int], list[OtlpProfile]] = {}
    owners = _OwnerReader(request, owner_of)
    for profile in request.profiles:
        if not profile.samples:
            continue
        owner = owners.read(profile)
        if isinstance(owner, str):
            rejections.append(Rejection(owner))
            continue
        key = owner, profile.time_ns, _duration_ns(profile)
        named = replace(profile, sample_types=name_engine(request, profile))
        buckets.setdefault(key, []).append(named)
    groups = []
    for (owner, time_ns, duration_ns), profiles in buckets.items():
        found, unknown = _groups(owner, time_ns, duration_ns, profiles)
        groups += found
        rejections += unknown
    return GroupedProfiles(groups, rejections)


class _OwnerReader(Generic[Owner]):
    """Maps attributes to owners, once for all profiles of a resource that have no others."""

    def __init__(
        self, request: ExportRequest, owner_of: Callable[[Mapping[str, str]], Owner | str]
    ) -> None:
        self._request, self._owner_of = request, owner_of
        self._owners: dict[tuple[int, tuple[Attribute, ...]], Owner | str] = {}
        self._mapped = 0

    def read(self, profile: OtlpProfile) -> Owner | str:
        key = profile.resource, profile.attributes
        owner = self._owners.get(key)
        if owner is None:
            resource = self._request.resources[profile.resource]
            self._mapped += len(resource) + len(profile.attributes)
            if self._mapped > MAX_MAPPED_ATTRIBUTES:
                limit = "The profiles of an OTLP request"
                raise TooLarge(limit, self._mapped, MAX_MAPPED_ATTRIBUTES, "attributes")
            own = {attribute.key: attribute.value for attribute in profile.attributes}
            owner = self._owners[key] = self._owner_of({**resource, **own})
        return owner


def _duration_ns(profile: OtlpProfile) -> int:
    """Return the duration of a profile; one that states none lasts a period at least."""
    if profile.duration_ns:
        return profile.duration_ns
    unit, factor = normalise_unit(profile.period_type.unit)
    return max(0, profile.period) * factor if unit == "nanoseconds" else 0


def _groups(
    owner: Owner, time_ns: int, duration_ns: int, profiles: Sequence[OtlpProfile]
) -> tuple[list[ProfileGroup[Owner]], list[Rejection]]:
    """Distribute the sample types of one deployment and time over stored profiles."""
    types = {
        profile.number: [
            find_profile_type(kind, profile.period_type) for kind in profile.sample_types
        ]
        for profile in profiles
    }
    context = {
        kind
        for profile in profiles
        for kind, sample in zip(types[profile.number], profile.sample_types, strict=True)
        if kind is not None and not counts_samples(sample)
    }
    groups: dict[ProfileType, ProfileGroup[Owner]] = {}
    rejections = []
    for profile in profiles:
        columns: dict[ProfileType, list[Column]] = {}
        for index, sample in enumerate(profile.sample_types):
            kind = _choose_type(types[profile.number][index], sample, profile, context)
            if kind is not None:
                columns.setdefault(kind, []).append(Column(index, *choose_metric(sample, kind)))
        unknown = [
            sample
            for sample, kind in zip(profile.sample_types, types[profile.number], strict=True)
            if kind is None
        ]
        if not columns:
            rejections.append(Rejection(_unknown(profile, unknown)))
        for kind, of_kind in columns.items():
            length = 0 if kind in INSTANTANEOUS else duration_ns
            group = groups.setdefault(kind, ProfileGroup(owner, kind, time_ns, length))
            if not (length or time_ns) and kind not in INSTANTANEOUS:  # async-profiler 4.1
                group.duration_ns = ASSUMED_DURATION_NS
                group.warnings.append(_NO_DURATION)
            group.members.append(GroupMember(profile, of_kind))
            if unknown:
                group.warnings.append(_unknown(profile, unknown))
    for group in groups.values():
        _derive_time_metric(group)
    return list(groups.values()), rejections


def _choose_type(
    kind: ProfileType | None,
    sample: ValueType,
    profile: OtlpProfile,
    context: set[ProfileType],
) -> ProfileType | None:
    """Return the type of a sample type beside others of the same resource and time.

    Allocations beside memory in use are a part of Go's heap profile, where they are totals since
    the start of the process. Samples without a period are those of the only timed profile.
    """
    if kind is ProfileType.HEAP_ALLOC and ProfileType.HEAP in context:
        return ProfileType.HEAP if sample.name.lower().startswith(_ALLOCATIONS) else kind
    timed = context & set(TIME_METRICS)
    if counts_samples(sample) and not profile.period_type.name and len(timed) == 1:
        return next(iter(timed))
    return kind


def _derive_time_metric(group: ProfileGroup[Owner]) -> None:
    """Add the time metric, samples × period, unless a profile of the group has that metric."""
    metric = TIME_METRICS.get(group.type)
    if metric is None or any(
        column.metric == metric for member in group.members for column in member.columns
    ):
        return
    for member in group.members:
        profile = member.profile
        unit, factor = normalise_unit(profile.period_type.unit)
        if profile.period > 0 and unit == "nanoseconds":
            member.columns.extend(
                [
                    Column(column.sample_type, metric, profile.period * factor)
                    for column in member.columns
                    if column.metric.unit == "count"
                ]
            )


def _unknown(profile: OtlpProfile, samples: Sequence[ValueType]) -> str:
    types = ", ".join(map(str, samples))[:200] or "none"
    if any(sample.name == UNNAMED for sample in samples):
        return (
            f"Unknown sample type: {types}. async-profiler 4.2 and 4.3 do not name what a capture "
            "without an event of the processor counts, and its stacks do not tell. Start it with "
            "the option total, whose values tell, or update to 4.4."
        )
    return (
        f"Unknown sample type: {types} with the period type {str(profile.period_type)[:100]}. The "
        "guide to OpenTelemetry lists the sample types that are stored."
    )


class Converter:
    """Converts the groups of one request; not thread-safe."""

    def __init__(self, request: ExportRequest, limits: DecodeLimits) -> None:
        self._request, self._limits = request, limits
        self.trace_links = 0  # links of samples to traces, which are not stored
        self._budget = ByteBudget(limits.max_expansion * request.size + FREE_EXPANSION_BYTES)

    def convert(self, group: ProfileGroup[Owner]) -> ImportedProfile:
        """Return a group as pprof, with warnings about samples that were left out.

        Raise `BadProfile` if no sample is usable, `TooLarge` above a limit.
        """
        conversion = _GroupConversion(self._request, group, self._budget, self._limits)
        for member in group.members:
            conversion.add(member)
        encoder = conversion.encoder
        warnings = (*dict.fromkeys(group.warnings), *_describe_left_out(conversion.left_out))
        self.trace_links += conversion.trace_links
        if encoder.is_empty:
            raise BadProfile(" ".join(warnings) or "The profile has no samples.")
        return ImportedProfile(
            type=group.type,
            pprof=encoder.encode(group.time_ns, group.duration_ns),
            start_ns=group.time_ns or None,
            duration_ns=group.duration_ns or None,
            warnings=warnings,
        )


class _GroupConversion:
    def __init__(
        self,
        request: ExportRequest,
        group: ProfileGroup[Owner],
        budget: ByteBudget,
        limits: DecodeLimits,
    ) -> None:
        metrics = list(
            dict.fromkeys(column.metric for member in group.members for column in member.columns)
        )
        self._request, self._dictionary = request, request.dictionary
        self._max_depth = limits.max_depth
        self._numbers = {metric: number for number, metric in enumerate(metrics)}
        self._stacks: dict[Hashable, bytes] = {}
        self._labels: dict[tuple[int, ...], bytes] = {}
        self.encoder = PprofEncoder(request.dictionary, request.revision, metrics, budget)
        self.left_out: Counter[str] = Counter()  # samples by reason
        self.trace_links = 0  # of samples, which are not stored

    def add(self, member: GroupMember) -> None:
        """Add the samples of a profile; bad ones are counted in `left_out`."""
        profile, samples = member.profile, self._request.samples
        columns = [
            (self._numbers[column.metric], column.sample_type, column.factor)
            for column in member.columns
        ]
        first, last = profile.samples.start, profile.samples.stop
        value_at = _start(samples.value_ends, first)
        attribute_at = _start(samples.attribute_ends, first)
        values = samples.values[value_at : _start(samples.value_ends, last)].tolist()
        attributes = samples.attributes[
            attribute_at : _start(samples.attribute_ends, last)
        ].tolist()
        stack_of = self._stack_reader(profile)
        rows = zip(
            samples.stack[first:last].tolist(),
            samples.length[first:last].tolist(),
            samples.link[first:last].tolist(),
            (samples.value_ends[first:last] - value_at).tolist(),
            (samples.attribute_ends[first:last] - attribute_at).tolist(),
            samples.timestamps[first:last].tolist(),
            strict=True,
        )
        value_start = attribute_start = 0
        for stack, length, link, value_end, attribute_end, timestamps in rows:
            try:
                has_link = self._is_trace_link(link)
                totals = self._totals(profile, values[value_start:value_end], timestamps)
                self.encoder.add(
                    stack_of(stack, length),
                    self._label_bytes(attributes[attribute_start:attribute_end]),
                    [(metric, totals[kind] * factor) for metric, kind, factor in columns],
                )
                self.trace_links += has_link
            except BadProfile as error:
                self._leave_out(error.reason)
            value_start, attribute_start = value_end, attribute_end

    def _leave_out(self, reason: str) -> None:
        is_common = reason in self.left_out or len(self.left_out) < _MOST_REASONS
        self.left_out[reason if is_common else _OTHER_REASONS] += 1

    def _totals(self, profile: OtlpProfile, values: list[int], timestamps: int) -> list[int]:
        """Return the total of a sample for each sample type of its profile.

        With one sample type there is a value for each timestamp, a single one, or none: then each
        timestamp counts 1.
        """
        types = profile.sample_types
        if len(types) > 1:
            if len(values) != len(types):
                raise BadProfile(
                    f"A sample has {len(values)} values for {len(types)} sample types."
                )
            return values
        if not values:
            if not timestamps:
                raise BadProfile("A sample has neither values nor timestamps.")
            return [timestamps]
        is_old = self._request.revision is Revision.UP_TO_1_7
        if is_old and values == [1] and timestamps > 1 and counts_samples(types[0]):
            return [timestamps]  # as eBPF profilers of that time sent them
        return [sum(values)]

    def _stack_reader(self, profile: OtlpProfile) -> Callable[[int, int], bytes]:
        """Return a function that encodes the stack of a sample, by its fields 1 and 2."""
        stacks, encoder = self._stacks, self.encoder
        if self._request.revision is not Revision.UP_TO_1_7:

            def get_by_index(index: int, _: int) -> bytes:
                packed = stacks.get(index)
                if packed is None:
                    is_absent = index == 0 and not self._dictionary.stacks
                    stack = [] if is_absent else self._dictionary.stack(index)
                    packed = stacks[index] = encoder.stack(stack)
                return packed

            return get_by_index
        indexes = self._request.location_indexes(profile)
        samples, own = self._request.samples, slice(profile.samples.start, profile.samples.stop)
        excess = int(_counts_threads(samples.stack[own], samples.length[own], len(indexes)))

        def get_by_range(start: int, length: int) -> bytes:
            length -= excess
            packed = stacks.get((profile.number, start, length))
            if packed is None:
                if start + length > len(indexes):
                    raise BadProfile(
                        f"Locations {start} to {start + length} of a sample are out of range: the "
                        f"profile has {len(indexes)}."
                    )
                if length > self._max_depth:
                    raise TooLarge(setting("max_depth"), length, self._max_depth)
                packed = encoder.stack(indexes[start : start + length])
                stacks[profile.number, start, length] = packed
            return packed

        return get_by_range

    def _label_bytes(self, attributes: list[int]) -> bytes:
        key = tuple(attributes)
        encoded = self._labels.get(key)
        if encoded is None:
            encoded = self._labels[key] = self.encoder.labels(self._sample_labels(key))
        return encoded

    def _sample_labels(self, attributes: Sequence[int]) -> list[Label]:
        labels = []
        for index in attributes:
            key, value, unit = self._dictionary.attribute(index, self._request.revision)
            if key and value:
                is_number = unit and _INTEGER.fullmatch(value)
                labels.append((key, value, unit if is_number else ""))
        return labels

    def _is_trace_link(self, index: int) -> bool:
        """Return True if a sample has a link. Raise BadProfile if there is none at the index.

        A link is no sample label: each has its own value, and would be stored by itself.
        """
        if index <= 0 and not (index == 0 and self._dictionary.links):
            return False
        return self._dictionary.has_link(index)


def _counts_threads(
    starts: NDArray[np.uint64], lengths: NDArray[np.uint64], locations: int
) -> bool:
    """Return True if the length of each stack is one too large.

    async-profiler 4.2 counts the thread of a sample (`threads`), for which it writes no location.
    Then each stack ends where the next one begins, and the last one at the end, only without it;
    a message that means its lengths would lead past the end.
    """
    if not starts.size or starts[0] or not lengths.all():
        return False
    ends = starts + lengths - np.uint64(1)
    return bool((starts[1:] == ends[:-1]).all()) and int(ends[-1]) == locations


def _start(ends: NDArray[np.int64], sample: int) -> int:
    """Return the index of the first element of a sample."""
    return int(ends[sample - 1]) if sample else 0


def _describe_left_out(left_out: Counter[str]) -> tuple[str, ...]:
    """Return a sentence for each of the commonest reasons, and one for all others."""
    common = left_out.most_common(3)
    sentences = [
        f"{count:,} {_pluralise_samples(count)} left out: {reason[:_LONGEST_REASON]}"
        for reason, count in common
    ]
    rest = left_out.total() - sum(count for _, count in common)
    if rest:
        sentences.append(f"{rest:,} more {_pluralise_samples(rest)} left out for other reasons.")
    return tuple(sentences)


def _pluralise_samples(count: int) -> str:
    return "sample was" if count == 1 else "samples were"

"""Reader of ExportProfilesServiceRequest, a message of OTLP profiles in any wire revision."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ingest.formats.otlp import attributes
from ingest.formats.otlp.attributes import Attribute
from ingest.formats.otlp.dictionary import Ranges, SharedTables
from ingest.formats.otlp.revision import (
    PROFILE_FIELDS,
    PROFILE_WIDTH,
    SAMPLE_FIELDS,
    SAMPLE_WIDTH,
    Evidence,
    Revision,
    detect,
)
from ingest.formats.otlp.sample_types import ValueType
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.columns import children, count_elements, numbers, scalars
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, DecodeLimits, setting
from profiles.engine.pprof.wire import WireReader

MAX_PROFILES = 5_000  # of one request; a host has about as many processes
MAX_ATTRIBUTES = 50_000  # of all resources of a request
_MOST_NUMBERS = 4 * 2**20  # elements of a repeated field: 32 MiB as an array


@dataclass(frozen=True, slots=True)
class OtlpProfile:
    """Message Profile, without its samples."""

    number: int  # index in the request
    resource: int  # index of its resource
    sample_types: tuple[ValueType, ...]
    period_type: ValueType
    period: int
    time_ns: int  # Unix time; 0: unknown
    duration_ns: int  # 0: unknown
    samples: range  # indexes in SampleColumns
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Fields of all samples of a request; ends are indexes into the elements of all samples."""

    stack: NDArray[np.uint64]  # index of the stack; up to 1.7 the first index of its locations
    length: NDArray[np.uint64]  # up to 1.7, number of locations
    link: NDArray[np.int64]  # index; -1: none
    values: NDArray[np.int64]
    value_ends: NDArray[np.int64]
    attributes: NDArray[np.int64]
    attribute_ends: NDArray[np.int64]
    timestamps: NDArray[np.int64]  # number of timestamps


@dataclass(frozen=True, slots=True)
class ExportRequest:
    revision: Revision
    dictionary: SharedTables
    resources: list[dict[str, str]]  # attributes of each resource
    profiles: list[OtlpProfile]
    rejections: list[str]  # reasons, one for each profile that is not in `profiles`
    samples: SampleColumns
    reader: WireReader
    profile_ranges: Ranges
    size: int  # bytes

    def location_indexes(self, profile: OtlpProfile) -> list[int]:
        """Return the locations that samples of a profile up to OTLP 1.7 point into."""
        ranges = self.profile_ranges[profile.number : profile.number + 1]
        found, _ = numbers(self.reader, ranges, 3, "location_indices of a profile", _MOST_NUMBERS)
        indexes: list[int] = found.tolist()
        return indexes


def read_request(
    body: bytes, limits: DecodeLimits, revision: Revision | None = None
) -> ExportRequest:
    """Read a request; the revision is detected if it is not given.

    Raise `BadProfile` if the bytes are no such message, or `TooLarge` above a limit. A profile that
    is bad by itself, or of a resource with bad attributes, is in `rejections`.
    """
    return _RequestReader(body, limits, revision).request()


class _RequestReader:
    def __init__(self, body: bytes, limits: DecodeLimits, revision: Revision | None) -> None:
        self._body, self._limits = body, limits
        self._reader = reader = WireReader(body, "message of OTLP profiles")
        root = np.array([[0, len(body)]], np.intp)
        most = MAX_PROFILES
        self._resources, _ = children(reader, root, 1, "resources of an OTLP request", most)
        scopes, self._scope_ends = children(
            reader, self._resources, 2, "scopes of an OTLP request", most
        )
        self._profiles, self._profile_ends = children(
            reader, scopes, 2, "profiles of an OTLP request", most
        )
        self._samples, self._sample_ends = children(
            reader, self._profiles, 2, setting("max_samples"), limits.max_samples
        )
        dictionaries, _ = children(reader, root, 2, "dictionaries of an OTLP request", 64)
        self._dictionary = SharedTables(body, reader, dictionaries, limits)
        self._attributes, self._attribute_ends = self._resource_attributes()
        self._profile_values, self._profile_types = scalars(reader, self._profiles, PROFILE_WIDTH)
        self._sample_values, self._sample_types = scalars(reader, self._samples, SAMPLE_WIDTH)
        self._revision = revision or detect(self._evidence())
        self._rejections: list[str] = []

    def request(self) -> ExportRequest:
        self._require_dictionary()
        resources = self._read_resources()
        return ExportRequest(
            revision=self._revision,
            dictionary=self._dictionary,
            resources=[found if isinstance(found, dict) else {} for found in resources],
            profiles=self._read_profiles(resources),
            rejections=self._rejections,
            samples=self._sample_columns(),
            reader=self._reader,
            profile_ranges=self._profiles,
            size=len(self._body),
        )

    def _evidence(self) -> Evidence:
        reader, samples = self._reader, self._samples
        field_2, ends = numbers(reader, samples, 2, "values of an OTLP request", _MOST_NUMBERS)
        messages = (self._body[start:stop] for start, stop in self._attributes.tolist())
        return Evidence(
            profiles=self._profile_types,
            samples=self._sample_types,
            has_key_indexes=any(map(attributes.has_indexes, messages)),
            has_text_keys=self._dictionary.has_text_keys(),
            field_2=field_2,
            counts_2=np.diff(ends, prepend=0),
            counts_5=self._read_fixed_counts(),
            field_3=self._sample_values[:, 3],
            field_4=self._sample_values[:, 4],
            attributes=self._dictionary.attributes,
            links=self._dictionary.links,
        )

    def _read_fixed_counts(self) -> NDArray[np.int64]:
        """Count 64-bit numbers in field 5; it is a varint up to OTLP 1.7."""
        if (self._sample_types[:, 5] == 0).any():
            return np.zeros(len(self._samples), np.int64)
        return count_elements(self._reader, self._samples, 5, True)

    def _resource_attributes(self) -> tuple[Ranges, NDArray[np.int64]]:
        """Return the attributes of all resources, and the end of each ResourceProfiles' ones."""
        limit = "attributes of resources of an OTLP request"
        resources, resource_ends = children(self._reader, self._resources, 1, limit, MAX_ATTRIBUTES)
        found, ends = children(self._reader, resources, 1, limit, MAX_ATTRIBUTES)
        return found, np.concatenate((np.zeros(1, np.int64), ends))[resource_ends]

    def _require_dictionary(self) -> None:
        if self._revision is Revision.UP_TO_1_7 and (self._profile_types[:, 4] == 2).any():
            raise BadProfile(
                "The message is of OTLP 1.5 or older, which has its tables in each profile. This "
                "server reads OTLP 1.6 and newer: update the sender."
            )

    def _read_resources(self) -> list[dict[str, str] | BadProfile]:
        return [self._read_resource(*bounds) for bounds in _bounds(self._attribute_ends)]

    def _read_resource(self, start: int, stop: int) -> dict[str, str] | BadProfile:
        text = self._dictionary.text
        found = {}
        try:
            for first, end in self._attributes[start:stop].tolist():
                attribute = attributes.key_value(self._body[first:end], text)
                found[attribute.key] = attribute.value
        except BadProfile as error:
            return error
        return found

    def _read_profiles(self, resources: list[dict[str, str] | BadProfile]) -> list[OtlpProfile]:
        of_resource = np.concatenate((np.zeros(1, np.int64), self._profile_ends))[self._scope_ends]
        profiles = []
        for resource, (start, stop) in enumerate(_bounds(of_resource)):
            for number in range(start, stop):
                try:
                    found = resources[resource]
                    if isinstance(found, BadProfile):
                        raise found
                    profiles.append(self._read_profile(number, resource))
                except BadProfile as error:
                    self._rejections.append(error.reason)
        return profiles

    def _read_profile(self, number: int, resource: int) -> OtlpProfile:
        fields = PROFILE_FIELDS[self._revision]
        values = self._profile_values[number].tolist()
        types = self._value_types(number, 1)
        period_types = self._value_types(number, fields.period_type)
        start = int(self._sample_ends[number - 1]) if number else 0
        return OtlpProfile(
            number=number,
            resource=resource,
            sample_types=types if self._revision is Revision.UP_TO_1_7 else types[-1:],
            period_type=period_types[-1] if period_types else ValueType("", ""),
            period=_to_signed(values[fields.period]),
            time_ns=max(0, _to_signed(values[fields.time])),
            duration_ns=max(0, _to_signed(values[fields.duration])),
            samples=range(start, int(self._sample_ends[number])),
            attributes=self._profile_attributes(number, fields.attributes),
        )

    def _value_types(self, profile: int, field: int) -> tuple[ValueType, ...]:
        ranges = self._profiles[profile : profile + 1]
        limit = "sample types of a profile"
        messages, _ = children(self._reader, ranges, field, limit, MAX_SAMPLE_TYPES)
        text = self._dictionary.type_text
        rows = scalars(self._reader, messages, 3)[0].tolist()
        return tuple(ValueType(text(name), text(unit)) for _, name, unit in rows)

    def _profile_attributes(self, profile: int, field: int) -> tuple[Attribute, ...]:
        if not field:
            return ()
        ranges = self._profiles[profile : profile + 1]
        limit = "attributes of a profile"
        indexes, _ = numbers(self._reader, ranges, field, limit, 1_000)
        return tuple(
            self._dictionary.attribute(index, self._revision) for index in indexes.tolist()
        )

    def _sample_columns(self) -> SampleColumns:
        fields = SAMPLE_FIELDS[self._revision]
        reader, samples = self._reader, self._samples
        sample_values = self._sample_values
        link = sample_values[:, fields.link].astype(np.int64)
        link[self._sample_types[:, fields.link] != 0] = -1
        values, value_ends = numbers(
            reader, samples, fields.values, "values of an OTLP request", _MOST_NUMBERS
        )
        attribute, attribute_ends = numbers(
            reader,
            samples,
            fields.attributes,
            "attribute_indices of an OTLP request",
            _MOST_NUMBERS,
        )
        return SampleColumns(
            stack=sample_values[:, 1],
            length=sample_values[:, 2],
            link=link,
            values=values,
            value_ends=value_ends,
            attributes=attribute,
            attribute_ends=attribute_ends,
            timestamps=count_elements(
                reader, samples, fields.timestamps, fields.has_fixed_timestamps
            ),
        )


def _bounds(ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the (start, stop) of each message's elements."""
    return list(pairwise([0, *ends.tolist()]))


def _to_signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value

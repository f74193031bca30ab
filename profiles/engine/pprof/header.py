"""Sample types, times and common labels of a pprof profile, read without decoding its samples."""

from typing import NamedTuple

import numpy as np

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from profiles.engine.pprof.columns import numbers
from profiles.engine.pprof.limits import DecodeLimits, setting
from profiles.engine.pprof.samples import read_labels
from profiles.engine.pprof.symbols import ProfileStrings
from profiles.engine.pprof.wire import ProfileFields, WireReader, varint_fields

_VALUES_FIELD = 2  # field number of the values of a sample


class ProfileHeader(NamedTuple):
    sample_types: tuple[Metric, ...]  # names and units as the profile writes them
    time_ns: int  # since 1970; 0 if unknown
    duration_ns: int  # 0 if unknown
    common_labels: dict[str, str]  # text labels that all samples have


def read_header(raw: bytes, limits: DecodeLimits) -> ProfileHeader:
    """Read the header of an uncompressed pprof profile.

    Raise `BadProfile` if it is no pprof profile, or `TooLarge`. Names are not checked further:
    decode_profile rejects unusable ones.
    """
    reader = WireReader(raw)
    fields = ProfileFields(reader, limits)
    strings = ProfileStrings(reader, fields.ranges["strings"])
    types = varint_fields(reader, fields.ranges["sample_types"], 3).tolist()
    if not types:
        raise BadProfile("Not a pprof profile: no sample types.")
    return ProfileHeader(
        sample_types=tuple(
            Metric(strings.text(name), strings.text(unit)) for _, name, unit in types
        ),
        time_ns=convert_to_ns(fields.scalars["time"]),
        duration_ns=max(0, fields.scalars["duration"]),
        common_labels=_common_labels(reader, fields, strings, limits),
    )


def find_negative_types(raw: bytes, limits: DecodeLimits) -> frozenset[str]:
    """Return the names of the sample types that have negative values, as differences do.

    Raise as read_header does. Nothing is found in samples without a value for each type, which
    decode_profile rejects.
    """
    reader = WireReader(raw)
    fields = ProfileFields(reader, limits)
    strings = ProfileStrings(reader, fields.ranges["strings"])
    types = varint_fields(reader, fields.ranges["sample_types"], 3)[:, 1].tolist()
    width, samples = len(types), fields.ranges["samples"]
    most = width * limits.max_samples
    values, ends = numbers(reader, samples, _VALUES_FIELD, setting("max_samples"), most)
    if not width or (np.diff(ends, prepend=0) != width).any():
        return frozenset()
    lowest = values.reshape(-1, width).min(axis=0, initial=0).tolist()
    return frozenset(
        strings.text(name) for name, value in zip(types, lowest, strict=True) if value < 0
    )


def convert_to_ns(time: int) -> int:
    """Return a profile's time in ns since 1970, or 0 if unknown; some senders use µs, ms or s.

    Times after the year 2262, which 64 bits cannot hold, are unknown.
    """
    for lowest, factor in ((10**17, 1), (10**14, 10**3), (10**11, 10**6), (10**8, 10**9)):
        if time >= lowest:
            return time * factor if time * factor < 2**63 else 0
    return 0


def _common_labels(
    reader: WireReader, fields: ProfileFields, strings: ProfileStrings, limits: DecodeLimits
) -> dict[str, str]:
    samples = fields.ranges["samples"]
    rows, row_of_label, _ = read_labels(reader, samples, limits, strings.mark_trace_links())
    counts = np.bincount(row_of_label, minlength=len(rows))
    common = rows[np.flatnonzero(counts == len(samples))].tolist() if len(samples) else []
    return {strings.text(key): strings.text(text) for _, key, text, *_ in common if text}

"""Wire revisions of OTLP profiles, and their detection.

OTLP 1.8 and 1.10 gave other field numbers to the fields of a sample, under the same package name.
A reader of one revision takes messages of another without an error, and loses their values.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from profiles.engine.pprof.columns import ABSENT

_VARINT, _FIXED64, _BYTES = 0, 1, 2  # wire types

# Width of the columns that `detect` needs: the highest field number, plus 1.
PROFILE_WIDTH, SAMPLE_WIDTH = 8, 7


class Revision(StrEnum):
    UP_TO_1_7 = "OTLP 1.7 or older"
    UP_TO_1_9 = "OTLP 1.8 or 1.9"
    SINCE_1_10 = "OTLP 1.10 or newer"


@dataclass(frozen=True, slots=True)
class SampleFields:
    """Field numbers of message Sample."""

    values: int
    attributes: int
    link: int
    timestamps: int
    has_fixed_timestamps: bool = True  # 64-bit numbers, not varints


@dataclass(frozen=True, slots=True)
class ProfileFields:
    """Field numbers of message Profile."""

    time: int
    duration: int
    period_type: int
    period: int
    attributes: int = 0  # 0: not read, because its number differs between 1.6 and 1.7


SAMPLE_FIELDS = {
    Revision.UP_TO_1_7: SampleFields(3, 4, 5, 6, has_fixed_timestamps=False),
    Revision.UP_TO_1_9: SampleFields(2, 3, 4, 5),
    Revision.SINCE_1_10: SampleFields(4, 2, 3, 5),
}
PROFILE_FIELDS = {
    Revision.UP_TO_1_7: ProfileFields(4, 5, 6, 7),
    Revision.UP_TO_1_9: ProfileFields(3, 4, 5, 6, 11),
    Revision.SINCE_1_10: ProfileFields(3, 4, 5, 6, 11),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Properties of a whole request that differ between the revisions.

    Wire types are int8 [profiles, PROFILE_WIDTH] and [samples, SAMPLE_WIDTH]; the others describe
    samples, and the tables that indexes of samples point into.
    """

    profiles: NDArray[np.int8]
    samples: NDArray[np.int8]
    has_key_indexes: bool  # resource attributes point into the table of strings
    has_text_keys: bool  # attributes in the dictionary have their keys as texts
    field_2: NDArray[np.int64]  # elements of field 2 of all samples
    counts_2: NDArray[np.int64]  # elements of field 2 of each sample
    counts_5: NDArray[np.int64]  # 64-bit elements of field 5 of each sample
    field_3: NDArray[np.uint64]  # the last number of field 3 of each sample, like the next
    field_4: NDArray[np.uint64]
    attributes: int  # entries of the table of attributes
    links: int  # entries of the table of links


def detect(evidence: Evidence) -> Revision:
    """Return the revision in which all profiles of the request are written.

    Whether numbers are packed is no evidence: some senders pack none. Where the wire types leave
    two readings, the one whose indexes are in their tables is taken, and the newest if both are.
    """
    if _is_up_to_1_7(evidence):
        return Revision.UP_TO_1_7
    return Revision.SINCE_1_10 if _is_since_1_10(evidence) else Revision.UP_TO_1_9


def _is_up_to_1_7(evidence: Evidence) -> bool:
    """Tell by the wire types of Profile, which changed for most of its fields."""
    profiles = evidence.profiles
    clues = (
        ((profiles[:, 3] == _BYTES) | (profiles[:, 3] == _VARINT), True),  # location_indices
        (profiles[:, 3] == _FIXED64, False),  # time_unix_nano
        ((profiles[:, 5] == _BYTES) | (profiles[:, 6] == _VARINT), False),  # period_type, period
        ((profiles[:, 5] == _VARINT) | (profiles[:, 6] == _BYTES), True),  # duration, period_type
        (evidence.samples[:, 6] != ABSENT, True),  # timestamps
    )
    for found, is_old in clues:
        if found.any():
            return is_old
    return evidence.has_text_keys


def _is_since_1_10(evidence: Evidence) -> bool:
    samples = evidence.samples
    has = samples != ABSENT
    if evidence.has_key_indexes:
        return True
    clues = (
        ((samples[:, 4] == _BYTES) | (has[:, 4] & ~has[:, 2] & ~has[:, 5]), True),  # values
        ((samples[:, 3] == _BYTES) | (has[:, 2] & ~has[:, 4] & ~has[:, 5]), False),
    )
    for found, is_new in clues:
        if found.any():
            return is_new
    if not has[:, 3:5].any() and bool((evidence.field_2 < evidence.attributes).all()):
        # Values and timestamps belong together one by one, attributes and timestamps do not.
        return not has[:, 2].any() or bool((evidence.counts_2 != evidence.counts_5).any())
    fits_1_9 = (evidence.field_3 < evidence.attributes) & (evidence.field_4 < evidence.links)
    fits_1_10 = (evidence.field_2 < evidence.attributes).all() and (
        evidence.field_3 < evidence.links
    ).all()
    # Field 4 is a link in 1.9; in 1.10 it has a value for each timestamp.
    is_link = has[:, 4] & ~has[:, 2] & (evidence.counts_5 > 1)
    if is_link.any() and fits_1_9.all():
        return False
    return bool(fits_1_10) or not fits_1_9.all()

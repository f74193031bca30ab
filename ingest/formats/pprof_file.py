"""Pass-through of pprof files: find their profile type."""

from collections.abc import Sequence

from ingest.formats.import_options import NO_OPTIONS, ImportOptions, type_of_metrics
from ingest.formats.imported_profile import ImportedProfile
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.columns import numbers
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, DecodeLimits, setting
from profiles.engine.pprof.symbols import ProfileStrings
from profiles.engine.pprof.wire import ProfileFields, WireReader, varint_fields
from projects.profile_types import ProfileType

_VALUES = 2  # field of a sample
_IN_USE, _ALLOCATED = "inuse_", "alloc_"


def import_pprof(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Return the file itself with its type. Raise BadProfile or TooLarge if it is no pprof file.

    The difference of two heap profiles, whose memory in use is negative where it shrank, is
    HEAP_ALLOC. Only the head and the signs of values are checked here; decoding checks the rest.
    """
    if options.type:
        return [ImportedProfile(options.type, raw)]
    reader, limits = WireReader(raw), DecodeLimits()
    fields = ProfileFields(reader, limits)
    names, type = _sample_types(reader, fields)
    allocated = tuple(name for name in names if name.lower().startswith(_ALLOCATED))
    if type is ProfileType.HEAP and allocated and _has_negative_use(reader, fields, names):
        left_out = ", ".join(name for name in names if name.lower().startswith(_IN_USE))
        warning = (
            f"{left_out} left out: the file is a difference of two heap profiles, with negative "
            "values. Its allocations are stored."
        )
        return [
            ImportedProfile(
                ProfileType.HEAP_ALLOC, raw, warnings=(warning,), sample_types=allocated
            )
        ]
    return [ImportedProfile(type, raw)]


def _sample_types(reader: WireReader, fields: ProfileFields) -> tuple[list[str], ProfileType]:
    """Return the names of the sample types, and the profile type that they have."""
    strings = ProfileStrings(reader, fields.ranges["strings"])
    rows = varint_fields(reader, fields.ranges["sample_types"], 3)[:MAX_SAMPLE_TYPES].tolist()
    if not rows:
        raise BadProfile("The format of the file was not recognised; state it as `format`.")
    metrics = [(strings.text(name), strings.text(unit)) for _, name, unit in rows]
    return [name for name, _ in metrics], type_of_metrics(metrics)


def _has_negative_use(reader: WireReader, fields: ProfileFields, names: Sequence[str]) -> bool:
    samples, width = fields.ranges["samples"], len(names)
    most = width * DecodeLimits().max_samples
    values, ends = numbers(reader, samples, _VALUES, setting("max_samples"), most)
    if len(values) != width * len(samples) or (ends[width - 1 :: width] % width).any():
        return False  # decoding rejects samples without a value for each type
    in_use = [k for k, name in enumerate(names) if name.lower().startswith(_IN_USE)]
    return bool((values.reshape(-1, width)[:, in_use] < 0).any())

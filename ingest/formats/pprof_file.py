"""Pass-through of pprof files: find their profile type."""

from ingest.formats.import_options import NO_OPTIONS, ImportOptions, type_of_metrics
from ingest.formats.imported_profile import ImportedProfile
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, DecodeLimits
from profiles.engine.pprof.symbols import ProfileStrings
from profiles.engine.pprof.wire import ProfileFields, WireReader, varint_fields
from projects.profile_types import ProfileType


def import_pprof(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Return the file itself with its type. Raise BadProfile or TooLarge if it is no pprof file.

    Only its head is checked here; decoding it checks the rest.
    """
    return [ImportedProfile(options.type or _type(raw), raw)]


def _type(raw: bytes) -> ProfileType:
    reader = WireReader(raw)
    fields = ProfileFields(reader, DecodeLimits())
    strings = ProfileStrings(reader, fields.ranges["strings"])
    rows = varint_fields(reader, fields.ranges["sample_types"], 3).tolist()
    if not rows:
        raise BadProfile("The format of the file was not recognised; state it as `format`.")
    metrics = [(strings.text(name), strings.text(unit)) for _, name, unit in rows]
    return type_of_metrics(metrics[:MAX_SAMPLE_TYPES])

"""Pass-through of pprof files: find their profile type."""

from ingest.formats.import_options import NO_OPTIONS, ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import unit_of
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPES, DecodeLimits
from profiles.engine.pprof.symbols import ProfileStrings
from profiles.engine.pprof.wire import ProfileFields, WireReader, varint_fields
from projects.profile_types import ProfileType

# The first of these names that is among a file's sample types decides. Go's heap profiles have
# allocations and memory in use.
_TYPES = (
    *((name, ProfileType.HEAP) for name in ("inuse_space", "inuse_objects", "space")),
    *((name, ProfileType.HEAP_ALLOC) for name in ("alloc_space", "alloc_objects")),
    *((name, ProfileType.CONTENTION) for name in ("contentions", "delay", "lock", "lock_time")),
    *((name, ProfileType.THREADS) for name in ("goroutine", "thread", "threads")),
    *((name, ProfileType.WALL) for name in ("wall", "wall_time", "time")),
)


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
    names = {name.lower() for name, _ in metrics[:MAX_SAMPLE_TYPES]}
    for name, type in _TYPES:
        if name in names:
            return type
    units = {unit_of(unit)[0] for _, unit in metrics[:MAX_SAMPLE_TYPES]}
    return ProfileType.HEAP if "bytes" in units else ProfileType.CPU

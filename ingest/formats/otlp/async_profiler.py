"""Engine of a capture of async-profiler that does not name it.

Versions 4.2 and 4.3 write the sample type `noop` for captures without an event of the processor,
such as those of allocations or locks alone. Their stacks tell these two: the innermost frame is a
class, with an annotation that methods do not have.
"""

from collections.abc import Callable, Sequence

from ingest.formats.otlp.request import ExportRequest, OtlpProfile
from ingest.formats.otlp.revision import Revision
from ingest.formats.otlp.sample_types import ValueType
from profiles.engine.errors import BadProfile, TooLarge

UNNAMED = "noop"
_ALLOCATIONS, _LOCKS = "object_sampler", "lock_tracer"
_UNITS = {_ALLOCATIONS: "bytes", _LOCKS: "ns"}
# Nearly each capture of allocations has an array among its first samples.
_MAX_SAMPLES_READ = 10_000
_CLASS_SUFFIX, _LARGE_OBJECT_SUFFIX = "_[i]", "_[k]"  # the latter is allocated outside of a TLAB
_PARK_METHODS = (
    "jdk/internal/misc/Unsafe.park",
    "sun/misc/Unsafe.park",
    "jdk.internal.misc.Unsafe.park",
)


def name_engine(request: ExportRequest, profile: OtlpProfile) -> tuple[ValueType, ...]:
    """Return the sample types of a profile, with the engine if they lack it and stacks tell it.

    Arrays and large objects are allocated, not locked; parked threads wait for locks.
    """
    types = profile.sample_types
    if not any(each.name == UNNAMED for each in types):
        return types
    engine = _find_engine(request, profile)
    if not engine:
        return types
    units = {"total": _UNITS[engine]}
    return tuple(ValueType(engine, units.get(each.unit, each.unit)) for each in types)


def _find_engine(request: ExportRequest, profile: OtlpProfile) -> str:
    read_stack = _stack_reader(request, profile)
    for sample in profile.samples[:_MAX_SAMPLES_READ]:
        try:
            leaf, caller = (*map(request.dictionary.function_name, read_stack(sample)), "", "")[:2]
        except (BadProfile, TooLarge):
            continue  # the conversion reports it
        if leaf.endswith((_LARGE_OBJECT_SUFFIX, f"[]{_CLASS_SUFFIX}")):
            return _ALLOCATIONS
        if leaf.endswith(_CLASS_SUFFIX) and caller in _PARK_METHODS:
            return _LOCKS
    return ""


def _stack_reader(request: ExportRequest, profile: OtlpProfile) -> Callable[[int], Sequence[int]]:
    """Return a function that returns the two innermost locations of a sample."""
    samples = request.samples
    if request.revision is not Revision.UP_TO_1_7:
        return lambda sample: request.dictionary.innermost(int(samples.stack[sample]), 2)
    locations = request.location_indexes(profile)

    def by_range(sample: int) -> Sequence[int]:
        start, length = int(samples.stack[sample]), int(samples.length[sample])
        return locations[start : start + min(length, 2)]

    return by_range

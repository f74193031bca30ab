"""Engine of a capture of async-profiler that does not name it.

Versions 4.2 and 4.3 write the sample type `noop` for captures without an event of the processor,
such as those of allocations or locks alone. Their stacks tell these two: the innermost frame is a
class, with an annotation that methods do not have. Where classes do not tell, totals do: those of
allocations are multiples of a size, those of locks are times in nanoseconds.
"""

import math
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
# Sizes of objects, and of the buffers that threads allocate in, are multiples of 8 bytes.
_ALIGNMENT = 8
# Bytes; the default interval of sampled allocations is 524,287. Times hardly have such a divisor.
_MIN_INTERVAL = 2**14
# Times may be multiples of a clock's period, which is a divisor of a microsecond.
_CLOCK_PERIOD = 1000  # ns
_MIN_ODDS = 100  # against times that are multiples of their counts by chance


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
    instances = []  # samples of a class that may be allocated or locked
    for sample in profile.samples[:_MAX_SAMPLES_READ]:
        try:
            leaf, caller = (*map(request.dictionary.function_name, read_stack(sample)), "", "")[:2]
        except (BadProfile, TooLarge):
            continue  # the conversion reports it
        if leaf.endswith((_LARGE_OBJECT_SUFFIX, f"[]{_CLASS_SUFFIX}")):
            return _ALLOCATIONS
        if leaf.endswith(_CLASS_SUFFIX):
            if caller in _PARK_METHODS:
                return _LOCKS
            instances.append(sample)
    return _engine_of_values(*_values(request, profile, instances))


def _values(
    request: ExportRequest, profile: OtlpProfile, samples: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the positive counts and totals of samples; 4.3 writes one of them, the other is []."""
    units = [each.unit for each in profile.sample_types]
    columns: dict[str, list[int]] = {"count": [], "total": []}
    for sample in samples:
        stop = int(request.samples.value_ends[sample])
        start = int(request.samples.value_ends[sample - 1]) if sample else 0
        values = request.samples.values[start:stop].tolist()
        if len(values) == len(units) and min(values, default=0) > 0:
            for unit, value in zip(units, values, strict=True):
                columns.get(unit, []).append(value)
    return columns["count"], columns["total"]


def _engine_of_values(counts: Sequence[int], totals: Sequence[int]) -> str:
    """Return the engine of samples of instances, which have one size for each stack.

    A sampled allocation counts as its size, or as the interval if that is larger; up to Java 10 as
    the size of its thread's buffer.
    """
    if counts and totals:
        rows = list(zip(counts, totals, strict=True))
        if any(total % count and total % _ALIGNMENT for count, total in rows):
            return _LOCKS
        if not any(total % count for count, total in rows):
            odds = 1
            for count in counts:
                odds = min(odds * count // math.gcd(count, _CLOCK_PERIOD), _MIN_ODDS)
            if odds == _MIN_ODDS:
                return _ALLOCATIONS
    if len(totals) > 1:
        divisor = math.gcd(*totals)
        if divisor >= _MIN_INTERVAL:
            return _ALLOCATIONS
        if divisor < _ALIGNMENT:
            return _LOCKS
    return ""


def _stack_reader(request: ExportRequest, profile: OtlpProfile) -> Callable[[int], Sequence[int]]:
    """Return a function that returns the two innermost locations of a sample."""
    samples = request.samples
    if request.revision is not Revision.UP_TO_1_7:
        return lambda sample: request.dictionary.innermost(int(samples.stack[sample]), 2)
    locations = request.location_indexes(profile)

    def get_by_range(sample: int) -> Sequence[int]:
        start, length = int(samples.stack[sample]), int(samples.length[sample])
        return locations[start : start + min(length, 2)]

    return get_by_range

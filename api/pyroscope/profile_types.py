"""Pyroscope's ids of profile types, `process_cpu:cpu:nanoseconds:cpu:nanoseconds`, and ours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profiles.query import InvalidQuery, Metric
from projects.profile_types import ProfileType

MAX_ID = 300  # characters
# Parts of the ids of each profile type: name, period type, period unit.
_NAMES: Mapping[ProfileType, tuple[str, str, str]] = {
    ProfileType.CPU: ("process_cpu", "cpu", "nanoseconds"),
    ProfileType.WALL: ("wall", "wall", "nanoseconds"),
    ProfileType.HEAP: ("memory", "space", "bytes"),
    ProfileType.HEAP_ALLOC: ("memory", "space", "bytes"),
    ProfileType.PEAK_HEAP: ("peak_memory", "space", "bytes"),
    ProfileType.CONTENTION: ("mutex", "contentions", "count"),
    ProfileType.THREADS: ("goroutine", "goroutine", "count"),
}
_NAME_BY_ALIAS: Mapping[str, str] = {"goroutines": "goroutine", "threads": "goroutine"}
_BLOCK = "block"
# Label of contention profiles of Pyroscope's clients.
CONTENTION_LABEL = "contention"
# Values of CONTENTION_LABEL by the name in an id; "" stands for profiles without the label.
_CONTENTION_LABEL_VALUES: Mapping[str, tuple[str, ...]] = {
    "mutex": ("mutex", ""),
    _BLOCK: (_BLOCK,),
}


@dataclass(frozen=True, slots=True)
class TypeId:
    """Parsed id: the profile type and metric that it stands for."""

    id: str
    name: str
    sample_type: str
    sample_unit: str
    period_type: str
    period_unit: str
    type: ProfileType | None  # None: no profiles here have it

    @property
    def metric(self) -> Metric:
        return Metric(self.sample_type, self.sample_unit)

    @property
    def contention(self) -> tuple[str, ...]:
        """Return the allowed values of CONTENTION_LABEL; empty: any."""
        return _CONTENTION_LABEL_VALUES.get(self.name, ())


def parse_id(text: str) -> TypeId:
    """Parse an id of five parts, or of six with `delta` last. Raise InvalidQuery otherwise."""
    parts = text.split(":")
    is_delta = len(parts) == 6 and parts[5] == "delta"
    if len(text) > MAX_ID or "\0" in text or not (len(parts) == 5 or is_delta) or not parts[0]:
        raise InvalidQuery(
            f"{text[:60]!r} is not a profile type like process_cpu:cpu:nanoseconds:cpu:nanoseconds."
        )
    name, sample_type, unit, period_type, period_unit = parts[:5]
    type_ = _find_type(_NAME_BY_ALIAS.get(name, name), sample_type)
    return TypeId(text, name, sample_type, unit, period_type, period_unit, type_)


def build_type_ids(type_: ProfileType, metric: Metric) -> Iterator[TypeId]:
    """Yield the ids of a type's metric: two for contention, as Pyroscope tells its kinds apart."""
    name, period_type, period_unit = _NAMES[type_]
    if ":" in metric.name + metric.unit or _find_type(name, metric.name) is not type_:
        return  # for example allocations in profiles of the heap, which are totals since the start
    for own in (name, _BLOCK) if type_ is ProfileType.CONTENTION else (name,):
        parts = (own, metric.name, metric.unit, period_type, period_unit)
        yield TypeId(":".join(parts), *parts, type_)


def _find_type(name: str, sample_type: str) -> ProfileType | None:
    if name == "memory":
        is_in_use = sample_type.startswith("inuse")
        return ProfileType.HEAP if is_in_use else ProfileType.HEAP_ALLOC
    if name == _BLOCK:
        return ProfileType.CONTENTION
    return next((type_ for type_, (first_part, *_) in _NAMES.items() if first_part == name), None)

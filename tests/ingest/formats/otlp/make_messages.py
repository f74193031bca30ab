"""Writes sample messages of one wire revision to tests/samples/otlp, by opentelemetry-proto.

    python make_messages.py FOLDER NAME

FOLDER has the package opentelemetry-proto of some version, unpacked or installed; NAME starts the
names of the files. The samples come from 1.36.0 (`1.7`), 1.40.0 (`1.9`) and 1.45.2 (`1.10`).
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format

START = 1_790_000_000 * 10**9  # Unix time in ns, 2026-09-21
SECONDS = 10
SAMPLES = Path(__file__).parents[3] / "samples" / "otlp"
# Stacks with the leaf first; functions that are inlined into the next one are in brackets.
STACKS = (("[copy] work", "main"), ("idle", "main"))
COUNTS = (30, 12)


class MessageBuilder:
    """Builds one request with the classes of the installed version."""

    def __init__(self) -> None:
        name = "opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2"
        service = importlib.import_module(name)
        self.request = service.ExportProfilesServiceRequest()
        self.dictionary = self.request.dictionary
        self.has_stacks = hasattr(self.dictionary, "stack_table")
        self.has_units = self.has_stacks
        self.strings: dict[str, int] = {}
        self.string("")
        for table in ("mapping", "location", "function", "link"):
            getattr(self.dictionary, f"{table}_table").add()
        self.dictionary.attribute_table.add()
        if self.has_stacks:
            self.dictionary.stack_table.add()
        self.stacks: dict[tuple[str, ...], list[int]] = {}
        self.attributes: dict[tuple[str, object], int] = {}

    def string(self, text: str) -> int:
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.dictionary.string_table.append(text)
        return self.strings[text]

    def resource(self, attributes: Mapping[str, object], by_index: bool = False) -> Any:
        """Add a resource and return its scope, to which profiles are added."""
        resource = self.request.resource_profiles.add()
        for key, value in attributes.items():
            attribute = resource.resource.attributes.add()
            if by_index:
                attribute.key_strindex = self.string(key)
                attribute.value.string_value_strindex = self.string(str(value))
            else:
                attribute.key = key
                self.set_value(attribute.value, value)
        return resource.scope_profiles.add()

    def profile(
        self,
        scope: Any,
        types: Iterable[tuple[str, str]],
        period: tuple[str, str, int] | None = None,
    ) -> Any:
        profile = scope.profiles.add()
        for kind, unit in types:
            repeated = hasattr(profile.sample_type, "add")
            target = profile.sample_type.add() if repeated else profile.sample_type
            target.type_strindex, target.unit_strindex = self.string(kind), self.string(unit)
        if period:
            profile.period_type.type_strindex = self.string(period[0])
            profile.period_type.unit_strindex = self.string(period[1])
            profile.period = period[2]
        self.set(profile, ("time_unix_nano", "time_nanos"), START)
        self.set(profile, ("duration_nano", "duration_nanos"), SECONDS * 10**9)
        return profile

    def sample(
        self,
        profile: Any,
        stack: tuple[str, ...],
        values: Iterable[int] = (),
        timestamps: int = 0,
        attributes: dict[str, object] | None = None,
        link: tuple[bytes, bytes] | None = None,
    ) -> None:
        samples = profile.samples if hasattr(profile, "samples") else profile.sample
        sample = samples.add()
        locations = self.locations(stack)
        if self.has_stacks:
            sample.stack_index = self.stack(locations)
        else:
            sample.locations_start_index = len(profile.location_indices)
            sample.locations_length = len(locations)
            profile.location_indices.extend(locations)
        (sample.values if hasattr(sample, "values") else sample.value).extend(values)
        sample.timestamps_unix_nano.extend(START + 10**7 * nth for nth in range(timestamps))
        for item in (attributes or {}).items():
            sample.attribute_indices.append(self.attribute(*item))
        if link:
            entry = self.dictionary.link_table.add()
            entry.trace_id, entry.span_id = link
            sample.link_index = len(self.dictionary.link_table) - 1

    def stack(self, locations: list[int]) -> int:
        for index, entry in enumerate(self.dictionary.stack_table):
            if list(entry.location_indices) == locations:
                return index
        self.dictionary.stack_table.add().location_indices.extend(locations)
        return len(self.dictionary.stack_table) - 1

    def locations(self, stack: tuple[str, ...]) -> list[int]:
        if stack not in self.stacks:
            self.stacks[stack] = [self.location(text) for text in stack]
        return self.stacks[stack]

    def location(self, text: str) -> int:
        """Add a location; names in brackets are inlined functions, `+` starts an address."""
        location = self.dictionary.location_table.add()
        lines = location.lines if hasattr(location, "lines") else location.line
        if text.startswith("+"):
            binary, _, address = text[1:].partition(" ")
            mapping = self.dictionary.mapping_table.add()
            mapping.filename_strindex = self.string(binary)
            location.mapping_index = len(self.dictionary.mapping_table) - 1
            location.address = int(address, 16)
            return len(self.dictionary.location_table) - 1
        for nth, name in enumerate(text.replace("[", "").replace("]", "").split()):
            function = self.dictionary.function_table.add()
            function.name_strindex = self.string(name)
            function.filename_strindex = self.string("app.py")
            index = len(self.dictionary.function_table) - 1
            lines.add(function_index=index, line=10 + nth)
        return len(self.dictionary.location_table) - 1

    def native(
        self, mapping: tuple[int, int, int, str], build_ids: Mapping[str, str], address: int
    ) -> int:
        """Add a location without lines, in a new mapping (start, limit, file offset, file)."""
        entry = self.dictionary.mapping_table.add()
        entry.memory_start, entry.memory_limit, entry.file_offset = mapping[:3]
        entry.filename_strindex = self.string(mapping[3])
        for key, build_id in build_ids.items():
            name = f"process.executable.build_id.{key}"
            entry.attribute_indices.append(self.attribute(name, build_id))
        index = len(self.dictionary.mapping_table) - 1
        self.dictionary.location_table.add(mapping_index=index, address=address)
        return len(self.dictionary.location_table) - 1

    def attribute(self, key: str, value: object) -> int:
        if (key, value) not in self.attributes:
            entry = self.dictionary.attribute_table.add()
            if self.has_units:
                entry.key_strindex = self.string(key)
                if key == "size":
                    entry.unit_strindex = self.string("bytes")
            else:
                entry.key = key
            self.set_value(entry.value, value)
            self.attributes[key, value] = len(self.dictionary.attribute_table) - 1
        return self.attributes[key, value]

    @staticmethod
    def set_value(target: Any, value: object) -> None:
        if isinstance(value, bool):
            target.bool_value = value
        elif isinstance(value, int):
            target.int_value = value
        elif isinstance(value, tuple):
            for item in value:
                target.array_value.values.add().string_value = item
        else:
            target.string_value = str(value)

    @staticmethod
    def set(message: Any, names: tuple[str, ...], value: int) -> None:
        setattr(message, next(name for name in names if hasattr(message, name)), value)

    def encoded(self) -> bytes:
        return bytes(self.request.SerializeToString())


RESOURCE = {
    "service.name": "checkout",
    "service.version": "1.4",
    "cloud.availability_zone": "eu-1",
    "telemetry.sdk.language": "java",
    "service.instance.id": "pod-7",
    "team": "payments",
}
CPU = [("cpu", "nanoseconds")]
EBPF = [("samples", "count")]
EBPF_PERIOD = ("cpu", "nanoseconds", 10**9 // 20)
GNU_BUILD_ID = "3f2a9c51d0e84b7796a1c2d3e4f5061728394a5b"
GO_BUILD_ID = "9qVZ_abc/K-d1efg/hijk/lmno"
LINK = (bytes(range(1, 17)), bytes(range(1, 9)))


def values() -> MessageBuilder:
    """CPU time with values, labels, a link, and an attribute of each type."""
    builder = MessageBuilder()
    profile = builder.profile(builder.resource(RESOURCE), CPU, ("cpu", "nanoseconds", 10**7))
    labels = {"thread.name": "worker", "size": 512, "ok": True, "tags": ("a", "b")}
    builder.sample(profile, STACKS[0], [COUNTS[0] * 10**7], attributes=labels, link=LINK)
    builder.sample(profile, STACKS[1], [COUNTS[1] * 10**7], attributes={"thread.name": "main"})
    return builder


def timestamps() -> MessageBuilder:
    """Samples of two processes without values, as the eBPF profiler sends them."""
    builder = MessageBuilder()
    for name, counts in (("nginx", COUNTS), ("nginx", COUNTS), ("redis", (5, 1))):
        attributes = {"process.executable.name": name, "process.pid": len(name)}
        profile = builder.profile(builder.resource(attributes), EBPF, EBPF_PERIOD)
        for stack, count in zip((STACKS[0], ("+/usr/bin/nginx 1f20",)), counts, strict=True):
            builder.sample(profile, stack, (), count, {"thread.name": "a", "cpu": 3})
    return builder


def heap() -> MessageBuilder:
    """The four sample types of Go's heap: four profiles, or one up to OTLP 1.7."""
    builder = MessageBuilder()
    scope = builder.resource({"service.name": "checkout"})
    types = [
        *(("alloc_objects", "count"), ("alloc_space", "bytes")),
        *(("inuse_objects", "count"), ("inuse_space", "bytes")),
    ]
    numbers = (100, 6400, 10, 640)
    if builder.has_stacks:
        for kind, value in zip(types, numbers, strict=True):
            builder.sample(builder.profile(scope, [kind]), STACKS[0], [value])
    else:
        builder.sample(builder.profile(scope, types), STACKS[0], numbers)
    return builder


def off_cpu() -> MessageBuilder:
    """Values and timestamps: both have one element for each event."""
    builder = MessageBuilder()
    scope = builder.resource({"process.executable.name": "redis"})
    profile = builder.profile(scope, [("off_cpu", "nanoseconds")])
    builder.sample(profile, STACKS[1], [10**7, 2 * 10**7], 2)
    return builder


def native() -> MessageBuilder:
    """Native frames of two processes of one program, as the eBPF profiler sends them.

    Up to OTLP 1.7 it begins its table of mappings with a real one.
    """
    builder = MessageBuilder()
    if not builder.has_stacks:
        del builder.dictionary.mapping_table[:]
    libfoo = {"gnu": GNU_BUILD_ID, "htlhash": "0123456789abcdef0123456789abcdef"}
    go = {"go": GO_BUILD_ID, "htlhash": "fedcba9876543210fedcba9876543210"}
    for base in (0x7F00_0000_0000, 0x7FAA_0000_0000):
        locations = (
            builder.native((base, base + 0x9000, 0x1000, "libfoo.so.1"), libfoo, base + 0x234),
            builder.native((0x401000, 0x409000, 0x1000, "shop"), go, 0x401500),
            builder.native((base, base + 0x100, 0, "busybox"), {"htlhash": "ab" * 16}, base + 0x77),
        )
        builder.stacks[str(base),] = [*locations]
        profile = builder.profile(builder.resource({"service.name": "shop"}), EBPF, EBPF_PERIOD)
        builder.sample(profile, (str(base),), (), 4, {"thread.name": "a"})
    return builder


def other_types() -> MessageBuilder:
    """A profile of a type that the server does not know, and a good one."""
    builder = MessageBuilder()
    scope = builder.resource({"service.name": "checkout"})
    builder.sample(builder.profile(scope, [("cuda_kernel_exec", "nanoseconds")]), STACKS[0], [7])
    builder.sample(builder.profile(scope, [("wall", "nanoseconds")]), STACKS[0], [10**9])
    return builder


def indexes() -> MessageBuilder:
    """Resource attributes by index, as the Collector sends them from OTLP 1.10 on."""
    builder = MessageBuilder()
    scope = builder.resource({"service.name": "checkout", "team": "payments"}, by_index=True)
    profile = builder.profile(scope, EBPF, EBPF_PERIOD)
    builder.sample(profile, STACKS[0], (), 4, {"thread.name": "a"})
    return builder


def main(folder: str, name: str) -> None:
    sys.path.insert(0, folder)
    kinds = [values, timestamps, heap, off_cpu, native, other_types]
    if name == "1.10":
        kinds.append(indexes)
    SAMPLES.mkdir(exist_ok=True)
    for kind in kinds:
        builder = kind()
        (SAMPLES / f"{name}-{kind.__name__}.pb").write_bytes(builder.encoded())
        if kind in (values, native):
            text = json_format.MessageToJson(builder.request, indent=1)
            (SAMPLES / f"{name}-{kind.__name__}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

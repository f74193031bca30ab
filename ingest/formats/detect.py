"""Recognise the format of a file by its content."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import pairwise

from ingest.formats.austin import import_austin
from ingest.formats.folded import import_folded
from ingest.formats.import_options import ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.perf_script import SAMPLE, import_perf_script
from ingest.formats.pprof_file import import_pprof
from ingest.formats.speedscope import import_speedscope
from ingest.formats.v8_profiles import import_cpu_profile, import_heap_profile
from profiles.engine.errors import BadProfile
from profiles.engine.pprof.gunzip import gunzip

_HEAD = 4096  # bytes that decide between text and pprof
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_AUSTIN = re.compile(r"# austin: |P\d+;T\d|P\d+;T\d+:\d")
_PERF_FRAME = re.compile(r"\s+[0-9a-f]+ .+")
_LINES = 200  # lines of a text that are looked at


class FileFormat(StrEnum):
    PPROF = "pprof"
    JFR = "jfr"
    FOLDED = "folded"
    AUSTIN = "austin"
    SPEEDSCOPE = "speedscope"
    PERF_SCRIPT = "perf-script"
    CPU_PROFILE = "cpuprofile"
    HEAP_PROFILE = "heapprofile"


Importer = Callable[[bytes, ImportOptions], list[ImportedProfile]]


def _import_recording(raw: bytes, options: ImportOptions) -> list[ImportedProfile]:
    profiles = import_jfr(raw, max_raw=len(raw))
    found = [profile for profile in profiles if options.type in {None, profile.type}]
    if not found:
        types = ", ".join(profile.type for profile in profiles)
        raise BadProfile(f"The JFR recording has no {options.type} samples; it has {types}.")
    return found


IMPORTERS: Mapping[FileFormat, Importer] = {
    FileFormat.PPROF: import_pprof,
    FileFormat.JFR: _import_recording,
    FileFormat.FOLDED: import_folded,
    FileFormat.AUSTIN: import_austin,
    FileFormat.SPEEDSCOPE: import_speedscope,
    FileFormat.PERF_SCRIPT: import_perf_script,
    FileFormat.CPU_PROFILE: import_cpu_profile,
    FileFormat.HEAP_PROFILE: import_heap_profile,
}


def import_file(
    body: bytes, options: ImportOptions, max_raw: int, stated: FileFormat | None = None
) -> list[ImportedProfile]:
    """Convert a file, gzipped or not, of the stated format or of the one that it seems to have.

    Raise BadProfile if it cannot be read, TooLarge above `max_raw` bytes or another limit.
    """
    raw = gunzip(body, max_raw)
    return IMPORTERS[stated or detect(raw)](raw, options)


def detect(raw: bytes) -> FileFormat:
    """Return the format of an uncompressed file. Raise BadProfile for JSON of no known format."""
    if raw.startswith(b"FLR\0"):
        return FileFormat.JFR
    if raw.startswith(b"MOJ"):
        raise BadProfile("Austin's binary format is not supported. Convert the file: mojo2austin.")
    head = raw[:_HEAD]
    if head.lstrip().startswith(b"{"):
        return _detect_json(raw)
    if _BINARY.search(head):
        return FileFormat.PPROF
    return _detect_text(head)


def _detect_json(raw: bytes) -> FileFormat:
    if b'"callFrame"' in raw:
        return FileFormat.HEAP_PROFILE if b'"head"' in raw else FileFormat.CPU_PROFILE
    if b'"shared"' in raw and b'"profiles"' in raw:
        return FileFormat.SPEEDSCOPE
    raise BadProfile(
        "The JSON file is no known profile: speedscope, .cpuprofile and .heapprofile are supported."
    )


def _detect_text(head: bytes) -> FileFormat:
    lines = [line for line in head.decode("utf-8", "replace").split("\n") if line.strip()]
    if any(_AUSTIN.match(line) for line in lines[:_LINES]):
        return FileFormat.AUSTIN
    for line, following in pairwise(lines):
        if SAMPLE.fullmatch(line.strip()) and _PERF_FRAME.fullmatch(following):
            return FileFormat.PERF_SCRIPT
    return FileFormat.FOLDED

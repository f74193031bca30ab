"""Recognise the format of a file by its content."""

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import gunzip

_FREE_RAW_BYTES = 4 * 2**20  # that any gzip may unpack to
_MOST_RATIO = 100  # of unpacked to sent bytes beyond; folded stacks of real programs have up to 40
_HEAD = 4096  # bytes that decide between text and pprof
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_AUSTIN = re.compile(r"# austin: |P\d+;T\d|P\d+;T\d+:\d")
_PERF_FRAME = re.compile(r"\s+[0-9a-f]+ .+")
_CALLGRIND = re.compile(r"# callgrind format|(?:events|positions): \w|fn=")
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


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """Detected or stated format of a file, and a profile for each type in it."""

    format: FileFormat
    profiles: list[ImportedProfile]

    @property
    def states_duration(self) -> bool:
        """Return True if durations may be in the profiles themselves."""
        return self.format is FileFormat.PPROF


def import_file(
    body: bytes, options: ImportOptions, max_raw: int, stated: FileFormat | None = None
) -> ConvertedFile:
    """Convert a file, gzipped or not, of the stated format or of the one that it seems to have.

    Raise BadProfile if it cannot be read, TooLarge above `max_raw` bytes or another limit.
    """
    raw = _convert_to_utf8(_unpack(body, max_raw))
    form = stated or detect(raw)
    return ConvertedFile(form, IMPORTERS[form](raw, options))


def _unpack(body: bytes, max_raw: int) -> bytes:
    """Gunzip a file, whose sender pays for no more bytes than it could have sent by hand."""
    allowed = _FREE_RAW_BYTES + _MOST_RATIO * len(body)
    if allowed >= max_raw:
        return gunzip(body, max_raw)
    try:
        return gunzip(body, allowed)
    except TooLarge as error:
        limit = f"A gzip file of {len(body):,} bytes"
        raise TooLarge(limit, error.value, allowed, "unpacked bytes") from None


def _convert_to_utf8(raw: bytes) -> bytes:
    """Return a text with a byte order mark, as editors and PowerShell write it, in plain UTF-8."""
    if raw.startswith(codecs.BOM_UTF8):
        return raw.removeprefix(codecs.BOM_UTF8)
    if not raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw
    try:
        return raw.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        raise BadProfile(f"The UTF-16 text of the file is invalid: {error.reason}.") from None


def detect(raw: bytes) -> FileFormat:
    """Return the format of an uncompressed file.

    Raise BadProfile for JSON of no known format, and for known formats that are not supported.
    """
    if raw.startswith(b"FLR\0"):
        return FileFormat.JFR
    if raw.startswith(b"MOJ"):
        raise BadProfile("Austin's binary format is not supported. Convert the file: mojo2austin.")
    if raw.startswith(b"PK\3\4"):
        raise BadProfile("The file is a ZIP archive. Unpack it, and send its files one by one.")
    head = raw[:_HEAD]
    if head.lstrip().startswith(b"["):
        raise BadProfile(
            "The file is a JSON array, or begins like one. JSON files of profilers are objects; a "
            "Chrome trace is one with the field traceEvents."
        )
    if head.lstrip().startswith(b"{"):
        return _detect_json(raw)
    if _BINARY.search(head):
        return FileFormat.PPROF
    return _detect_text(head)


def _detect_json(raw: bytes) -> FileFormat:
    if b'"traceEvents"' in raw:
        return FileFormat.CPU_PROFILE
    if b'"callFrame"' in raw:
        return FileFormat.HEAP_PROFILE if b'"head"' in raw else FileFormat.CPU_PROFILE
    if b'"shared"' in raw and b'"profiles"' in raw:
        return FileFormat.SPEEDSCOPE
    if b'"head"' in raw and b'"functionName"' in raw:
        return FileFormat.CPU_PROFILE
    raise BadProfile(
        "The JSON file is no known profile: speedscope, .cpuprofile, .heapprofile and Chrome traces"
        " are supported."
    )


def _detect_text(head: bytes) -> FileFormat:
    lines = [line for line in head.decode("utf-8", "replace").split("\n") if line.strip()]
    if any(_CALLGRIND.match(line) for line in lines[:_LINES]):
        raise BadProfile(
            "Callgrind's format is not supported. Supported texts are folded stacks, Austin's, and "
            "the output of perf script."
        )
    if any(_AUSTIN.match(line) for line in lines[:_LINES]):
        return FileFormat.AUSTIN
    for line, following in pairwise(lines):
        if SAMPLE.fullmatch(line.strip()) and _PERF_FRAME.fullmatch(following):
            return FileFormat.PERF_SCRIPT
    return FileFormat.FOLDED

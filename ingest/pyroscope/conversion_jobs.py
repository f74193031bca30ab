"""Conversions of Pyroscope's formats, run in worker processes: they import no Django."""

from collections.abc import Mapping
from dataclasses import dataclass

from endpoints.errors import BadRequest
from ingest.formats.import_options import ImportOptions
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.pyroscope.counts import find_meaning, split_name
from ingest.formats.pyroscope.pprof import Conversion
from ingest.formats.pyroscope.stacks import import_folded, import_lines
from ingest.formats.pyroscope.trie import import_tree, import_trie
from ingest.formats.speedscope import import_speedscope
from ingest.pyroscope.ingest_query import IngestFormat, IngestQuery
from ingest.pyroscope.jfr_labels import read_jfr_labels
from ingest.pyroscope.multipart import media_type, read_parts
from profiles.engine.pprof.gunzip import gunzip

MAX_LABELS_BYTES = 4 * 2**20  # of the part `labels`, after gunzip
_IMPORTERS = {
    IngestFormat.FOLDED: import_folded,
    IngestFormat.LINES: import_lines,
    IngestFormat.TRIE: import_trie,
    IngestFormat.TREE: import_tree,
}


@dataclass(frozen=True, slots=True)
class RawLimits:
    """Bytes of bodies after gunzip."""

    recording: int
    stacks: int


def convert_body(
    body: bytes, content_type: str, query: IngestQuery, limits: RawLimits
) -> Conversion:
    """Convert a body of /ingest whose format is not pprof.

    Raise BadProfile, TooLarge, BadRequest or BadField.
    """
    is_multipart = media_type(content_type) == "multipart/form-data"
    parts = read_parts(body, content_type) if is_multipart else {}
    if query.format is IngestFormat.JFR:
        return _convert_jfr(parts or {"jfr": body}, limits.recording)
    return _convert_stacks(get_profile_part(parts, body), query, limits.stacks)


def get_profile_part(parts: Mapping[str, bytes], body: bytes) -> bytes:
    """Return the profile of a multipart body, or the body if it has no parts."""
    if not parts:
        return body
    if parts.get("prev_profile"):
        raise BadRequest(
            "The part prev_profile is not supported: this client sends totals since the start of"
            " the program. Update it to github.com/grafana/pyroscope-go."
        )
    if "profile" not in parts:
        raise BadRequest(f"The multipart body has no part profile, only {_names(parts)}.")
    return parts["profile"]


def _convert_jfr(parts: Mapping[str, bytes], max_raw: int) -> Conversion:
    """Convert a recording, which unpacks to ten times its size, and has labels beside it."""
    if "jfr" not in parts:
        raise BadRequest(f"The multipart body has no part jfr, only {_names(parts)}.")
    labels = parts.get("labels", b"")
    contexts = read_jfr_labels(gunzip(labels, MAX_LABELS_BYTES)) if labels else {}
    return _with_plain_labels(Conversion(import_jfr(parts["jfr"], contexts, max_raw)))


def _convert_stacks(body: bytes, query: IngestQuery, max_raw: int) -> Conversion:
    raw = gunzip(body, max_raw) if body else b""
    suffix = split_name(query.app.name).suffix
    meaning = find_meaning(suffix, query.units, query.aggregation, query.sample_rate)
    if query.format is IngestFormat.SPEEDSCOPE:  # states the unit of its values itself
        options = ImportOptions(meaning.type if suffix else None)
        profiles = import_speedscope(raw, options)
    else:
        profiles = _IMPORTERS[query.format](raw, meaning)
    return _with_plain_labels(Conversion(profiles, meaning.contention))


def _with_plain_labels(conversion: Conversion) -> Conversion:
    """Return the conversion with a dict, because a mapping proxy cannot be sent."""
    return conversion._replace(sample_labels=dict(conversion.sample_labels))


def _names(parts: Mapping[str, bytes]) -> str:
    return ", ".join(repr(name[:40]) for name in parts)

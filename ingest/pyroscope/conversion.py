"""Convert bodies to pprof in the decode threads."""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar

import orjson
from django.conf import settings

from endpoints.errors import BadField, BadRequest
from ingest.formats.import_options import ImportOptions
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.pyroscope.counts import meaning_of, split_name
from ingest.formats.pyroscope.pprof import Conversion, PprofContext, import_pprof
from ingest.formats.pyroscope.stacks import import_folded, import_lines
from ingest.formats.pyroscope.trie import import_tree, import_trie
from ingest.formats.speedscope import import_speedscope
from ingest.pyroscope.ingest_query import IngestFormat, IngestQuery
from ingest.pyroscope.jfr_labels import read_jfr_labels
from ingest.pyroscope.multipart import media_type, read_parts
from ingest.uploads import decode_pool
from ingest.uploads.decoding import decode_limits
from profiles.engine.errors import TooLarge
from profiles.engine.pprof.gunzip import claimed_size, gunzip

MAX_CONFIG_BYTES = 64 * 2**10  # of the part sample_type_config
MAX_LABELS_BYTES = 4 * 2**20  # of the part labels, after gunzip
_LARGE = decode_pool.LARGE_BYTES  # a size that only the thread for large profiles takes
_OF_STACKS = {
    IngestFormat.FOLDED: import_folded,
    IngestFormat.LINES: import_lines,
    IngestFormat.TRIE: import_trie,
    IngestFormat.TREE: import_tree,
}
T = TypeVar("T")


async def convert_ingest(
    project: int, body: bytes, content_type: str, query: IngestQuery
) -> Conversion:
    """Convert the body of /ingest. Raise BadProfile, TooLarge, BadRequest or BadField."""
    parts = {}
    if media_type(content_type) == "multipart/form-data":
        parts = await decode_pool.run(project, partial(read_parts, body, content_type), len(body))
    if query.format is IngestFormat.JFR:
        return await decode_pool.run(project, partial(_convert_jfr, parts or {"jfr": body}), _LARGE)
    if query.format is IngestFormat.PPROF:
        context = PprofContext(
            display=_display_names(parts.get("sample_type_config", b"")),
            start_ns=query.start_ns,
            end_ns=query.end_ns,
        )
        return await convert_pprof(project, _profile_part(parts, body), context)
    convert = partial(_convert_stacks, _profile_part(parts, body), query)
    return await decode_pool.run(project, convert, len(body))


async def convert_pprof(project: int, body: bytes, context: PprofContext) -> Conversion:
    """Convert a pprof profile, gzipped or not. Raise BadProfile or TooLarge.

    One that unpacks to more than it claims starts again in the thread for large profiles.
    """
    allowed = int(settings.MAX_PROFILE_BYTES)
    small = min(allowed, decode_pool.LARGE_RAW_BYTES)
    convert = partial(import_pprof, body, context, decode_limits())
    if not decode_pool.is_large(len(body), claimed_size(body)):
        try:
            return await decode_pool.run(project, partial(convert, small), len(body))
        except TooLarge:
            if allowed == small:
                raise
    return await decode_pool.run(project, partial(convert, allowed), _LARGE)


def _convert_jfr(parts: Mapping[str, bytes]) -> Conversion:
    """Convert a recording, which unpacks to ten times its size, and has labels beside it."""
    if "jfr" not in parts:
        raise BadRequest(f"The multipart body has no part jfr, only {_names(parts)}.")
    labels = parts.get("labels", b"")
    contexts = read_jfr_labels(gunzip(labels, MAX_LABELS_BYTES)) if labels else {}
    return Conversion(import_jfr(parts["jfr"], contexts, int(settings.MAX_PROFILE_BYTES)))


def _convert_stacks(body: bytes, query: IngestQuery) -> Conversion:
    raw = gunzip(body, int(settings.MAX_UPLOAD_BYTES)) if body else b""
    suffix = split_name(query.app.name).suffix
    meaning = meaning_of(suffix, query.units, query.aggregation, query.sample_rate)
    if query.format is IngestFormat.SPEEDSCOPE:  # states the unit of its values itself
        options = ImportOptions(meaning.type if suffix else None)
        return Conversion(import_speedscope(raw, options), meaning.contention)
    return Conversion(_OF_STACKS[query.format](raw, meaning), meaning.contention)


def _profile_part(parts: Mapping[str, bytes], body: bytes) -> bytes:
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


def _names(parts: Mapping[str, bytes]) -> str:
    return ", ".join(repr(name[:40]) for name in parts)


def _display_names(config: bytes) -> dict[str, str]:
    """Return the displayed names in a sample_type_config: JSON objects by sample type."""
    if not config:
        return {}
    if len(config) > MAX_CONFIG_BYTES:
        reason = f"has {len(config):,} bytes; the limit is {MAX_CONFIG_BYTES:,}"
        raise BadField("sample_type_config", reason)
    try:
        found = orjson.loads(config)
    except orjson.JSONDecodeError as error:
        raise BadField("sample_type_config", f"is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadField("sample_type_config", "must be a JSON object")
    shown = {
        name: options.get("display-name")
        for name, options in found.items()
        if isinstance(options, dict)
    }
    return {name: text for name, text in shown.items() if isinstance(text, str)}

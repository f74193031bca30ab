"""Convert bodies to pprof: in worker processes, but for those that are pprof already."""

from functools import partial

import orjson
from django.conf import settings

from endpoints.errors import BadField
from ingest.formats.pyroscope.pprof import Conversion, PprofContext
from ingest.pyroscope.conversion_jobs import RawLimits, convert_body, get_profile_part
from ingest.pyroscope.ingest_query import IngestFormat, IngestQuery
from ingest.pyroscope.multipart import media_type, read_parts
from ingest.uploads import conversion_pool, decode_pool
from ingest.uploads.decode_job import assign_types, with_body

MAX_CONFIG_BYTES = 64 * 2**10  # of the part sample_type_config


async def convert_ingest(
    project: int, body: bytes, content_type: str, query: IngestQuery
) -> Conversion:
    """Convert the body of /ingest.

    Raise BadProfile, TooLarge, BadRequest or BadField, and what conversion_pool.convert raises.
    """
    if query.format is not IngestFormat.PPROF:
        limits = RawLimits(
            recording=int(settings.MAX_PROFILE_BYTES), stacks=int(settings.MAX_UPLOAD_BYTES)
        )
        return await conversion_pool.convert(
            project, convert_body, body, content_type, query, limits
        )
    parts = {}
    if media_type(content_type) == "multipart/form-data":
        parts = await decode_pool.run(project, partial(read_parts, body, content_type), len(body))
    context = PprofContext(
        display=_display_names(parts.get("sample_type_config", b"")),
        start_ns=query.start_ns,
        end_ns=query.end_ns,
    )
    return await convert_pprof(project, get_profile_part(parts, body), context)


async def convert_pprof(project: int, body: bytes, context: PprofContext) -> Conversion:
    """Convert a pprof profile, gzipped or not. Raise BadProfile or TooLarge."""
    return with_body(await decode_pool.decode_apart(project, assign_types, body, context), body)


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

"""HTTP responses of queries, with compression, ETag and cache headers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags
from isal import igzip

from api.requests import ApiQuery, ApiRequest
from profiles.query import ExportFile, QueryContext

WORTH_COMPRESSING = 1000  # bytes; shorter bodies are not compressed
# A range that ended this long ago rarely changes: few profiles are uploaded later than that.
CLOSED_AFTER = timedelta(hours=2)
CLOSED_SECONDS = 300
# Header with the number of matching profiles missing from a file; JSON has the field `missing`.
LEFT_OUT = "X-Flamewatch-Left-Out"
_VARY = "Accept, Accept-Encoding, Authorization, X-Goog-Api-Key"


@dataclass(frozen=True, slots=True)
class Body:
    """Body of a response; `tag` is a weak ETag of the uncompressed data."""

    data: bytes
    compressed: bool
    tag: str
    left_out: int = 0  # matching profiles missing from a file that cannot say so itself
    headers: Mapping[str, str] = field(default_factory=dict)  # further ones of the response


def build_body(query: ApiQuery, may_compress: bool, context: QueryContext) -> Body:
    """Run the query and compress its result if that is worthwhile; may block."""
    result = query.run(context)
    file = ExportFile(result, 0) if isinstance(result, bytes) else result
    data = file.data
    tag = f'W/"{hashlib.blake2b(data, digest_size=16).hexdigest()}"'
    if may_compress and not query.form.packed and len(data) >= WORTH_COMPRESSING:
        compressed = igzip.compress(data, mtime=0)
        return Body(compressed, True, tag, file.left_out, file.headers)
    return Body(data, False, tag, file.left_out, file.headers)


def may_compress(request: HttpRequest) -> bool:
    codings = [part.strip() for part in request.headers.get("accept-encoding", "").split(",")]
    return any(coding in {"gzip", "*"} or coding.startswith("gzip;q=0.") for coding in codings)


def respond(
    request: HttpRequest, api_request: ApiRequest, query: ApiQuery, body: Body
) -> HttpResponse:
    """Return 200, or 304 if the client's If-None-Match has the current ETag."""
    response = HttpResponse(body.data, content_type=query.form.content_type)
    if body.compressed:
        response["Content-Encoding"] = "gzip"
    if body.tag in parse_etags(request.headers.get("if-none-match", "")):
        response = HttpResponse(status=HTTPStatus.NOT_MODIFIED)
        del response["Content-Type"]
    for name, value in body.headers.items():
        response[name] = value
    response["ETag"] = body.tag
    if body.left_out:
        response[LEFT_OUT] = str(body.left_out)
    closed = query.end <= api_request.now - CLOSED_AFTER
    response["Cache-Control"] = f"private, max-age={CLOSED_SECONDS}" if closed else _REVALIDATE
    response["Vary"] = _VARY
    # Names in profiles are untrusted text: browsers must not interpret the response as HTML.
    response["X-Content-Type-Options"] = "nosniff"
    return response


_REVALIDATE = "private, no-cache"

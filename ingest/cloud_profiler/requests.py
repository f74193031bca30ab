"""A request as the lean door sees it: what its scope says, and its body, read within bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from django.conf import settings

from common.request_body import Charge
from ingest import bodies
from ingest.asgi_types import Receive, Scope
from ingest.cloud_profiler import wire
from ingest.cloud_profiler.fields import Message
from ingest.errors import BadRequest, BodyTooLarge

LIMIT = "FLAMEWATCH_MAX_UPLOAD_BYTES"
# What is around the profile in the JSON: names, labels, a deployment.
_AROUND = 64 * 2**10
_MOST_PARAMETERS = 20


@dataclass(frozen=True, slots=True)
class UploadRequest:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    query: Mapping[str, str]
    peer: str
    receive: Receive


def of_scope(scope: Scope, receive: Receive) -> UploadRequest:
    client = scope.get("client")
    return UploadRequest(
        method=scope["method"],
        path=scope["path"],
        headers=headers_of(scope),
        query=_query(scope["query_string"]),
        peer=client[0] if client else "",
        receive=receive,
    )


def headers_of(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _query(text: bytes) -> dict[str, str]:
    if not text:
        return {}
    try:
        return dict(parse_qsl(text.decode("latin-1"), max_num_fields=_MOST_PARAMETERS))
    except ValueError:
        raise BadRequest(f"An address may have {_MOST_PARAMETERS} parameters.") from None


async def read_message(request: UploadRequest, charge: Charge) -> Message:
    """Read and parse the body; charge its bytes, and those of what it unpacks to."""
    allowed = _allowed()
    bodies.check_declared_size(request.headers, LIMIT, allowed)
    body = await bodies.read(request.receive, LIMIT, allowed, charge)
    decoded = bodies.decoded(body, request.headers, LIMIT, allowed)
    if decoded is not body:
        charge(len(decoded))
    return wire.parse(decoded)


def check_size(profile: bytes) -> None:
    """The profile itself, without what was around it."""
    if len(profile) > settings.MAX_UPLOAD_BYTES:
        raise BodyTooLarge(LIMIT, settings.MAX_UPLOAD_BYTES, len(profile))


def _allowed() -> int:
    return int(settings.MAX_UPLOAD_BYTES) * 4 // 3 + _AROUND

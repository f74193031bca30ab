"""Upload requests of the ASGI endpoints: metadata from the scope, and a body of bounded size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl

from django.conf import settings

from common.asgi import Receive, Scope, get_headers
from common.client_address import client_address
from common.loop_turns import turns_of_process
from endpoints import bodies, credentials
from endpoints.errors import BadRequest, BodyTooLarge, WrongMethod
from endpoints.json_message import MAX_REST_BYTES, Message, parse_upload
from endpoints.nul import require_no_nul
from ingest.caller import Caller
from ingest.uploads import decode_pool
from ingest.uploads.upload_budget import UploadAccount

LIMIT = "FLAMEWATCH_MAX_UPLOAD_BYTES"
# Longer bodies, and compressed ones, are parsed in a thread. Parsing this many bytes takes 0.1 ms
# on the event loop, as long as the handover to a thread and back.
ON_LOOP_BYTES = 256 * 2**10
_MOST_PARAMETERS = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRequest(Caller):
    """HTTP request of a caller, whose body is not read yet. Names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    receive: Receive

    @classmethod
    def from_scope(cls, scope: Scope, receive: Receive) -> "UploadRequest":
        """Raise BadRequest or BadField for an address that no endpoint accepts."""
        require_no_nul([("the address", scope["path"])])
        headers, query = get_headers(scope), _parse_query(scope["query_string"])
        return cls(
            credential=credentials.key_text(headers, query),
            headers=headers,
            peer=client_address(scope),
            scope=scope,
            method=scope["method"],
            path=scope["path"],
            query=query,
            receive=receive,
        )

    def require_method(self, method: str) -> None:
        if self.method != method:
            raise WrongMethod(method)


def _parse_query(text: bytes) -> dict[str, str]:
    if not text:
        return {}
    try:
        pairs = parse_qsl(text.decode("latin-1"), max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise BadRequest(f"Too many query parameters; the limit is {_MOST_PARAMETERS}.") from None
    require_no_nul(pairs)
    return dict(pairs)


async def read_upload(
    request: UploadRequest, account: UploadAccount, parse: Callable[[Message], T]
) -> T:
    """Read the body and convert its JSON message by `parse`, a pure function.

    Charge and count as read_body does.
    """
    body = await read_body(request, account, json_bytes())
    if len(body) <= ON_LOOP_BYTES and "content-encoding" not in request.headers:
        return parse(parse_upload(body))
    return await decode_pool.run(account.project, lambda: parse(parse_upload(body)), len(body))


async def read_body(request: UploadRequest, account: UploadAccount, allowed: int) -> bytes:
    """Return the body without its Content-Encoding.

    Charge the bytes of the body, and again those that a Content-Encoding unpacks to. Thread time
    counts for the account's project. Raise BodyTooLarge above `allowed` bytes.
    """
    limit = LIMIT
    if allowed != settings.MAX_UPLOAD_BYTES:
        limit += f" ({settings.MAX_UPLOAD_BYTES:,} bytes of a profile, in base64 and JSON)"
    bodies.check_declared_size(request.headers, limit, allowed)
    body = await bodies.read(request.receive, limit, allowed, account.charge)
    await turns_of_process.wait(("project", account.project))
    if "content-encoding" in request.headers:
        unpack = partial(bodies.decode_body, body, request.headers, limit, allowed)
        body = await decode_pool.run(account.project, unpack, len(body))
        account.charge(len(body))
    return body


def require_profile_size(profile: bytes) -> None:
    """Raise BodyTooLarge if the profile alone, without the message around it, is over the limit."""
    if len(profile) > settings.MAX_UPLOAD_BYTES:
        raise BodyTooLarge(LIMIT, settings.MAX_UPLOAD_BYTES, len(profile))


def json_bytes() -> int:
    """Return the size of the largest JSON message: a profile of the largest size in base64."""
    return int(settings.MAX_UPLOAD_BYTES) * 4 // 3 + MAX_REST_BYTES

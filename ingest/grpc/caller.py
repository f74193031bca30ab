"""Caller of an RPC, from its metadata and the address of its connection."""

from urllib.parse import unquote

import grpc
from django.conf import settings

from common.asgi import Scope
from common.client_address import client_address, through_proxies
from endpoints import credentials
from endpoints.errors import PlainHttp
from endpoints.plain_asgi import is_plain_http
from ingest.caller import Caller


def build_caller(
    context: "grpc.aio.ServicerContext[bytes, bytes]", scheme: str, *, requires_tls: bool
) -> Caller:
    """Return the caller of an RPC on a port with the scheme `http` or `https`.

    Proxies that are trusted report the client and the scheme as for HTTP. With `requires_tls`,
    raise PlainHttp for unencrypted calls from another machine if the server's public URL is https.
    """
    headers = _headers(context)
    scope: Scope = {
        "type": "grpc",
        "scheme": scheme,
        "client": (_address(context.peer()), 0),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    seen = through_proxies(scope)
    if requires_tls and is_plain_http(seen):
        raise PlainHttp(settings.FLAMEWATCH_URL)
    return Caller(credentials.key_text(headers, {}), headers, client_address(seen))


def _headers(context: "grpc.aio.ServicerContext[bytes, bytes]") -> dict[str, str]:
    """Return the metadata with text; names in lower case, as HTTP/2 requires."""
    found: dict[str, str] = {}
    for name, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _address(peer: str) -> str:
    """Return the address of a peer like `ipv4:192.0.2.1:50051` or `ipv6:%5B::1%5D:50051`."""
    _kind, _, address = unquote(peer).partition(":")
    return address

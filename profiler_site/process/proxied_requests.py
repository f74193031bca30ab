"""Limit of unauthenticated requests in progress of each client behind a trusted proxy.

The connections of a proxy are not counted, because they belong to many clients. Without this limit
a client behind it could have as many requests in progress as the proxy passes on.
"""

from collections.abc import Hashable
from typing import Any, cast

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable
from asgiref.typing import Scope as TypedScope
from django.conf import settings

from common.asgi import AUTHENTICATED, Scope, note_authenticated
from common.client_address import LOOPBACK, client_address
from endpoints.error_responses import unavailable
from endpoints.plain_asgi import send_response
from profiler_site.process.connection_limits import AddressCounts, get_counted_address
from projects.usage import rejections
from projects.usage.rejections import RejectionReason


async def respond(
    application: ASGI3Application,
    scope: Scope,
    receive: ASGIReceiveCallable,
    send: ASGISendCallable,
) -> None:
    """Run the application for a request whose client a trusted proxy has reported.

    The request counts for the client's address until it ends or authenticates. Answer with 503 if
    the address has FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS requests already.
    """
    address = get_counted_address(client_address(scope), (*LOOPBACK, *settings.TRUSTED_PROXIES))
    allowed = settings.MAX_UNAUTHENTICATED_CONNECTIONS
    if not address:
        await application(cast("TypedScope", scope), receive, send)
    elif not requests.count(address, allowed):
        rejections.note(None, RejectionReason.CONNECTIONS_PER_ADDRESS)
        response = unavailable(
            f"FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS allows {allowed:,} requests in progress "
            f"of one address without a valid key or session; {address} has as many. Try again "
            f"later."
        )
        await send_response(cast("Any", send), response.status, response.headers, response.body)
    else:
        counted = _CountedRequest(address, scope)
        state = {**scope.get("state", {}), AUTHENTICATED: counted.note_authenticated}
        try:
            await application(cast("TypedScope", {**scope, "state": state}), receive, send)
        finally:
            counted.end()


class _CountedRequest:
    """Request that counts for an address until `end` is called, which may happen repeatedly."""

    def __init__(self, address: str, scope: Scope) -> None:
        self._address, self._scope = address, scope

    def note_authenticated(self, tenant: Hashable) -> None:
        note_authenticated(self._scope, tenant)
        self.end()

    def end(self) -> None:
        if self._address:
            requests.uncount(self._address)
            self._address = ""


requests = AddressCounts()

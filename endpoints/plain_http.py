"""Reject API requests over plain HTTP where the server's public URL is https.

Such a request carries its API key unencrypted. A redirect, as for pages, would not help: programs
would follow it, and send the key unencrypted again with each request.
"""

from django.conf import settings

from common.asgi import Receive, Scope, Send
from common.client_address import client_address, is_loopback
from endpoints.asgi_response import send_error
from endpoints.errors import PlainHttp
from endpoints.unread_body import Incoming


def is_rejected(scope: Scope) -> bool:
    """Return True for plain HTTP from another machine; `scope` is the one behind the proxies."""
    is_plain = settings.BEHIND_TLS and scope["scheme"] != "https"
    return is_plain and not is_loopback(client_address(scope))


async def reject(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 403 (an ASGI application)."""
    await send_error(Incoming(receive).responding(send), PlainHttp(settings.FLAMEWATCH_URL))

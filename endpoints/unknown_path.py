"""JSON 404 for programs that request a path that does not exist.

A profiling client of another server would get a page of HTML, which it logs without its reason.
"""

from django.urls import Resolver404, resolve

from common.asgi import Receive, Scope, Send, headers_of
from endpoints.asgi_response import send_error
from endpoints.errors import UnknownPath
from endpoints.unread_body import Incoming


def is_of_program(scope: Scope) -> bool:
    """Return True for an unknown path that no browser requests: those accept HTML."""
    if "text/html" in headers_of(scope).get("accept", ""):
        return False
    return not (_is_known(scope["path"]) or _is_known(scope["path"] + "/"))


def _is_known(path: str) -> bool:
    try:
        resolve(path)
    except Resolver404:
        return False
    return True


async def reject(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 (an ASGI application)."""
    await send_error(Incoming(receive).responding(send), UnknownPath(scope["path"]))

"""Complete responses of ASGI endpoints that do without Django."""

from collections.abc import Mapping

from common.asgi import Send
from endpoints.error_responses import error_response


async def send_response(send: Send, status: int, headers: Mapping[str, str], body: bytes) -> None:
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    fields.append((b"Content-Length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: Exception) -> None:
    """Send the error response for an exception."""
    rejection = error_response(error)
    await send_response(send, rejection.status, rejection.headers, rejection.body)

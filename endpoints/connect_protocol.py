"""Error responses of the Connect protocol for unary calls: JSON with a code and a message."""

from collections.abc import Mapping

import orjson
from django.http import HttpResponse

from common.asgi import Send
from endpoints.error_responses import ErrorResponse, error_response
from endpoints.plain_asgi import send_response

# https://connectrpc.com/docs/protocol/#error-codes
_STATUSES: Mapping[str, int] = {
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "already_exists": 409,
    "aborted": 409,
    "resource_exhausted": 429,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
}


async def send_connect_error(send: Send, error: Exception) -> None:
    """Send the error response for an exception."""
    await send_response(send, *_connect_error(error))


def connect_rejection(error: Exception) -> HttpResponse:
    """Return the error response for an exception as Django's HttpResponse."""
    status, headers, body = _connect_error(error)
    return HttpResponse(body, status=status, headers=headers)


def connect_code(rejection: ErrorResponse) -> str:
    """Return the code for an error response.

    Connect has no code for what is too large. It is invalid_argument, because clients send again
    what is answered with resource_exhausted.
    """
    if rejection.status == 413:
        return "invalid_argument"
    code = rejection.code.lower()
    return code if code in _STATUSES else "internal"


def _connect_error(error: Exception) -> tuple[int, dict[str, str], bytes]:
    """Return the status, headers and body of the error response."""
    rejection = error_response(error)
    code = connect_code(rejection)
    body = orjson.dumps({"code": code, "message": rejection.message})
    status = 405 if rejection.status == 405 else _STATUSES[code]
    return status, rejection.headers, body

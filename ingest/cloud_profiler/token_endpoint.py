"""POST /token: an access token for a token that is signed with a key file (RFC 7523).

Agents for Python and Go call this address, the `token_uri` of their key file. Errors have the form
of OAuth 2.0, which their libraries show.
"""

from urllib.parse import parse_qsl

import orjson

from common.asgi import Receive, Scope, Send, note_authenticated
from common.request_body import Disconnected
from endpoints import bodies
from endpoints.error_responses import ErrorResponse, error_response
from endpoints.errors import BadField, BadRequest, WrongMethod
from endpoints.plain_asgi import IncomingRequest, send_response
from projects.credentials import authentication, signed_tokens
from projects.credentials.authentication import KeyRejected
from projects.credentials.key_files import TOKEN_PATH

PATH = TOKEN_PATH
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
MAX_BODY_BYTES = 16 * 2**10
_MOST_FIELDS = 10
_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-store"}
# By HTTP status; all other errors are the server's.
_OAUTH_ERRORS = {
    400: "invalid_request",
    401: "invalid_grant",
    405: "invalid_request",
    408: "invalid_request",
    413: "invalid_request",
}


async def respond(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for an access token (an ASGI application)."""
    incoming = IncomingRequest(receive)
    try:
        message = await _token(scope, incoming)
        await send_response(send, 200, _HEADERS, orjson.dumps(message))
    except Disconnected:
        return
    except Exception as error:
        response = error_response(error)
        status = 400 if response.status == 401 else response.status
        await send_response(
            incoming.delay_end(send), status, response.headers | _HEADERS, _error(response)
        )


async def _token(scope: Scope, receive: Receive) -> dict[str, object]:
    if scope["method"] != "POST":
        raise WrongMethod("POST")
    body = await bodies.read(receive, "This address", MAX_BODY_BYTES)
    fields = _fields(body)
    if fields.get("grant_type") != GRANT_TYPE:
        raise BadField("grant_type", f"must be {GRANT_TYPE}")
    assertion = fields.get("assertion", "")
    if not signed_tokens.is_signed(assertion):
        raise KeyRejected("The assertion is no token signed with a key file.")
    access = await authentication.authenticate(assertion)
    note_authenticated(scope, ("project", access.project))
    return {
        "access_token": signed_tokens.issue_access_token(assertion),
        "token_type": "Bearer",
        "expires_in": signed_tokens.ACCESS_TOKEN_SECONDS,
    }


def _fields(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode("ascii"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise BadRequest(
            f"The body must be form-encoded, with at most {_MOST_FIELDS} fields."
        ) from None


def _error(response: ErrorResponse) -> bytes:
    code = _OAUTH_ERRORS.get(response.status, "temporarily_unavailable")
    return orjson.dumps({"error": code, "error_description": response.message})

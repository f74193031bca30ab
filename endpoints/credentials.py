"""Find and authenticate the API key of a request, and check its scope."""

import base64
import binascii
import contextlib
import re
from collections.abc import Mapping

from common.asgi import Scope, note_authenticated
from common.client_address import client_address
from endpoints.errors import NoKey, NotFound, WrongScope
from endpoints.params.parameter import Parameter
from projects.credentials.authentication import Access, KeyExpired, KeyRejected, authenticate
from projects.credentials.keys import KEY_PREFIX
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

# Placeholder in a path for the project that the key belongs to.
OWN_PROJECT = "-"
_KEY_HEADERS = ("x-goog-api-key", "x-api-key")
KEY = Parameter("key", "API key, for clients that cannot send headers", str, "")
_KEY_IN_QUERY = re.compile(rb"(?:^|&)key=(\w+)")


def key_text(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the API key from any header or parameter that may carry it; "" without one.

    The password of Basic authentication counts only if it looks like a key: it may be meant for a
    proxy in front of the server.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    password = basic_password(headers)
    if password.startswith(KEY_PREFIX):
        return password
    named = (headers.get(name, "") for name in _KEY_HEADERS)
    return next(filter(None, named), "") or query.get(KEY.name, "")


async def tenant(headers: Mapping[str, str], scope: Scope) -> tuple[str, int | str]:
    """Return the project of the request's key or, without a valid key, the client's address.

    This is the tenant for the order of requests, not their authorization, which is the task of the
    views. A key in the body of a request is not known yet.
    """
    in_query = _KEY_IN_QUERY.findall(scope["query_string"])
    text = key_text(headers, {KEY.name: in_query[-1].decode()} if in_query else {})
    if text:
        with contextlib.suppress(KeyRejected):
            return "project", (await _authenticate(text, scope)).project
    return "address", client_address(scope)


def basic_password(headers: Mapping[str, str]) -> str:
    """Return the password of Basic authentication; "" without one or if it is malformed."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        text = base64.b64decode(token.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return text.partition(":")[2]


async def access(text: str, scope: Scope, address: str | None = None) -> Access:
    """Authenticate the key of a request. Raise NoKey without one, KeyRejected for a bad one.

    `address` is that of the client if the scope does not have it.
    """
    if not text:
        raise NoKey(
            "Missing API key: send Authorization: Bearer KEY, Basic authentication with the key as"
            " password, X-Goog-Api-Key: KEY, or ?key=KEY."
        )
    try:
        return await _authenticate(text, scope, address)
    except KeyExpired as expired:
        rejections.note(expired.project, RejectionReason.KEY_EXPIRED)
        raise


async def _authenticate(text: str, scope: Scope, address: str | None = None) -> Access:
    found = await authenticate(text, client_address(scope) if address is None else address)
    note_authenticated(scope, ("project", found.project))
    return found


def require_write(access: Access) -> None:
    if not access.may_write:
        raise WrongScope("This key cannot send profiles: it lacks the scope write.")


def require_read(access: Access) -> None:
    if not access.may_read:
        raise WrongScope("This key cannot read profiles: it lacks the scope read.")


def require_own(access: Access, project_id: str) -> None:
    """Raise NotFound unless the project of the path is the key's project or OWN_PROJECT."""
    if project_id not in {OWN_PROJECT, access.project_id}:
        raise NotFound("No such project, or this key belongs to another one.")

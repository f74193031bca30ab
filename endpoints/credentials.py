"""Find and authenticate the API key of a request, and check its scope."""

import base64
import binascii
import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace

from django.http import HttpRequest

from common.asgi import Scope, note_authenticated
from common.client_address import client_address
from endpoints.errors import NoKey, NotFound, WrongScope
from endpoints.params.parameter import Parameter
from projects.audit import Origin
from projects.credentials import access_tokens, authentication
from projects.credentials.authentication import (
    Access,
    KeyExpired,
    KeyRejected,
    ProjectSuspended,
    authenticate,
)
from projects.credentials.keys import KEY_PREFIX
from projects.models import User
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
    if password.startswith((KEY_PREFIX, access_tokens.TOKEN_PREFIX)):
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
            if access_tokens.is_token(text):
                return "user", (await access_tokens.authenticate(text)).user
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


async def project_access(text: str, scope: Scope, project_id: str) -> Access:
    """Authenticate the key or the personal access token of a request to a project's resource.

    Raise NoKey, KeyRejected, or NotFound unless the key belongs to the project and the person of
    the token is a member of it. A token cannot use OWN_PROJECT.
    """
    if not access_tokens.is_token(text):
        key_access = await access(text, scope)
        require_own(key_access, project_id)
        return key_access
    holder = await access_tokens.authenticate(text)
    found = await access_tokens.find_access(holder, project_id)
    if found is None:
        raise NotFound("No such project, or the owner of this token is not a member of it.")
    note_authenticated(scope, ("project", found.project))
    return found


def get_origin(request: HttpRequest, access: Access) -> Origin:
    """Return the origin of an action for the audit log, which names a personal access token."""
    origin = Origin.from_request(request)
    return origin if access.user is None else replace(origin, token=access.prefix)


def find_person(access: Access) -> User | None:
    """Return the owner of a personal access token, None for an API key; may block."""
    return User.objects.get(pk=access.user) if access.user is not None else None


def require_write(access: Access) -> None:
    if not access.may_write:
        if access.user is not None:
            raise WrongScope(
                "This token cannot send profiles: that takes the scope write, and the role member"
                " or higher in the project."
            )
        raise WrongScope("This key cannot send profiles: it lacks the scope write.")
    require_not_suspended(access)


def require_not_suspended(access: Access) -> None:
    """Raise ProjectSuspended, and count it, if the project takes no profiles."""
    try:
        authentication.require_not_suspended(access)
    except ProjectSuspended:
        rejections.note(access.project, RejectionReason.SUSPENDED)
        raise


def require_read(access: Access) -> None:
    if not access.may_read:
        raise WrongScope("This key cannot read profiles: it lacks the scope read.")


def require_own(access: Access, project_id: str) -> None:
    """Raise NotFound unless the project of the path is the key's project or OWN_PROJECT."""
    if project_id not in {OWN_PROJECT, access.project_id}:
        raise NotFound("No such project, or this key belongs to another one.")

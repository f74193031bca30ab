"""Types of ASGI messages, as loose as those of Django's own handler."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from django.http import HttpRequest

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

# Key of a function of a tenant in a scope's `state`: after it the server's connection counts as
# authenticated, and as one of this tenant.
AUTHENTICATED = "flamewatch.authenticated"


def get_headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def get_scope(request: HttpRequest) -> Scope:
    """Return the ASGI scope of Django's request, or of REST framework's around it."""
    scope: Scope = getattr(request, "scope", {})
    return scope


def note_authenticated(scope: Scope, tenant: Hashable) -> None:
    """Tell the connection of a request that its client has a valid key or session.

    `tenant` is ("project", pk) or ("user", pk). No effect with a server that does not limit the
    connections of other clients.
    """
    note: Callable[[Hashable], None] | None = scope.get("state", {}).get(AUTHENTICATED)
    if note is not None:
        note(tenant)

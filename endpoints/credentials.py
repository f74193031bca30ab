"""Find and authenticate the API key of a request, and check its scope."""

from collections.abc import Mapping

from common.asgi import Scope, note_authenticated
from endpoints.errors import NoKey, NotFound, WrongScope
from endpoints.params.parameter import Parameter
from projects.credentials.authentication import Access, authenticate

# Placeholder in a path for the project that the key belongs to.
OWN_PROJECT = "-"
_KEY_HEADERS = ("x-goog-api-key", "x-api-key")
KEY = Parameter("key", "API key, for clients that cannot send headers", str, "")


def key_text(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Return the API key from any header or parameter that may carry it; "" without one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    named = (headers.get(name, "") for name in _KEY_HEADERS)
    return next(filter(None, named), "") or query.get(KEY.name, "")


async def access(text: str, scope: Scope) -> Access:
    """Authenticate the key of a request. Raise NoKey without one, KeyRejected for a bad one."""
    if not text:
        raise NoKey(
            "Missing API key: send Authorization: Bearer KEY, X-Goog-Api-Key: KEY, or ?key=KEY."
        )
    found = await authenticate(text)
    note_authenticated(scope)
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

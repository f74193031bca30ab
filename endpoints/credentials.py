"""Who sends this: the one place where a request's key is found and opened."""

from collections.abc import Mapping

from endpoints.errors import NoKey, NotFound, WrongScope
from projects.credentials.authentication import Access, authenticate

# In a path it stands for the project that the key belongs to.
OWN_PROJECT = "-"


def key_text(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The text of the key, however it was sent; empty where there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return headers.get("x-goog-api-key", "") or query.get("key", "")


async def access(text: str) -> Access:
    """Authenticate the key. Raise NoKey without one, KeyRejected for a bad one."""
    if not text:
        raise NoKey("Send an API key: Authorization: Bearer KEY, x-goog-api-key, or ?key=")
    return await authenticate(text)


def require_write(access: Access) -> None:
    if not access.may_write:
        raise WrongScope("This key may read, but not send profiles; it takes a key with write.")


def require_read(access: Access) -> None:
    if not access.may_read:
        raise WrongScope("This key may send profiles, but not read them; it takes one with read.")


def require_own(access: Access, project_id: str) -> None:
    """The path's project has to be the key's."""
    if project_id not in {OWN_PROJECT, access.project_id}:
        raise NotFound("There is no such project, or this key belongs to another.")

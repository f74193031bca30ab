"""Keys of blobs. Each key contains the project, so that tenants never share a key."""

import re
import uuid

_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")


def new_key(project: int) -> str:
    """Return a random key that was never used before, so that no blob is ever overwritten."""
    return f"{key_prefix(project)}{uuid.uuid4().hex}"


def key_prefix(project: int) -> str:
    """Return the prefix of all keys of a project (its pk)."""
    return f"projects/{project}/"


def check_key(key: str) -> str:
    """Return the key if it is valid.

    Raise ValueError for any other, which might lead out of the store's folder.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not a valid blob key.")
    return key

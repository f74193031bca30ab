"""The keys of blobs: the project in each, so that no key of one leads to another's data."""

import re
import uuid

_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")


def new_key(project: int) -> str:
    """Never given before: a blob is never written over."""
    return f"projects/{project}/{uuid.uuid4().hex}"


def checked(key: str) -> str:
    """The key; ValueError for what would leave the store's folder."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a blob.")
    return key

"""Tenant and client of a page request, for fair scheduling on threads.

They only affect the order in which requests are served, not authorisation, which views check
themselves. So the cached values may be up to 30 s old.
"""

import re
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.http import parse_cookie

from common.asgi import Scope, note_authenticated
from common.cache import Cache
from common.client_address import client_address
from projects.models import Member

_PATH = re.compile(r"/p/([a-z0-9-]{1,40})(?:/([a-z]+))?(?:/|$)")
CAPTURE_PARAMETER = "capture"  # of pages that show the progress of a capture request
# Pages of a project that do not query profiles.
_LIGHT = frozenset({None, "settings", "setup", "capture", "embed", "notes", "saved"})


class PageClient(NamedTuple):
    """Fair-scheduling keys: the project for its members, and the user or the IP address."""

    project: int | None  # Project.pk; None for clients who are not members
    key: tuple[str, int | str]
    is_query: bool  # the page may merge profiles
    # The page changes the database, or shows the agents that the server's process has parked: a
    # worker process can do neither.
    needs_server: bool = False

    @property
    def user(self) -> int | None:
        """Return User.pk of the person who is signed in."""
        kind, value = self.key
        return int(value) if kind == "user" else None

    @property
    def tenant(self) -> tuple[str, int | str]:
        return self.key if self.project is None else ("project", self.project)


async def page_client(scope: Scope) -> PageClient:
    """Return the scheduling keys of a request; sessions are looked up through a 30 s cache."""
    path = _PATH.match(scope["path"])
    project = path[1] if path else ""
    key: tuple[str, int | str] = ("address", client_address(scope))
    member_of = 0
    session = _session(scope)
    if session:
        user, member_of = await _members.get_or_load((session, project))
        if user:
            key = ("user", user)
            note_authenticated(scope, ("project", member_of) if member_of else key)
    is_query = path is not None and path[2] not in _LIGHT
    return PageClient(member_of or None, key, is_query, _needs_server(scope, path))


def _needs_server(scope: Scope, path: re.Match[str] | None) -> bool:
    if scope["method"] not in {"GET", "HEAD"}:
        return True
    shows_agents = path is not None and path[2] == "agents"
    return shows_agents or f"{CAPTURE_PARAMETER}=".encode() in scope["query_string"]


def _session(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"cookie":
            cookies = parse_cookie(value.decode("latin-1"))
            return cookies.get(settings.SESSION_COOKIE_NAME, "")[:64]
    return ""


def _load_member(key: tuple[str, str]) -> tuple[int, int]:
    """Return the primary keys of the user and of the project they are a member of; 0 for none."""
    session, project = key
    text = SessionStore(session).get(SESSION_KEY, "")
    user = int(text) if str(text).isdecimal() else 0
    if not user or not project:
        return user, 0
    rows = Member.objects.filter(user=user, project__project_id=project)
    return user, rows.values_list("project_id", flat=True).first() or 0


_members: Cache[tuple[str, str], tuple[int, int]] = Cache(_load_member, size=10_000, seconds=30.0)

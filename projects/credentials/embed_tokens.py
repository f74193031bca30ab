"""Tokens in the URLs of embedded images: one view of one project, until a time.

They are signed with SECRET_KEY and not stored. A project revokes all of its tokens at once.
"""

import time
from dataclasses import dataclass

from django.core import signing
from django.db import transaction
from django.db.models import F
from django.http import QueryDict

from projects import audit
from projects.models import Project, User

PATH_PREFIX = "/embed/"  # of images, followed by the token and an ending
MAX_QUERY = 2000  # bytes of the address of a page
MAX_CHARACTERS = 4096
# Names of the pages whose graphs can be embedded.
FLAME, COMPARE = "flame", "compare"
_SALT = "flamewatch.embed"


class EmbedNotFound(Exception):
    """Token that is forged, revoked or of a deleted project."""


class EmbedExpired(Exception):
    """Token whose time is over."""


class QueryTooLong(Exception):
    """Query with more than MAX_QUERY bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"The address has {size:,} bytes; the limit is {MAX_QUERY:,}.")


@dataclass(frozen=True, slots=True)
class Embed:
    """Verified content of a token."""

    project_id: str
    query: str  # parameters of the page
    expires: int  # Unix time, s
    generation: int
    page: str = FLAME


def make(
    project: Project,
    query: str,
    expires: int,
    *,
    page: str = FLAME,
    actor: User,
    origin: audit.Origin = audit.NO_CLIENT,
) -> str:
    """Return a token for a view of a page, and record it in the audit log. Raise QueryTooLong."""
    token = sign(project, query, expires, page)
    service = QueryDict(query).get("service", "")
    audit.record(
        project,
        "embed.create",
        actor=actor,
        origin=origin,
        target=service,
        page=page,
        query=query,
        expires=expires,
    )
    return token


def sign(project: Project, query: str, expires: int, page: str = FLAME) -> str:
    """Return a token for a view, which nobody asked for in person. Raise QueryTooLong."""
    size = len(query.encode())
    if size > MAX_QUERY:
        raise QueryTooLong(size)
    content = [project.project_id, query, expires, project.embed_generation, page]
    return signing.dumps(content, salt=_SALT, compress=True)


def verify(token: str) -> Embed:
    """Return the content of a token, without the database.

    Raise EmbedNotFound for a forged one, EmbedExpired for an old one.
    """
    if len(token) > MAX_CHARACTERS:
        raise EmbedNotFound
    try:
        embed = Embed(*signing.loads(token, salt=_SALT))
    except signing.BadSignature:
        raise EmbedNotFound from None
    if embed.expires <= time.time():
        raise EmbedExpired
    return embed


def find_project(embed: Embed) -> int:
    """Return the Project.pk of a token. Raise EmbedNotFound if it was revoked."""
    rows = Project.objects.filter(
        project_id=embed.project_id, embed_generation=embed.generation, deletion_due=None
    ).values_list("pk", flat=True)
    pk = rows.first()
    if pk is None:
        raise EmbedNotFound
    return pk


def revoke_all(project: Project, *, actor: User, origin: audit.Origin = audit.NO_CLIENT) -> None:
    """Revoke all tokens of a project; images that are cached show for some minutes more."""
    with transaction.atomic():
        Project.objects.filter(pk=project.pk).update(embed_generation=F("embed_generation") + 1)
        audit.record(project, "embed.revoke_all", actor=actor, origin=origin)

"""Request to a management resource, and the declaration of such a resource."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from endpoints.errors import BadField
from endpoints.json_message import Message, read_text
from endpoints.params.parameter import Parameter
from endpoints.params.reader import StrictReader
from projects.audit import Origin
from projects.credentials.access_tokens import TokenHolder
from projects.models import Member, Project, TokenScope, User
from projects.permissions import Permission

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AccountCall:
    """Request of a person, by a token, about the account."""

    holder: TokenHolder
    user: User
    origin: Origin
    parameters: StrictReader
    body: Message  # empty without a body
    arguments: Mapping[str, Any]  # of the path
    now: datetime


@dataclass(frozen=True, slots=True)
class ProjectCall(AccountCall):
    """Request of a member about a project."""

    member: Member

    @property
    def project(self) -> Project:
        return self.member.project


D_co = TypeVar("D_co", bound=Document, covariant=True)


@dataclass(frozen=True, slots=True)
class Created(Generic[D_co]):
    """Document of a new object: status 201."""

    document: D_co


@dataclass(frozen=True, slots=True)
class TarDownload:
    """Archive that is sent part by part; a thread makes each one when the client can take it."""

    parts: Iterator[bytes]
    size: int  # bytes
    name: str  # of the file


@dataclass(frozen=True, slots=True)
class BodyField:
    """Field of a request body, for the contract and for the error about unknown fields."""

    name: str
    meaning: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    is_required: bool = False


C = TypeVar("C", bound=AccountCall)
# None is a response without a body: status 204.
Result = Document | Created[Document] | TarDownload | None
Handler = Callable[[C], Result]


@dataclass(frozen=True, slots=True)
class ResourceAction(Generic[C]):
    """One method of a resource. `run` may block; its parameters and fields are those listed.

    Its return annotation, a TypedDict, TarDownload or None, is the schema of the response.
    """

    summary: str
    run: Handler[C]
    parameters: tuple[Parameter[Any, Any], ...] = ()
    fields: tuple[BodyField, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountAction(ResourceAction[AccountCall]):
    scope: TokenScope = TokenScope.READ


@dataclass(frozen=True, slots=True)
class ProjectAction(ResourceAction[ProjectCall]):
    permission: Permission = Permission.VIEW


@dataclass(frozen=True, slots=True)
class AccountResource:
    """Resource under /api/v1/; `path` as in Django's URLconfs."""

    path: str
    actions: Mapping[str, AccountAction]  # by HTTP method


@dataclass(frozen=True, slots=True)
class ProjectResource:
    """Resource under /api/v1/projects/{project}; `path` begins with a slash, or is empty."""

    path: str
    actions: Mapping[str, ProjectAction]  # by HTTP method


def require_text(body: Message, name: str, most: int) -> str:
    """Return a text of 1 to `most` characters. Raise BadField."""
    value = read_text(body, name, name).strip()
    if not value:
        raise BadField(name, "is missing")
    if len(value) > most:
        raise BadField(name, f"has {len(value):,} characters; {most:,} are allowed")
    return value


def read_flag(body: Message, name: str) -> bool | None:
    """Return a boolean, None if absent. Raise BadField."""
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadField(name, "must be true or false")
    return value


def read_list(body: Message, name: str, most: int) -> list[str]:
    """Return a list of texts, empty if absent. Raise BadField."""
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadField(name, "must be a list of strings")
    if len(value) > most:
        raise BadField(name, f"has {len(value):,} items; {most} are allowed")
    return value


def read_choice(body: Message, name: str, allowed: tuple[str, ...]) -> str:
    """Return a text that is one of `allowed`. Raise BadField."""
    value = read_text(body, name, name)
    if value not in allowed:
        raise BadField(name, f"must be one of {', '.join(allowed)}")
    return value

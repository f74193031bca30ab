"""Personal access tokens of the members of a project, and clients that send them."""

from collections.abc import Callable, Sequence

import pytest

from projects.credentials import access_tokens
from projects.models import Member, Project, Role, TokenScope, User
from tests.ingest.client import Client

TokenClient = Callable[..., Client]


@pytest.fixture
def token_client(project: Project) -> TokenClient:
    """Return a function that makes a client with a new token of a person with a role."""

    def make(role: Role | None, scopes: Sequence[TokenScope] = tuple(TokenScope)) -> Client:
        name = role or "nobody"
        user, is_new = User.objects.get_or_create(
            email=f"{name}@token.example", defaults={"password": "!"}
        )
        if role and is_new:
            Member.objects.create(project=project, user=user, role=role)
        return Client(project.project_id, access_tokens.create(user, "ci", scopes, 30)[1])

    return make

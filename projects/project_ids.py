"""Creation of projects, with ids in Cloud Profiler's syntax, derived from their names.

An app that gives new projects something of its own registers a function that makes it.
"""

import re
import secrets
from collections.abc import Callable

from django.db import transaction

from projects import account_limits, audit
from projects.models import ActorKind, Project, User
from projects.models.project import Member, Role

_LONGEST = 30
_SHORTEST = 6

ProjectSetup = Callable[[Project], None]
_setups: list[ProjectSetup] = []


def register_setup(setup: ProjectSetup) -> None:
    """Let `create_project` call a function in its transaction."""
    _setups.append(setup)


def suggest(name: str) -> str:
    """Return a valid id for a name, which may be taken: "acme-shop" for "Acme Shop"."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    slug = re.sub(r"^[^a-z]+", "", slug)[:_LONGEST].rstrip("-")
    if len(slug) < _SHORTEST:
        slug = f"{slug}-project" if slug else "project"
    return slug


def create_project(
    name: str, owner: User, *, project_id: str = "", origin: audit.Origin = audit.NO_CLIENT
) -> Project:
    """Create a project with an unused id, and its owner's membership, in one transaction.

    `project_id` is such an id, by default one that is derived from the name. Raise
    account_limits.LimitReached if the owner has as many projects as the account may own.
    """
    slug = project_id or suggest(name)
    while Project.objects.filter(project_id=slug).exists():
        slug = f"{suggest(name)[: _LONGEST - 7].rstrip('-')}-{secrets.token_hex(3)}"
    with transaction.atomic():
        account_limits.require_project(owner)
        project = Project.objects.create(project_id=slug, name=name, created_by=owner)
        Member.objects.create(project=project, user=owner, role=Role.OWNER)
        audit.record(
            project,
            "project.create",
            actor=owner if origin.kind in (None, ActorKind.PERSON) else None,
            origin=origin,
            target=name,
            name=name,
            owner=owner.email,
        )
        for setup in _setups:
            setup(project)
    return project

"""Roles and their permissions in a project: the only table of them.

Routes declare a permission (frontend/http/routes.py), and the members page and the documentation
list the table in words.
"""

from dataclasses import dataclass

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import Role

# Each role has the permissions of the roles before it.
ROLES = (Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OWNER)


class Permission(models.TextChoices):
    """Permission in a project; its label continues "May …"."""

    VIEW = "view", _("See and download profiles, comparisons, saved views and agents")
    SAVE = "save", _("Save views and snapshots")
    ANNOTATE = "annotate", _("Add, change and delete notes")
    CAPTURE = "capture", _("Request captures")
    IMPORT = "import", _("Upload profiles")
    EMBED = "embed", _("Create embedded images")
    MANAGE_FINDINGS = "manage_findings", _("Acknowledge, resolve and mute findings")
    CREATE_ALERTS = "create_alerts", _("Create, change and silence alert rules")
    CHANGE_SAVED = "change_saved", _("Rename and delete views and snapshots of others")
    REVOKE_EMBEDS = "revoke_embeds", _("Revoke embedded images")
    MANAGE_KEYS = "manage_keys", _("Create and revoke API keys")
    CHANGE_SETTINGS = "change_settings", _("Change name, capture rate and source links")
    REQUEST_QUOTAS = "request_quotas", _("Request higher quotas")
    MANAGE_PEOPLE = "manage_people", _("Invite and remove people, change roles up to admin")
    READ_AUDIT = "read_audit", _("Read the audit log")
    MANAGE_OWNERS = "manage_owners", _("Add and remove owners, transfer the project")
    CHANGE_RETENTION = "change_retention", _("Change the retention")
    EXPORT_PROJECT = "export_project", _("Export the data")
    DELETE_PROJECT = "delete_project", _("Delete data and the project")


LOWEST_ROLES: dict[Permission, Role] = {
    Permission.VIEW: Role.VIEWER,
    Permission.SAVE: Role.MEMBER,
    Permission.ANNOTATE: Role.MEMBER,
    Permission.CAPTURE: Role.MEMBER,
    Permission.IMPORT: Role.MEMBER,
    Permission.EMBED: Role.MEMBER,
    Permission.MANAGE_FINDINGS: Role.MEMBER,
    Permission.CREATE_ALERTS: Role.MEMBER,
    Permission.CHANGE_SAVED: Role.ADMIN,
    Permission.REVOKE_EMBEDS: Role.ADMIN,
    Permission.MANAGE_KEYS: Role.ADMIN,
    Permission.CHANGE_SETTINGS: Role.ADMIN,
    Permission.REQUEST_QUOTAS: Role.ADMIN,
    Permission.MANAGE_PEOPLE: Role.ADMIN,
    Permission.READ_AUDIT: Role.ADMIN,
    Permission.MANAGE_OWNERS: Role.OWNER,
    Permission.CHANGE_RETENTION: Role.OWNER,
    Permission.EXPORT_PROJECT: Role.OWNER,
    Permission.DELETE_PROJECT: Role.OWNER,
}


@dataclass(frozen=True, slots=True)
class RoleTableRow:
    label: str | Promise
    allowed: tuple[bool, ...]  # for each of ROLES


def has_permission(role: str, permission: Permission) -> bool:
    """Return True if the permission belongs to the role or to a lower one."""
    return has_role(role, LOWEST_ROLES[permission])


def has_role(role: str, lowest: Role) -> bool:
    """Return True for the role `lowest` and those above it."""
    return ROLES.index(Role(role)) >= ROLES.index(lowest)


def role_table() -> list[RoleTableRow]:
    """Return all permissions with the roles that have them."""
    return [
        RoleTableRow(permission.label, tuple(has_permission(role, permission) for role in ROLES))
        for permission in Permission
    ]

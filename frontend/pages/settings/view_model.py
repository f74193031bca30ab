"""View model of the settings page."""

from typing import TypedDict

from django.conf import settings as django_settings
from django.utils import timezone

from frontend.pages.settings.key_form import KeyForm
from frontend.pages.settings.project_form import ProjectForm, rate_text
from frontend.pages.settings.retention_form import RetentionForm
from projects.access import may_change_retention, may_change_settings, may_manage_keys
from projects.credentials import keys
from projects.models import ApiKey, Member, Project, User
from projects.usage.usage import Usage, load_usage

_REVOKED_SHOWN = 10


class SettingsContext(TypedDict):
    project: Project
    here: str
    member: Member
    may_change: bool  # name, capture rate and source links
    may_manage_keys: bool
    project_form: ProjectForm
    rate: str
    creator: User | None
    keys: list[ApiKey]
    expired_keys: frozenset[int]  # ApiKey.pk
    expiring_keys: frozenset[int]  # those that expire within FLAMEWATCH_KEY_NOTICE_DAYS
    more_revoked: int  # revoked keys that are not listed
    key_form: KeyForm
    new_key: tuple[ApiKey, str] | None  # a new key with its secret, which is shown only once
    usage: Usage
    may_change_retention: bool
    retention_form: RetentionForm


def settings_context(
    member: Member,
    *,
    project_form: ProjectForm | None = None,
    key_form: KeyForm | None = None,
    new_key: tuple[ApiKey, str] | None = None,
    retention_form: RetentionForm | None = None,
) -> SettingsContext:
    project, now = member.project, timezone.now()
    all_keys = keys.list_keys(project)
    revoked = sum(key.revoked is not None for key in all_keys)
    more = max(0, revoked - _REVOKED_SHOWN)
    return {
        "project": project,
        "here": "settings",
        "member": member,
        "may_change": may_change_settings(member),
        "may_manage_keys": may_manage_keys(member),
        "project_form": project_form or ProjectForm(project),
        "rate": rate_text(project.profiles_per_minute),
        "creator": _find_creator(project),
        "keys": all_keys[: len(all_keys) - more],
        "expired_keys": frozenset(key.pk for key in all_keys if not key.is_active(now)),
        "expiring_keys": frozenset(
            key.pk for key in all_keys if key.expires_within(django_settings.KEY_NOTICE_DAYS, now)
        ),
        "more_revoked": more,
        "key_form": key_form or KeyForm(),
        "new_key": new_key,
        "usage": load_usage(project.pk),
        "may_change_retention": may_change_retention(member),
        "retention_form": retention_form or RetentionForm(project),
    }


def _find_creator(project: Project) -> User | None:
    """Return who created the project, as long as that person is a member."""
    rows = Member.objects.filter(project=project, user=project.created_by_id)
    member = rows.select_related("user").first()
    return member.user if member else None

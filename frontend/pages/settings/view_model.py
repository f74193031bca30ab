"""View model of the settings page."""

from typing import TypedDict

from frontend.pages.settings.project_form import ProjectForm, rate_text
from frontend.pages.settings.retention_form import RetentionForm
from projects.access import may_change_retention, may_change_settings
from projects.models import Member, Project, User


class SettingsContext(TypedDict):
    project: Project
    here: str
    member: Member
    may_change: bool  # name, capture rate and source links
    project_form: ProjectForm
    rate: str
    creator: User | None
    may_change_retention: bool
    retention_form: RetentionForm


def settings_context(
    member: Member,
    *,
    project_form: ProjectForm | None = None,
    retention_form: RetentionForm | None = None,
) -> SettingsContext:
    project = member.project
    return {
        "project": project,
        "here": "settings",
        "member": member,
        "may_change": may_change_settings(member),
        "project_form": project_form or ProjectForm(project),
        "rate": rate_text(project.profiles_per_minute),
        "creator": _find_creator(project),
        "may_change_retention": may_change_retention(member),
        "retention_form": retention_form or RetentionForm(project),
    }


def _find_creator(project: Project) -> User | None:
    """Return who created the project, as long as that person is a member."""
    rows = Member.objects.filter(project=project, user=project.created_by_id)
    member = rows.select_related("user").first()
    return member.user if member else None

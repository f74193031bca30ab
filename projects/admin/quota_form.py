"""Form of a quota in the admin, and the audit entry of its changes."""

from typing import Any, cast

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects import audit
from projects.admin.read_only import operator_origin
from projects.models import Project, Quota, User
from projects.usage.limits import BUILT_IN, LimitName, list_general_rows, merge_quotas
from projects.usage.retention import count_older

DEFAULTS = "defaults"  # subject of entries about the limits of all projects


class QuotaForm(forms.ModelForm):  # type: ignore[type-arg]
    """Limits of a project or of all; a shorter retention, which deletes profiles, is confirmed."""

    delete_older = forms.BooleanField(
        label=gettext_lazy("Delete profiles older than the new retention"), required=False
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if "retention_days" not in self.changed_data or "retention_days" in self.errors:
            return cleaned
        default = _default_retention(self.instance)
        before, after = self.initial.get("retention_days"), self.cleaned_data["retention_days"]
        before, after = (default if days is None else days for days in (before, after))
        if 1 <= after < before and not self.cleaned_data["delete_older"]:
            self.add_error(
                "delete_older",
                _(
                    "The retention is %(before)d days. With %(after)d days, about %(profiles)s"
                    " profiles that arrived before are deleted within the hour. Select this to"
                    " confirm."
                )
                % {
                    "before": before,
                    "after": after,
                    "profiles": f"{count_older(self._project(), before, after):,}",
                },
            )
        return cleaned

    def _project(self) -> Project | None:
        """Return the project of the quota, None for the defaults."""
        quota: Quota = self.instance
        return quota.project if quota.project_id else self.cleaned_data.get("project")


def record_changes(request: HttpRequest, project: Project | None, form: QuotaForm) -> None:
    """Add an audit entry with the old and the new value of each limit that the form changed."""
    limits = {limit.value for limit in LimitName} & {*form.changed_data}
    if limits:
        changes = {
            name: [form.initial.get(name), form.cleaned_data.get(name)] for name in sorted(limits)
        }
        audit.record(
            project,
            "quota.change",
            subject="" if project else DEFAULTS,
            actor=cast("User", request.user),
            origin=operator_origin(request),
            target=project.name if project else DEFAULTS,
            changes=changes,
        )


def _default_retention(quota: Quota) -> int:
    """Return the retention in days that an empty field stands for."""
    if quota.pk is not None and quota.project_id is None:
        return BUILT_IN.retention_days
    return merge_quotas(list_general_rows(quota.project_id)).retention_days

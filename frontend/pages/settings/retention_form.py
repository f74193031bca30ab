"""Form of a project's retention."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Project
from projects.usage.limits import get_quota_limits


class RetentionForm(forms.Form):
    days = forms.IntegerField(label=gettext_lazy("Days that profiles are kept"), required=False)

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, initial={"days": project.retention_days})
        self.allowed = get_quota_limits(project.pk).retention_days
        field = self.fields["days"]
        field.help_text = _(
            "1 to %(allowed)d, the limit of this project. Empty: the limit, also if it changes."
        ) % {"allowed": self.allowed}
        field.widget.attrs.update({"min": 1, "max": self.allowed})

    def clean_days(self) -> int | None:
        days: int | None = self.cleaned_data["days"]
        if days is not None and not 1 <= days <= self.allowed:
            raise forms.ValidationError(
                _("The retention must be between 1 and %(allowed)d days.")
                % {"allowed": self.allowed}
            )
        return days

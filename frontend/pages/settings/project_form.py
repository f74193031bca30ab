"""Form of a project's settings: name, capture rate and source link template."""

from collections.abc import Mapping

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Project
from projects.project_settings import MAX_SOURCE
from projects.source_templates import InvalidLinkTemplate, check_pattern

_RATES: dict[float, Promise] = {
    0.0: gettext_lazy("off"),
    0.1: gettext_lazy("1 every 10 minutes"),
    0.5: gettext_lazy("1 every 2 minutes"),
    1.0: gettext_lazy("1 per minute"),
    2.0: gettext_lazy("2 per minute"),
    4.0: gettext_lazy("4 per minute"),
}


class ProjectForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("Display name. The project ID does not change."),
    )
    rate = forms.ChoiceField(
        label=gettext_lazy("Capture rate"),
        help_text=gettext_lazy(
            "Average for each deployment and type. A CPU or wall profile is 10 seconds of one "
            "agent."
        ),
    )
    adaptive_rate = forms.BooleanField(
        label=gettext_lazy("Capture more often where needed to find changes of 5 %"),
        required=False,
    )
    source_url = forms.CharField(
        label=gettext_lazy("Source link template"),
        max_length=MAX_SOURCE,
        required=False,
        help_text=gettext_lazy("https://git.example.org/shop/blob/{version}/{file}#L{line}"),
    )
    source_root = forms.CharField(
        label=gettext_lazy("Path prefix to strip"),
        max_length=MAX_SOURCE,
        required=False,
        help_text=gettext_lazy("Leading path to remove, for example /app/"),
    )

    def __init__(self, project: Project, data: Mapping[str, object] | None = None) -> None:
        self.project = project
        current = {
            "name": project.name,
            "rate": str(project.profiles_per_minute),
            "adaptive_rate": project.adaptive_rate,
            "source_url": project.source_url,
            "source_root": project.source_root,
        }
        super().__init__(data, initial=current)
        rate = self.fields["rate"]
        if isinstance(rate, forms.ChoiceField):
            rate.choices = _choices(project.profiles_per_minute)

    def clean_source_url(self) -> str:
        pattern = str(self.cleaned_data["source_url"])
        if pattern:
            try:
                check_pattern(pattern)
            except InvalidLinkTemplate as error:
                raise forms.ValidationError(str(error)) from error
        return pattern

    @property
    def values(self) -> dict[str, object]:
        """Return the values of a valid form by the fields of the project."""
        return {
            "name": self.cleaned_data["name"],
            "profiles_per_minute": float(self.cleaned_data["rate"]),
            "adaptive_rate": self.cleaned_data["adaptive_rate"],
            "source_url": self.cleaned_data["source_url"],
            "source_root": self.cleaned_data["source_root"],
        }


def _choices(current: float) -> list[tuple[str, str]]:
    """Return the usual rates, and the current rate if it is another one (set in the admin)."""
    words = {rate: str(text) for rate, text in _RATES.items()}
    words.setdefault(current, _("%(rate)g per minute") % {"rate": current})
    return [(str(rate), words[rate]) for rate in sorted(words)]


def rate_text(rate: float) -> str:
    """Return the form's text for a capture rate."""
    return dict(_choices(rate))[str(rate)]

"""Forms of the deletion page: the selection, and the name that is typed to confirm it."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from frontend.params.time_field import TimeField
from frontend.text.display_names import type_name
from profiles.deletion.jobs import DeletionSelection
from projects.models import Deployment, Project
from projects.profile_types import ProfileType

MAX_CHOICES = 1000  # services, zones and versions of a menu
# A zone or version may be empty, and "" selects all: the values of their menus begin with this.
_VALUE = "="


class SelectionForm(forms.Form):
    service = forms.ChoiceField(label=gettext_lazy("Service"), required=False)
    type = forms.ChoiceField(label=gettext_lazy("Profile type"), required=False)
    zone = forms.ChoiceField(label=gettext_lazy("Zone"), required=False)
    version = forms.ChoiceField(label=gettext_lazy("Version"), required=False)
    start = TimeField(label=gettext_lazy("From"), required=False)
    end = TimeField(label=gettext_lazy("Until"), required=False)

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data)
        rows = Deployment.objects.filter(project=project).order_by()
        services = rows.values_list("service", flat=True).distinct()
        self._set_choices("service", _("All services"), [(name, name) for name in _some(services)])
        self._set_choices("type", _("All types"), [(each, type_name(each)) for each in ProfileType])
        for name, every in (("zone", _("All zones")), ("version", _("All versions"))):
            found = _some(rows.values_list(name, flat=True).distinct())
            none = _("(empty)")
            self._set_choices(name, every, [(f"{_VALUE}{each}", each or none) for each in found])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        start, end = cleaned.get("start"), cleaned.get("end")
        if start and end and start >= end:
            self.add_error("end", _("The end must be after the start."))
        return cleaned

    @property
    def selection(self) -> DeletionSelection:
        """Return the selection; only for a form that is valid."""
        chosen = self.cleaned_data
        return DeletionSelection(
            service=chosen["service"],
            type=chosen["type"],
            zone=_read_value(chosen["zone"]),
            version=_read_value(chosen["version"]),
            start=chosen["start"],
            end=chosen["end"],
        )

    def _set_choices(self, name: str, every: str, choices: list[tuple[Any, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", every), *choices]


class ConfirmForm(forms.Form):
    """Name that a person types to confirm a deletion."""

    name = forms.CharField(max_length=255)

    def __init__(self, expected: str, data: Any = None) -> None:
        super().__init__(data)
        self._expected = expected
        self.fields["name"].label = _("Type %(name)s to confirm") % {"name": expected}

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if name != self._expected:
            raise forms.ValidationError(_("This is not “%(name)s”.") % {"name": self._expected})
        return name


def _some(names: Any) -> list[str]:
    return sorted(names[:MAX_CHOICES])


def _read_value(chosen: str) -> str | None:
    return chosen.removeprefix(_VALUE) if chosen else None

"""Form of a new API key."""

from django import forms
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.api_key import SERVICE_NAME


class Scope(models.TextChoices):
    WRITE = "write", _("Write profiles (agents)")
    READ = "read", _("Read profiles (scripts)")
    BOTH = "both", _("Write and read")


class KeyForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("For example production-eu or laptop.")
    )
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope, initial=Scope.WRITE)

    default_service = forms.CharField(
        label=_("Default service"),
        max_length=255,
        required=False,
        validators=[SERVICE_NAME],
        help_text=_("For profiles without a service. Optional."),
    )

    @property
    def may_write(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.READ

    @property
    def may_read(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.WRITE

"""Forms of API keys: a new key, and the allowed services of one."""

import re
from datetime import datetime, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from projects.models.api_key import MAX_SERVICES, SERVICE_NAME

_MAX_CHARACTERS = MAX_SERVICES * 257
_SEPARATORS = re.compile(r"[\s,;]+")
_NEVER = ""
_DAYS = (30, 90, 365)


class Scope(models.TextChoices):
    WRITE = "write", _("Write profiles (agents)")
    READ = "read", _("Read profiles (scripts)")
    BOTH = "both", _("Write and read")


def _expiry_choices() -> list[tuple[str, str]]:
    """Return the choices in the language of the request."""
    days = [(str(n), ngettext("in %d day", "in %d days", n) % n) for n in _DAYS]
    return [(_NEVER, gettext("never")), *days]


class ServicesField(forms.CharField):
    """Names of services, separated by spaces, commas or line breaks; empty: all services."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Allowed services"),
            max_length=_MAX_CHARACTERS,
            required=False,
            help_text=_("Services that the key may send, separated by commas. Empty: all."),
        )

    def clean(self, value: str) -> tuple[str, ...]:
        text = super().clean(value)
        names = tuple(dict.fromkeys(part for part in _SEPARATORS.split(text) if part))
        if len(names) > MAX_SERVICES:
            raise ValidationError(
                _("%(count)d services; the limit is %(allowed)d for a key."),
                params={"count": len(names), "allowed": MAX_SERVICES},
            )
        for name in names:
            SERVICE_NAME(name)
        return names


class ServicesForm(forms.Form):
    services = ServicesField()


class KeyForm(ServicesForm):
    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("For example production-eu or laptop.")
    )
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope, initial=Scope.WRITE)
    days = forms.ChoiceField(
        label=_("Expires"),
        required=False,
        initial=_NEVER,
        choices=_expiry_choices,
    )
    default_service = forms.CharField(
        label=_("Default service"),
        max_length=255,
        required=False,
        validators=[SERVICE_NAME],
        help_text=_("For profiles without a service. Optional."),
    )
    field_order = ("name", "scope", "days", "services", "default_service")

    def clean(self) -> dict[str, object]:
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        services = cleaned.get("services")
        if not services or "scope" not in cleaned:
            return cleaned
        if self.may_read:
            self.add_error(
                "services",
                _("Allowed services limit what a key sends. This scope reads all services."),
            )
        default_service = cleaned.get("default_service")
        if default_service and default_service not in self.cleaned_data.get("services", ()):
            self.add_error("default_service", _("This is none of the allowed services."))
        return cleaned

    @property
    def may_write(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.READ

    @property
    def may_read(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.WRITE

    @property
    def expires(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=int(days)) if days else None

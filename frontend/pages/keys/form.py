"""Forms of API keys: create one, and change its allowed services and its expiry."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from endpoints.params import values
from projects.credentials.allowed_services import AllowedServices, clean_services
from projects.models import ApiKey
from projects.models.api_key import MAX_ALLOWED_SERVICES, SERVICE_NAME

_MAX_CHARACTERS = MAX_ALLOWED_SERVICES * 257
_SEPARATORS = re.compile(r"[\s,;]+")
_MAX_LIFETIME = timedelta(days=3650)
_MAX_OFFSET = timedelta(hours=14)  # of a time zone from UTC


class Scope(models.TextChoices):
    WRITE = "write", gettext_lazy("Write profiles (agents)")
    READ = "read", gettext_lazy("Read profiles (scripts)")
    BOTH = "both", gettext_lazy("Write and read")


class Expiry(models.TextChoices):
    DAYS_30 = "30", gettext_lazy("In 30 days")
    DAYS_90 = "90", gettext_lazy("In 90 days")
    DAYS_365 = "365", gettext_lazy("In 1 year")
    DATE = "date", gettext_lazy("On a date")
    NEVER = "never", gettext_lazy("Never")


KEEP = "keep"  # expiry of a key that is changed


class RestrictionsForm(forms.Form):
    """Fields that a key can be created with and that can be changed later."""

    services = forms.CharField(
        label=gettext_lazy("Allowed services"),
        max_length=_MAX_CHARACTERS,
        required=False,
        help_text=gettext_lazy("Separate with commas. Empty for all; * matches any text."),
    )
    expiry = forms.ChoiceField(
        label=gettext_lazy("Expires"), choices=Expiry, initial=Expiry.DAYS_90, required=False
    )
    date = forms.DateField(
        label=gettext_lazy("Date"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "data-end": "date_end"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text=gettext_lazy("For “On a date”: the last day."),
    )
    # When that day ends in the browser's time zone; without scripts it ends in UTC.
    date_end = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_services(self) -> list[str]:
        text = str(self.cleaned_data["services"])
        return clean_services(name for name in _SEPARATORS.split(text) if name)

    def clean(self) -> dict[str, object]:
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        try:
            cleaned["expires"] = self._expires(str(cleaned.get("expiry")), self._find_end(cleaned))
        except ValidationError as error:
            self.add_error("date", error)
        return cleaned

    @staticmethod
    def _find_end(cleaned: Mapping[str, object]) -> datetime | None:
        """Return the end of the chosen day, if there is one."""
        day = cleaned.get("date")
        if not isinstance(day, date):
            return None
        end = datetime.combine(day, time(23, 59, 59), UTC)
        try:
            local_end = values.time(str(cleaned.get("date_end")))
        except ValueError:
            return end
        return local_end if abs(local_end - end) <= _MAX_OFFSET else end

    def _expires(self, expiry: str, end: datetime | None) -> datetime | None:
        now = timezone.now()
        if expiry == Expiry.DATE:
            if end is None:
                raise ValidationError(_("Enter a date."))
            if not now < end <= now + _MAX_LIFETIME:
                raise ValidationError(_("Enter a date from today on, within ten years."))
            return end
        return now + timedelta(days=int(expiry)) if expiry.isdecimal() else None


class KeyForm(RestrictionsForm):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("For example production-eu or laptop."),
    )
    scope = forms.ChoiceField(label=gettext_lazy("Scope"), choices=Scope, initial=Scope.WRITE)
    default_service = forms.CharField(
        label=gettext_lazy("Default service"),
        max_length=255,
        required=False,
        validators=[SERVICE_NAME],
        help_text=gettext_lazy("For profiles without a service. Optional."),
    )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean()
        services, default = cleaned.get("services"), cleaned.get("default_service")
        allowed = AllowedServices(tuple(services) if isinstance(services, list) else ())
        if default and not allowed.allows(str(default)):
            self.add_error("default_service", _("This is not one of the allowed services."))
        return cleaned

    @property
    def may_write(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.READ

    @property
    def may_read(self) -> bool:
        return Scope(self.cleaned_data["scope"]) is not Scope.WRITE


class ChangeForm(RestrictionsForm):
    def __init__(self, key: ApiKey, data: Mapping[str, object] | None = None) -> None:
        self.key = key
        super().__init__(data, initial={"services": ", ".join(key.services), "expiry": KEEP})
        expiry = self.fields["expiry"]
        if isinstance(expiry, forms.ChoiceField):
            choices: Sequence[tuple[str, object]] = Expiry.choices
            expiry.choices = [(KEEP, _("No change")), *choices]

    def _expires(self, expiry: str, end: datetime | None) -> datetime | None:
        return self.key.expires if expiry == KEEP else super()._expires(expiry, end)

"""Form field of a time."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from endpoints.params import values


class TimeField(forms.Field):
    """Time in UTC, or with its offset; None if it is empty.

    A script shows it in the browser's time zone, and sends it with its offset (shell/dates.js).
    """

    def __init__(self, *, attributes: dict[str, str] | None = None, **options: Any) -> None:
        attrs = {"type": "datetime-local", "data-utc": ""} | (attributes or {})
        super().__init__(widget=forms.DateTimeInput(attrs=attrs), **options)

    def to_python(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            return values.time(values.with_zone(str(value)))
        except ValueError:
            raise ValidationError(_("Enter a date and a time.")) from None

    def prepare_value(self, value: Any) -> str:
        """Return the time in UTC without its zone: browsers discard any other text."""
        try:
            time = self.to_python(value)
        except ValidationError:
            return str(value)
        return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if time else ""

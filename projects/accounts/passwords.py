"""Passwords: long enough, told in a way that helps the one who types."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


class LongEnoughValidator(MinimumLengthValidator):
    """Django's, naming how long it is and how long it must be."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        if len(password) < self.min_length:
            lengths = {"length": len(password), "least": self.min_length}
            raise ValidationError(
                _("%(length)d characters so far; %(least)d or more, please. A sentence works well.")
                % lengths
            )

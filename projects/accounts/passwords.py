"""Password validation with helpful messages."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


class LongEnoughValidator(MinimumLengthValidator):
    """Django's validator, with a message that names the current and minimum length."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        if len(password) < self.min_length:
            lengths = {"length": len(password), "least": self.min_length}
            raise ValidationError(
                _("%(length)d characters so far; %(least)d or more, please. A sentence works well.")
                % lengths
            )

"""Passwords: validation with helpful messages, and reset by e-mail or by the operator."""

from typing import cast

from allauth.account.views import password_reset
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


class LongEnoughValidator(MinimumLengthValidator):
    """Django's validator, with a message that names the current and minimum length."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        if len(password) < self.min_length:
            lengths = {"length": len(password), "least": self.min_length}
            raise ValidationError(
                _(
                    "This password has %(length)d characters; at least %(least)d are required. "
                    "A sentence works well."
                )
                % lengths
            )


def reset_password(request: HttpRequest) -> HttpResponse:
    if settings.SENDS_MAIL:
        return cast("HttpResponse", password_reset(request))
    return render(request, "account/password_reset_closed.html")

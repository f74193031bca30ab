"""Password reset by e-mail, or by the operator on servers that send no e-mail."""

from typing import cast

from allauth.account.views import password_reset
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def reset_password(request: HttpRequest) -> HttpResponse:
    if settings.SENDS_MAIL:
        return cast("HttpResponse", password_reset(request))
    return render(request, "account/password_reset_closed.html")

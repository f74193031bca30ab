"""Domains whose accounts sign in by single sign-on only.

Superusers may use their password: somebody has to get in when the provider is down.
"""

import time

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from projects.models import User

_PENDING = "sign_on_required"  # in the session: account and time of a correct password or passkey
_SECONDS = 600.0  # in which the person has to sign in at the provider


def is_required(user: User) -> bool:
    """Return True if a verified address of the account is of such a domain."""
    if user.is_superuser or not settings.SSO_REQUIRED_DOMAINS:
        return False
    verified = EmailAddress.objects.filter(user=user, verified=True)
    return any(is_required_address(each) for each in verified.values_list("email", flat=True))


def is_required_address(email: str) -> bool:
    return email.rpartition("@")[2].lower() in settings.SSO_REQUIRED_DOMAINS


def require_provider(request: HttpRequest, user: User) -> HttpResponse:
    """Return the page that leads to the providers, in place of a sign-in by other means.

    The first identity with an address of the account that follows in this session is connected
    with it: its owner has just shown password or passkey.
    """
    request.session[_PENDING] = {"user": user.pk, "time": time.time()}
    return render(request, "frontend/account/sign_on_required.html", status=403)


def connect_pending(request: HttpRequest, sociallogin: SocialLogin, verified: list[str]) -> bool:
    """Connect a new identity with the account that has to sign in by it, once; else return False.

    `verified` are addresses that the provider has verified.
    """
    pending = request.session.pop(_PENDING, None)
    if pending is None or time.time() - pending["time"] > _SECONDS:
        return False
    user = User.objects.filter(pk=pending["user"], is_active=True).first()
    if user is None:
        return False
    own = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    if not {each.lower() for each in own} & {each.lower() for each in verified}:
        return False
    sociallogin.connect(request, user)
    return True

"""Invitation that a browser has opened before signing in or up, in its session."""

from allauth.account.adapter import get_adapter
from django.http import HttpRequest
from django.urls import reverse

from projects import invitations
from projects.invitations import InvitationRejected
from projects.models import Invitation

_TOKEN = "invitation_token"  # noqa: S105  name in the session


def remember(request: HttpRequest, token: str, invitation: Invitation) -> None:
    """Remember a pending invitation. Its e-mail has verified the address that it was sent to."""
    request.session[_TOKEN] = token
    if invitation.is_mailed:
        get_adapter().stash_verified_email(request, invitation.email)


def find(request: HttpRequest) -> Invitation | None:
    """Return the invitation if it is still pending; forget it otherwise."""
    token = request.session.get(_TOKEN)
    if token is None:
        return None
    try:
        return invitations.find(token)
    except InvitationRejected:
        _forget(request)
        return None


def pop_url(request: HttpRequest) -> str:
    """Return the path of the invitation's page, once; "" without an invitation."""
    token = request.session.get(_TOKEN)
    if token is None:
        return ""
    _forget(request)
    return reverse("invitation", args=[token])


def _forget(request: HttpRequest) -> None:
    del request.session[_TOKEN]
    get_adapter().unstash_verified_email(request)

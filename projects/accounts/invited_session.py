"""Invitation that a browser has opened before signing in or up, in its session."""

from allauth.account.adapter import get_adapter
from django.http import HttpRequest
from django.urls import reverse

from projects import invitations
from projects.credentials import invitation_tokens
from projects.invitations import InvitationRejected
from projects.models import Invitation

_HASH = "invitation"  # in the session, which is stored: the hash of the token


def remember(request: HttpRequest, invitation: Invitation) -> None:
    """Remember a pending invitation. Its e-mail has verified the address that it was sent to."""
    request.session[_HASH] = invitation.token_hash
    if invitation.is_mailed:
        get_adapter().stash_verified_email(request, invitation.email)


def find(request: HttpRequest) -> Invitation | None:
    """Return the invitation if it is still pending; forget it otherwise."""
    token_hash = request.session.get(_HASH)
    if token_hash is None:
        return None
    try:
        return invitations.find_by_hash(token_hash)
    except InvitationRejected:
        _forget(request)
        return None


def pop_url(request: HttpRequest) -> str:
    """Return the path of the invitation's page, once; "" without a pending invitation."""
    invitation = find(request)
    if invitation is None:
        return ""
    _forget(request)
    return reverse("invitation", args=[invitation_tokens.make(invitation)])


def _forget(request: HttpRequest) -> None:
    del request.session[_HASH]
    get_adapter().unstash_verified_email(request)

"""`/invitations/<token>`: page that a link of an invitation leads to, and joining (POST)."""

from http import HTTPStatus

from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from projects import invitations
from projects.account_limits import LimitReached
from projects.accounts import invited_session
from projects.audit import Origin
from projects.invitations import InvitationRejected, Problem
from projects.models import Invitation, Member, User

_STATUSES = {
    Problem.UNKNOWN: HTTPStatus.NOT_FOUND,
    Problem.OTHER_ADDRESS: HTTPStatus.FORBIDDEN,
}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation on GET; on POST make the account a member.

    Only a pending one says which project it is of.
    """
    try:
        row = invitations.find(token)
        if not isinstance(request.user, User):
            return _offer_account(request, row)
        return _respond(request, token, row, request.user)
    except InvitationRejected as rejected:
        context = {"problem": rejected.problem.value}
        status = _STATUSES.get(rejected.problem, HTTPStatus.GONE)
        return render(request, "frontend/invitation/problem.html", context, status=status)


def _offer_account(request: HttpRequest, row: Invitation) -> HttpResponse:
    """Offer to sign in or up, and remember the invitation until then."""
    invited_session.remember(request, row)
    context = {"invitation": row, "may_sign_up": settings.SIGNUP != "closed"}
    return render(request, "frontend/invitation/page.html", context)


def _respond(request: HttpRequest, token: str, row: Invitation, user: User) -> HttpResponse:
    member = Member.objects.filter(project=row.project, user=user).first()
    if member is not None:
        messages.success(request, _("You are a member of this project already"))
        return redirect("services", row.project.project_id)
    invitations.require_address(row, user)
    context: dict[str, object] = {"invitation": row}
    if request.method != "POST":
        return render(request, "frontend/invitation/page.html", context)
    if not ratelimit.consume(request, action="accept_invitation"):
        context["error"] = _("Too many attempts. Try again in a minute.")
        return render(request, "frontend/invitation/page.html", context, status=429)
    try:
        member = invitations.accept(token, user, origin=Origin.from_request(request))
    except LimitReached as reached:
        context["error"] = str(reached)
        return render(request, "frontend/invitation/page.html", context, status=409)
    names = {"project": member.project.name, "role": member.get_role_display().lower()}
    messages.success(request, _("You joined %(project)s with the role %(role)s") % names)
    return redirect("services", member.project.project_id)

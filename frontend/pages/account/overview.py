"""`/account/`: name, address, password, two factors, sessions and deletion of an account."""

from typing import cast

from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.socialaccount.internal.flows.connect import disconnect as disconnect_account
from allauth.socialaccount.internal.flows.connect import validate_disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from frontend.pages.account.user_agents import describe
from projects import audit
from projects.accounts import single_sign_on, two_factors
from projects.accounts.deletion import (
    ProjectsWithoutOwner,
    delete_account,
    list_sole_owner_projects,
)
from projects.audit import Origin
from projects.models import User

MAX_NAME = 150  # characters, as of the column


class NameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=MAX_NAME,
        required=False,
        help_text=gettext_lazy("Shown to the members of your projects. Optional."),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def overview(request: HttpRequest) -> HttpResponse:
    """Show the account; a POST changes the name."""
    user = cast("User", request.user)
    posted = request.POST if request.method == "POST" else None
    form = NameForm(posted, initial={"name": user.get_full_name()})
    if posted is not None and form.is_valid():
        user.first_name, user.last_name = form.cleaned_data["name"], ""
        user.save(update_fields=["first_name", "last_name"])
        messages.success(request, _("Name saved"))
        return redirect("account")
    sessions = sorted(
        UserSession.objects.purge_and_list(user), key=lambda row: row.created_at, reverse=True
    )
    connected = single_sign_on.list_connected(user)
    addresses = list(EmailAddress.objects.filter(user=user).order_by("-primary", "email"))
    context = {
        "form": form,
        "addresses": addresses,
        "has_verified_address": any(address.verified for address in addresses),
        "connected": [(row, row.get_provider().name) for row in connected],
        "connected_providers": {row.provider for row in connected},
        "has_two_factors": two_factors.has_two_factors(user),
        "sessions": [
            (row, describe(row.user_agent), row.session_key == request.session.session_key)
            for row in sessions
        ],
    }
    return render(
        request, "frontend/account/overview.html", context, status=400 if form.errors else 200
    )


@require_POST
def change_notices(request: HttpRequest) -> HttpResponse:
    """Turn e-mails about quotas and keys on or off."""
    user = cast("User", request.user)
    user.receives_notices = request.POST.get("receives") == "on"
    user.save(update_fields=["receives_notices"])
    messages.success(request, _("Notifications saved"))
    return redirect("account")


@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def disconnect(request: HttpRequest, pk: int) -> HttpResponse:
    """Disconnect an account of single sign-on, unless it is the last way to sign in."""
    row = SocialAccount.objects.filter(user=cast("User", request.user), pk=pk).first()
    if row is None:
        raise Http404(_("There is no such connected account of yours."))
    try:
        validate_disconnect(request, row)
        disconnect_account(request, row)
    except ValidationError as error:
        messages.error(request, error.message)
    return redirect("account")


@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """End another session of the person."""
    user = cast("User", request.user)
    row = UserSession.objects.filter(user=user, pk=pk).first()
    if row is None or row.session_key == request.session.session_key:
        raise Http404(_("There is no such session of yours."))
    _end([row], user, Origin.from_request(request))
    messages.success(request, _("The session was ended"))
    return redirect("account")


@require_POST
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    rows = UserSession.objects.filter(user=user).exclude(session_key=request.session.session_key)
    _end(list(rows), user, Origin.from_request(request))
    messages.success(request, _("All other sessions were ended"))
    return redirect("account")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator]
def delete(request: HttpRequest) -> HttpResponse:
    """Ask for confirmation on GET, delete the account on POST."""
    user = cast("User", request.user)
    owned = list_sole_owner_projects(user)
    if request.method == "POST" and not owned:
        try:
            delete_account(user, origin=Origin.from_request(request))
        except ProjectsWithoutOwner as error:
            owned = error.projects
        else:
            logout(request)
            return redirect("account_login")
    context = {"owned": owned}
    status = 409 if request.method == "POST" else 200
    return render(request, "frontend/account/delete.html", context, status=status)


def _end(rows: list[UserSession], user: User, origin: Origin) -> None:
    for row in rows:
        row.end()
    if rows:
        audit.record_account(
            user, "account.sessions_end", actor=user, origin=origin, sessions=len(rows)
        )

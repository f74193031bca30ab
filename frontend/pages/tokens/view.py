"""`/account/tokens`: list, create and revoke personal access tokens."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.pages.tokens.form import TokenForm
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import access_tokens
from projects.credentials.authorization_codes import RESOURCE_PATH
from projects.models import AccessToken, TokenScope, User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens; a POST creates one and shows its text once."""
    user = cast("User", request.user)
    if request.method != "POST":
        return _render(request, user, TokenForm())
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _render(request, user, form, status=400)
    try:
        new_token = access_tokens.create(
            user,
            form.cleaned_data["name"],
            [TokenScope(scope) for scope in form.cleaned_data["scopes"]],
            form.cleaned_data["days"],
            origin=Origin.from_request(request),
        )
    except LimitReached as reached:
        form.add_error(None, str(reached))
        return _render(request, user, form, status=400)
    return _render(request, user, TokenForm(), new_token)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """Ask for confirmation on GET, revoke the token on POST."""
    user = cast("User", request.user)
    row = AccessToken.objects.filter(user=user, token_id=token_id, revoked=None).first()
    if row is None:
        raise Http404(_("You have no such token, or it is already revoked."))
    if request.method != "POST":
        return render(request, "frontend/tokens/revoke.html", {"token": row})
    access_tokens.revoke(row, origin=Origin.from_request(request))
    messages.success(request, _("Token “%(name)s” revoked") % {"name": row.name})
    return redirect("tokens")


def _render(
    request: HttpRequest,
    user: User,
    form: TokenForm,
    new_token: tuple[AccessToken, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    now = timezone.now()
    rows = [(row, row.is_active(now)) for row in access_tokens.list_tokens(user)]
    mcp_url = f"{settings.FLAMEWATCH_URL}{RESOURCE_PATH}"
    context = {"rows": rows, "form": form, "new_token": new_token, "mcp_url": mcp_url}
    return render(request, "frontend/tokens/page.html", context, status=status)

"""`/device/code` and `/device/token` for programs, `/device` for a person to confirm the code."""

from http import HTTPStatus
from typing import cast

from allauth.core.internal import ratelimit
from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from common.client_address import client_address
from frontend.pages.tokens.form import TokenForm
from frontend.pages.tokens.oauth_error import oauth_error
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import device_sign_in
from projects.models import DeviceSignIn, TokenScope, User

_FIELD_LENGTH = 200  # characters of a parameter that are read
_RATES = "allauth.account"  # whose settings have the limits


class _CodeForm(forms.Form):
    code = forms.CharField(label=gettext_lazy("Code"), max_length=20)


@csrf_exempt  # a program has no session
@never_cache
@require_POST
def issue_code(request: HttpRequest) -> HttpResponse:
    """Begin a sign-in: the response of RFC 8628, section 3.2."""
    allowed = ratelimit.consume(request, app=_RATES, action="device_codes")
    try:
        if not allowed:
            raise device_sign_in.TooManySignIns
        device = _get_text(request, "device_name") or "?"
        row, device_code = device_sign_in.begin(device, client_address(request))
    except device_sign_in.TooManySignIns:
        return oauth_error(
            "slow_down",
            "Too many sign-ins were begun. Try again in an hour, or paste a personal access token.",
            HTTPStatus.TOO_MANY_REQUESTS,
        )
    user_code = device_sign_in.format_code(row.user_code)
    return JsonResponse(
        {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": request.build_absolute_uri("/device"),
            "verification_uri_complete": request.build_absolute_uri(f"/device?code={user_code}"),
            "expires_in": int(device_sign_in.LIFETIME.total_seconds()),
            "interval": device_sign_in.POLL_SECONDS,
        }
    )


@csrf_exempt
@never_cache
@require_POST
def issue_token(request: HttpRequest) -> HttpResponse:
    """Give the token of a confirmed sign-in: the responses of RFC 8628, section 3.5."""
    try:
        text = device_sign_in.take_token(
            _get_text(request, "device_code"), Origin.from_request(request)
        )
    except device_sign_in.SignInPending:
        return oauth_error("authorization_pending", "Nobody has confirmed the code yet.")
    except device_sign_in.SignInDenied as denied:
        return oauth_error("access_denied", str(denied))
    except device_sign_in.SignInExpired:
        return oauth_error("expired_token", "The code has expired. Begin a new sign-in.")
    return JsonResponse({"access_token": text, "token_type": "Bearer"})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Ask for a code, then for the decision on the sign-in that it names."""
    user = cast("User", request.user)
    typed = (request.POST if request.method == "POST" else request.GET).get("code", "")
    if not typed:
        return render(request, "frontend/tokens/device_code.html", {"form": _CodeForm()})
    if not _count_guess(request, user, dry_run=True):
        problem = _("Too many wrong codes. Try again in an hour.")
        return _ask_for_code(request, problem, HTTPStatus.TOO_MANY_REQUESTS)
    row = device_sign_in.find_open(typed[:_FIELD_LENGTH])
    if row is None:
        _count_guess(request, user)
        return _ask_again(request, HTTPStatus.BAD_REQUEST)
    if request.method == "POST":
        return _decide(request, row, user)
    form = TokenForm(initial={"name": f"flamewatch login ({row.device})"})
    return _ask_for_decision(request, row, form)


def _decide(request: HttpRequest, row: DeviceSignIn, user: User) -> HttpResponse:
    if request.POST.get("decision") != "approve":
        is_decided = device_sign_in.deny(row, user)
        return _show_outcome(request, row, is_decided, is_approved=False)
    form = TokenForm(request.POST)
    if form.is_valid():
        scopes = [TokenScope(scope) for scope in form.cleaned_data["scopes"]]
        name, days = form.cleaned_data["name"], form.cleaned_data["days"]
        try:
            is_decided = device_sign_in.approve(row, user, name, scopes, days)
            return _show_outcome(request, row, is_decided, is_approved=True)
        except LimitReached as reached:
            form.add_error(None, str(reached))
    return _ask_for_decision(request, row, form, HTTPStatus.BAD_REQUEST)


def _ask_for_code(request: HttpRequest, problem: str, status: HTTPStatus) -> HttpResponse:
    form = _CodeForm({"code": ""})
    form.errors["code"] = form.error_class([problem])
    return render(request, "frontend/tokens/device_code.html", {"form": form}, status=status)


def _ask_again(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    problem = _("There is no such code. It may have expired: run the command again.")
    return _ask_for_code(request, problem, status)


def _ask_for_decision(
    request: HttpRequest, row: DeviceSignIn, form: TokenForm, status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "sign_in": row,
        "code": device_sign_in.format_code(row.user_code),
        "form": form,
        "is_elsewhere": row.address != client_address(request),
    }
    return render(request, "frontend/tokens/device_decision.html", context, status=status)


def _show_outcome(
    request: HttpRequest, row: DeviceSignIn, is_decided: bool, *, is_approved: bool
) -> HttpResponse:
    if not is_decided:  # in another tab meanwhile, or it expired
        return _ask_again(request, HTTPStatus.CONFLICT)
    context = {"sign_in": row, "is_approved": is_approved}
    return render(request, "frontend/tokens/device_outcome.html", context)


def _count_guess(request: HttpRequest, user: User, *, dry_run: bool = False) -> bool:
    """Count a wrong code, or only look; return False beyond the limit."""
    usage = ratelimit.consume(
        request,
        app=_RATES,
        action="device_code_guesses",
        user=user,
        dry_run=dry_run,
        limit_get=True,  # codes are in links
    )
    return bool(usage)


def _get_text(request: HttpRequest, field: str) -> str:
    return request.POST.get(field, "")[:_FIELD_LENGTH].strip()

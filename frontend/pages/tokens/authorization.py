"""OAuth for assistants: metadata, registration, `/oauth/authorize` for a person, `/oauth/token`.

Clients of the Model Context Protocol find these addresses from the 401 response of `/mcp`, and ask
a person with a browser for a personal access token (authorization code grant with PKCE).
"""

import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from frontend.pages.tokens.form import TokenForm
from frontend.pages.tokens.oauth_error import oauth_error
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import authorization_codes
from projects.credentials.authorization_codes import (
    RESOURCE_PATH,
    SCOPE,
    CodeRejected,
    RegisteredProgram,
    RegistrationRejected,
    UnknownProgram,
)
from projects.models import User

_MAX_REGISTRATION_BYTES = 20_000
_GRANT, _RESPONSE = "authorization_code", "code"
# Of an authorization request; the form keeps them.
_PARAMETERS = (
    *("client_id", "redirect_uri", "response_type", "resource", "state"),
    *("code_challenge", "code_challenge_method"),
)


class _DaysForm(forms.Form):
    days = TokenForm.base_fields["days"]


class _Redirected(Exception):
    """Error of a valid program's request, which goes back to the program."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(description)
        self.code = code


@require_safe
def describe_resource(request: HttpRequest) -> HttpResponse:
    """Describe `/mcp` as a protected resource (RFC 9728)."""
    return JsonResponse(
        {
            "resource": request.build_absolute_uri(RESOURCE_PATH),
            "authorization_servers": [_issuer(request)],
            "scopes_supported": [SCOPE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Flamewatch",
        }
    )


@require_safe
def describe_server(request: HttpRequest) -> HttpResponse:
    """Describe this authorization server (RFC 8414)."""
    return JsonResponse(
        {
            "issuer": _issuer(request),
            "authorization_endpoint": request.build_absolute_uri("/oauth/authorize"),
            "token_endpoint": request.build_absolute_uri("/oauth/token"),
            "registration_endpoint": request.build_absolute_uri("/oauth/register"),
            "scopes_supported": [SCOPE],
            "response_types_supported": [_RESPONSE],
            "grant_types_supported": [_GRANT],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
    )


@csrf_exempt  # a program has no session
@never_cache
@require_POST
def register(request: HttpRequest) -> HttpResponse:
    """Register a program (RFC 7591), whatever it asks for, as one with a code and no secret."""
    try:
        name, uris = _read_registration(request)
    except (ValueError, RecursionError):
        return oauth_error(
            "invalid_client_metadata",
            f"Send a JSON object of at most {_MAX_REGISTRATION_BYTES:,} bytes, with redirect_uris"
            " as a list of texts and client_name as a text.",
        )
    try:
        program = authorization_codes.register(name, uris)
    except RegistrationRejected as rejected:
        return oauth_error("invalid_redirect_uri", str(rejected))
    return JsonResponse(
        {
            "client_id": program.client_id,
            "client_id_issued_at": int(time.time()),
            "client_name": program.name,
            "redirect_uris": program.redirect_uris,
            "grant_types": [_GRANT],
            "response_types": [_RESPONSE],
            "token_endpoint_auth_method": "none",
            "scope": SCOPE,
        },
        status=HTTPStatus.CREATED,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """Ask the person whether the program may read their projects; lead back to the program."""
    fields = _get_fields(request)
    uri = fields.get("redirect_uri", "")
    try:
        program = authorization_codes.find_program(fields.get("client_id", ""), uri)
    except UnknownProgram:
        # The address may be anybody's: nobody is sent there.
        return render(
            request, "frontend/tokens/program_unknown.html", status=HTTPStatus.BAD_REQUEST
        )
    try:
        _check_request(request, fields)
        if request.method == "POST":
            return _decide(request, program, uri)
    except _Redirected as error:
        return _lead_back(request, uri, error=error.code, error_description=str(error))
    return _ask(request, program, uri, _DaysForm())


@csrf_exempt  # a program has no session
@never_cache
@require_POST
def issue_token(request: HttpRequest) -> HttpResponse:
    """Give the token of a code (RFC 6749, section 4.1.3)."""
    fields = request.POST
    if fields.get("grant_type") != _GRANT:
        return oauth_error("unsupported_grant_type", f"grant_type has to be {_GRANT}.")
    if not _is_own_resource(request, fields):
        return oauth_error("invalid_target", _resource_error(request))
    try:
        text, expires = authorization_codes.take_token(
            fields.get("code", ""),
            fields.get("code_verifier", ""),
            fields.get("client_id", ""),
            fields.get("redirect_uri", ""),
            Origin.from_request(request),
        )
    except CodeRejected as rejected:
        return oauth_error("invalid_grant", str(rejected))
    return JsonResponse(
        {
            "access_token": text,
            "token_type": "Bearer",
            "expires_in": int((expires - timezone.now()).total_seconds()),
            "scope": SCOPE,
        }
    )


def _get_fields(request: HttpRequest) -> Mapping[str, str]:
    """Return the parameters of an authorization request: those of the query, or of the form."""
    return request.POST if request.method == "POST" else request.GET


def _check_request(request: HttpRequest, fields: Mapping[str, str]) -> None:
    """Raise _Redirected for parameters that the program has to mend.

    `scope` is ignored: every token has SCOPE, which the response says (RFC 6749, section 3.3).
    Clients ask for `openid` or `offline_access`, too, whatever the metadata says.
    """
    if fields.get("response_type") != _RESPONSE:
        raise _Redirected("unsupported_response_type", f"response_type has to be {_RESPONSE}.")
    challenge = fields.get("code_challenge", "")
    if fields.get("code_challenge_method") != "S256" or not authorization_codes.is_challenge(
        challenge
    ):
        raise _Redirected("invalid_request", "code_challenge of the method S256 is missing.")
    if not _is_own_resource(request, fields):
        raise _Redirected("invalid_target", _resource_error(request))


def _decide(request: HttpRequest, program: RegisteredProgram, uri: str) -> HttpResponse:
    if request.POST.get("decision") != "approve":
        raise _Redirected("access_denied", "The person has denied it.")
    form = _DaysForm(request.POST)
    if form.is_valid():
        challenge, days = request.POST["code_challenge"], form.cleaned_data["days"]
        user = cast("User", request.user)
        try:
            code = authorization_codes.approve(user, program, uri, challenge, days)
            return _lead_back(request, uri, code=code)
        except LimitReached as reached:
            form.add_error(None, str(reached))
    return _ask(request, program, uri, form, HTTPStatus.BAD_REQUEST)


def _ask(
    request: HttpRequest,
    program: RegisteredProgram,
    uri: str,
    form: forms.Form,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    fields = _get_fields(request)
    parts = urlsplit(uri)
    context = {
        "program": program,
        "target": parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}://",
        "is_local": authorization_codes.is_local(uri),
        "fields": [(name, fields[name]) for name in _PARAMETERS if name in fields],
        "form": form,
    }
    return render(request, "frontend/tokens/program_decision.html", context, status=status)


def _lead_back(request: HttpRequest, uri: str, **parameters: str) -> HttpResponse:
    """Lead back to the program by a page that forwards at once, after a form (see form-action)."""
    fields = _get_fields(request)
    if "state" in fields:
        parameters["state"] = fields["state"]
    parameters["iss"] = _issuer(request)
    separator = "&" if urlsplit(uri).query else "?"
    url = f"{uri}{separator}{urlencode(parameters)}"
    return render(request, "frontend/account/forward.html", {"url": url})


def _read_registration(request: HttpRequest) -> tuple[str, list[str]]:
    """Return name and redirect URIs. Raise ValueError for anything else."""
    if request.content_type != "application/json" or len(request.body) > _MAX_REGISTRATION_BYTES:
        raise ValueError("no JSON, or too large")
    document: Any = json.loads(request.body)
    if not isinstance(document, dict):
        raise ValueError("no object")
    name, uris = document.get("client_name", ""), document.get("redirect_uris")
    if not isinstance(name, str) or not isinstance(uris, list):
        raise ValueError("wrong types")
    if not all(isinstance(uri, str) for uri in uris):
        raise ValueError("wrong types")
    return name, uris


def _issuer(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


def _is_own_resource(request: HttpRequest, fields: Mapping[str, str]) -> bool:
    """Return True if the token is for this server (RFC 8707), or for no server by name."""
    issuer = _issuer(request)
    return fields.get("resource", issuer) in (issuer, f"{issuer}/", f"{issuer}{RESOURCE_PATH}")


def _resource_error(request: HttpRequest) -> str:
    return f"resource has to be {request.build_absolute_uri(RESOURCE_PATH)}."

"""Sign-up: create an account and its first project in one form, within limits per client address.

Who comes by an invitation creates no project, and gets back to the invitation afterwards, as after
signing in.

django-allauth counts: for an IPv6 address its /64 network.
"""

from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.account.utils import user_email
from allauth.core import context
from allauth.core.internal import ratelimit
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal.flows import did_use_passwordless_login
from django import forms
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from common.client_address import client_address
from projects import audit
from projects.accounts import failed_sign_ins, invited_session, required_sign_on
from projects.audit import Origin
from projects.models import Member, User
from projects.project_ids import create_project


class SignupAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Open to all, or to those with a pending invitation."""
        if settings.SIGNUP == "invited":
            return invited_session.find(request) is not None
        return bool(settings.SIGNUP == "open")

    def save_user(
        self, request: HttpRequest, user: User, form: "SignupForm", commit: bool = True
    ) -> User:
        """Save the account with the password that the form has hashed."""
        user_email(user, form.cleaned_data["email"])
        user.password = form.password_hash
        if commit:
            user.save()
        return user

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the page of the invitation that the browser opened before, or the home page."""
        return invited_session.pop_url(request) or cast(
            "str", super().get_login_redirect_url(request)
        )

    def pre_login(self, request: HttpRequest, user: User, **details: Any) -> HttpResponse | None:
        """Let allauth check the account, and require single sign-on where the domain does."""
        response = cast("HttpResponse | None", super().pre_login(request, user, **details))
        is_sign_on = "sociallogin" in (details.get("signal_kwargs") or {})
        if response is not None or is_sign_on or not required_sign_on.is_required(user):
            return response
        failed_sign_ins.record(request, {"email": user.email}, "single sign-on is required")
        return required_sign_on.require_provider(request, user)

    def login(self, request: HttpRequest, user: User) -> None:
        with transaction.atomic():
            super().login(request, user)
            providers = [
                record["provider"]
                for record in get_authentication_records(request, user)
                if record["method"] == "socialaccount"
            ]
            details = {"provider": providers[-1]} if providers else {}
            if did_use_passwordless_login(request, user):
                details["factor"] = Authenticator.Type.WEBAUTHN.value
            audit.record_own_action(request, user, "account.sign_in", **details)

    def logout(self, request: HttpRequest) -> None:
        with transaction.atomic():
            audit.record_own_action(request, cast("User", request.user), "account.sign_out")
            super().logout(request)

    def set_password(self, user: User, password: str) -> None:
        """Set the password; it is hashed before the transaction, see SignupForm.save."""
        user.set_password(password)
        with transaction.atomic():
            user.save(update_fields=["password"])
            audit.record_own_action(self.request, user, "account.password_change")

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:  # too many attempts
            failed_sign_ins.record(request, credentials, "too many attempts")
            raise

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        failed_sign_ins.record(request, credentials, "wrong password")

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Return the invitation, or the setup page of the project created with the account."""
        url = invited_session.pop_url(request)
        if url:
            return url
        member = Member.objects.filter(user=cast("User", request.user)).select_related("project")
        first = member.first()  # none if the invitation ended after the account was created
        return reverse("setup", args=[first.project.project_id]) if first else reverse("home")


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    password_hash = ""  # since `save` began

    project = forms.CharField(
        label=_("Project"),
        max_length=100,
        help_text=_("One per team or product. You can rename it later."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.invitation = invited_session.find(context.request)
        if self.invitation is None:
            return
        del self.fields["project"]
        if self.invitation.email:
            self.fields["email"].initial = self.invitation.email
            # The e-mail of the invitation has proved this address only.
            self.fields["email"].disabled = self.invitation.is_mailed

    def clean_email(self) -> str:
        email = cast("str", super().clean_email())
        if required_sign_on.is_required_address(email):
            raise ValidationError(
                _("Accounts of your domain sign in by a provider: use a button below.")
            )
        if self.invitation is not None or not settings.SIGNUP_DOMAINS:
            return email
        if not is_domain_allowed(email):
            raise ValidationError(
                _("Accounts are open to addresses of %(domains)s."),
                params={"domains": ", ".join(settings.SIGNUP_DOMAINS)},
            )
        if not settings.SENDS_MAIL:
            raise ValidationError(
                _(
                    "This server sends no e-mail, so that it cannot verify your address. Sign up"
                    " with a button below."
                )
            )
        return email

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the account; return it, or the response that says why there is none."""
        page = count_new_account(request)
        if page is not None:
            return None, page
        return cast("tuple[User | None, HttpResponse | None]", super().try_save(request))

    def save(self, request: HttpRequest) -> User:
        """Create the account and its project in one transaction.

        The password is hashed before it: that takes some 0.3 s, during which SQLite would let
        nobody else write, uploads included.
        """
        self.password_hash = make_password(self.cleaned_data["password1"])
        with transaction.atomic():
            return cast("User", super().save(request))

    def custom_signup(self, request: HttpRequest, user: Any) -> None:
        if not isinstance(user, User):
            raise TypeError(f"a user was expected, not {type(user)}")
        origin = Origin.from_request(request)
        if self.invitation is None:
            create_project(self.cleaned_data["project"], user, origin=origin)
        audit.record_account(user, "account.sign_up", actor=user, origin=origin)


def is_domain_allowed(email: str) -> bool:
    """Return whether an account can be created with the address, as far as its domain decides."""
    domain = email.rpartition("@")[2].lower()
    return not settings.SIGNUP_DOMAINS or domain in settings.SIGNUP_DOMAINS


def count_new_account(request: HttpRequest) -> HttpResponse | None:
    """Count an account of the client's address; return a page if it exceeds a limit.

    Single sign-on creates accounts in GET requests.
    """
    if not _consume(request, "signups_per_hour"):
        allowed = settings.SIGNUPS_PER_HOUR
        sentence = ngettext(
            "%(allowed)d account was created from your network address within an hour, which is"
            " the limit (FLAMEWATCH_SIGNUPS_PER_HOUR).",
            "%(allowed)d accounts were created from your network address within an hour, which is"
            " the limit (FLAMEWATCH_SIGNUPS_PER_HOUR).",
            allowed,
        )
    elif not _consume(request, "signups_per_day"):
        allowed = settings.SIGNUPS_PER_DAY
        sentence = ngettext(
            "%(allowed)d account was created from your network address within a day, which is the"
            " limit (FLAMEWATCH_SIGNUPS_PER_DAY).",
            "%(allowed)d accounts were created from your network address within a day, which is"
            " the limit (FLAMEWATCH_SIGNUPS_PER_DAY).",
            allowed,
        )
    else:
        return None
    context = {"reason": sentence % {"allowed": allowed}}
    return render(request, "account/signup_limit.html", context, status=429)


def _consume(request: HttpRequest, action: str) -> bool:
    """Count an action, in GET requests too, unlike the public function of django-allauth."""
    usage = ratelimit.consume(request, app="allauth.account", action=action, limit_get=True)
    return bool(usage)

"""Single sign-on by django-allauth: who may sign up by it, its views, and the audit log.

A person is the provider's identifier, never an address. An account is created with a verified
address that no other account has; an existing account is connected by its owner only.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NoReturn, cast

from allauth.account.utils import filter_users_by_email, user_email
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import (
    OAuth2Adapter,
    OAuth2CallbackView,
    OAuth2LoginView,
)
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.conf import settings
from django.db import transaction
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from requests import RequestException

from projects import audit
from projects.account_limits import has_unverified_address
from projects.accounts import invited_session
from projects.accounts.openid_connect.provider import StrictOpenIdAdapter
from projects.accounts.required_sign_on import connect_pending
from projects.accounts.signup import count_new_account, is_domain_allowed
from projects.models import User


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Answer with a page if no account can be created or connected."""
        provider = self.get_provider(request, sociallogin.account.provider)
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            if has_unverified_address(cast("User", request.user)):
                _reject(request, "own_address", provider.name)
            return
        if sociallogin.is_existing:
            return
        verified = [
            address
            for address in sociallogin.email_addresses
            if address.verified or self.is_email_verified(provider, address.email)
        ]
        verified.sort(key=lambda address: not address.primary)
        if connect_pending(request, sociallogin, [address.email for address in verified]):
            return
        if not verified:
            _reject(request, "unverified", provider.name)
        if invited_session.find(request) is None:
            allowed = [address for address in verified if is_domain_allowed(address.email)]
            if not allowed:
                _reject(request, "domain", provider.name, verified[0].email)
            verified = allowed
        address = verified[0]
        address.email, address.verified, address.primary = address.email.lower(), True, True
        if filter_users_by_email(address.email):
            _reject(request, "taken", provider.name, address.email)
        sociallogin.email_addresses = [address]
        user_email(sociallogin.user, address.email)

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: None = None) -> User:
        """Create the account, without a password, within the limits of new accounts."""
        page = count_new_account(request)
        if page is not None:
            raise ImmediateHttpResponse(page)
        with transaction.atomic():
            user = cast("User", super().save_user(request, sociallogin, form))
            _record(request, user, "account.sign_up", sociallogin.account)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("account")


def list_connected(user: User) -> list[SocialAccount]:
    return list(SocialAccount.objects.filter(user=user).order_by("pk"))


@never_cache
def openid_login(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _begin(request, lambda: StrictOpenIdAdapter(request, provider_id))


@never_cache
def openid_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _finish(request, lambda: StrictOpenIdAdapter(request, provider_id))


@never_cache
def github_login(request: HttpRequest) -> HttpResponse:
    return _begin(request, lambda: GitHubOAuth2Adapter(request))


@never_cache
def github_callback(request: HttpRequest) -> HttpResponse:
    return _finish(request, lambda: GitHubOAuth2Adapter(request))


def _begin(request: HttpRequest, make_adapter: Callable[[], OAuth2Adapter]) -> HttpResponse:
    """Lead to the provider by a page that forwards at once.

    Browsers apply the policy's form-action to redirects of a form, and the provider's address is
    known only from its discovery document.
    """
    response = _call(request, OAuth2LoginView, make_adapter)
    if response.status_code != HTTPStatus.FOUND or request.method != "POST":
        return response
    return render(request, "frontend/account/forward.html", {"url": response["Location"]})


def _finish(request: HttpRequest, make_adapter: Callable[[], OAuth2Adapter]) -> HttpResponse:
    return _call(request, OAuth2CallbackView, make_adapter)


def _call(
    request: HttpRequest, view: Any, make_adapter: Callable[[], OAuth2Adapter]
) -> HttpResponse:
    """Call a view of django-allauth. A provider that is not configured is 404."""
    adapter = make_adapter()
    try:
        provider = adapter.get_provider()
    except SocialApp.DoesNotExist:
        raise Http404 from None
    try:
        return cast("HttpResponse", view.adapter_view(adapter)(request))
    except (OAuth2Error, RequestException, KeyError) as error:  # no discovery document
        return cast("HttpResponse", render_authentication_error(request, provider, exception=error))


def _reject(request: HttpRequest, reason: str, provider: str, email: str = "") -> NoReturn:
    context = {
        "reason": reason,
        "provider": provider,
        "email": email,
        "domains": ", ".join(settings.SIGNUP_DOMAINS),
    }
    page = render(request, "frontend/account/sign_on_rejected.html", context, status=409)
    raise ImmediateHttpResponse(page)


# django-allauth has no other hook than these signals, which it sends for each change.
@receiver(social_account_added)
def _record_added(request: HttpRequest, sociallogin: SocialLogin, **_: Any) -> None:
    account = sociallogin.account
    _record(request, cast("User", account.user), "account.connect", account)


@receiver(social_account_removed)
def _record_removed(request: HttpRequest, socialaccount: SocialAccount, **_: Any) -> None:
    _record(request, cast("User", request.user), "account.disconnect", socialaccount)


def _record(request: HttpRequest, user: User, action: str, account: SocialAccount) -> None:
    audit.record_own_action(request, user, action, provider=account.provider)

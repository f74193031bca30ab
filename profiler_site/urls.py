"""URLs of all pages; asgi.py dispatches those of the APIs and of health checks."""

from allauth.socialaccount.views import login_cancelled
from django.contrib import admin
from django.urls import include, path

from projects.accounts import single_sign_on
from projects.accounts.passwords import reset_password

urlpatterns = [
    path("admin/", admin.site.urls),
    path("account/password/reset/", reset_password, name="account_reset_password"),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("account/sso/github/login/", single_sign_on.github_login, name="github_login"),
    path(
        "account/sso/github/login/callback/", single_sign_on.github_callback, name="github_callback"
    ),
    path(
        "account/sso/<slug:provider_id>/login/",
        single_sign_on.openid_login,
        name="openid_connect_login",
    ),
    path(
        "account/sso/<slug:provider_id>/login/callback/",
        single_sign_on.openid_callback,
        name="openid_connect_callback",
    ),
    path("account/sso/cancelled/", login_cancelled, name="socialaccount_login_cancelled"),
    path("account/", include("allauth.account.urls")),
    path("", include("frontend.urls")),
]

handler500 = "frontend.http.busy_pages.respond_to_error"

"""URLs of all pages; asgi.py dispatches those of the APIs and of health checks."""

from django.contrib import admin
from django.urls import include, path

from projects.accounts.passwords import reset_password

urlpatterns = [
    path("admin/", admin.site.urls),
    path("account/password/reset/", reset_password, name="account_reset_password"),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("account/", include("allauth.account.urls")),
    path("", include("frontend.urls")),
]

handler500 = "frontend.http.busy_pages.respond_to_error"

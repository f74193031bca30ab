"""Settings of a second server: django-allauth's OpenID provider, without anything of Flamewatch.

The environment names its data folder, with `provider.sqlite3` and the private key `key.pem`.
"""

import os
from pathlib import Path

FOLDER = Path(os.environ["IDENTITY_PROVIDER_FOLDER"])
DEBUG = False
SECRET_KEY = "of a provider that lives as long as one test"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "tests.identity_provider.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "provider.sqlite3"}
}
USE_TZ = True
SESSION_COOKIE_NAME = "provider_login"  # cookies of a host are shared by its ports
CSRF_COOKIE_NAME = "provider_csrf"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.sites",
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
]
SITE_ID = 1
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # some people have an address that is not verified
IDP_OIDC_PRIVATE_KEY = (FOLDER / "key.pem").read_text()

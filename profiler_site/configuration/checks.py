"""Django system checks for settings that contradict each other."""

import os
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from profiler_site.configuration import env, secret_key
from profiler_site.configuration.initialization import read_initialization
from profiler_site.configuration.unknown_names import find_unknown_names
from profiles.storage.blobs import address

_SAFE_KEY_CHARACTERS = 32


@register()
def check_poll_timeout(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Warn of a poll timeout that most proxies cut, or after which agents return without pause."""
    seconds = settings.POLL_TIMEOUT_SECONDS
    if 1 <= seconds <= 300:
        return []
    setting = f"FLAMEWATCH_POLL_TIMEOUT_SECONDS is {seconds:g}"
    if seconds < 1:
        text = f"{setting}: agents without work keep the server busy with requests."
        return [Warning(text, hint="Use 25 to 50.", id="flamewatch.W004")]
    return [
        Warning(
            f"{setting}: most proxies time out earlier.",
            hint="Use 50 or less behind a proxy with a timeout of 60 s, 25 or less with 30 s.",
            id="flamewatch.W001",
        )
    ]


@register()
def check_memory_bound(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Require the limit of a profile after gunzip to be at least the limit before.

    Unpacked profiles are held in memory.
    """
    if settings.MAX_PROFILE_BYTES >= settings.MAX_UPLOAD_BYTES:
        return []
    return [
        Error(
            f"FLAMEWATCH_MAX_PROFILE_BYTES ({settings.MAX_PROFILE_BYTES}) is less than"
            f" FLAMEWATCH_MAX_UPLOAD_BYTES ({settings.MAX_UPLOAD_BYTES}).",
            hint="The former limits the uncompressed profile, the latter its upload.",
            id="flamewatch.E001",
        )
    ]


@register()
def check_grpc_tls(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Require the certificate and the key of the gRPC port together, as files that can be read."""
    files = {
        "FLAMEWATCH_GRPC_TLS_CERT": settings.GRPC_TLS_CERT,
        "FLAMEWATCH_GRPC_TLS_KEY": settings.GRPC_TLS_KEY,
    }
    if not any(files.values()):
        return []
    return [
        Error(
            f"{name} is {path!r}, which is not a file that the server can read.",
            hint="Set both to files in PEM, or none for plaintext behind a proxy.",
            id="flamewatch.E003",
        )
        for name, path in files.items()
        if not os.access(path, os.R_OK)
    ]


@register()
def check_blob_url(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    try:
        address.parse(settings.BLOB_URL)
    except address.BadAddress as error:
        return [Error(str(error), id="flamewatch.E002")]
    return []


@register()
def check_names(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Reject misspelt names of settings; warn of other names that nothing reads."""
    found: list[CheckMessage] = []
    for name, suggestion in find_unknown_names(os.environ, env.read_names):
        if suggestion:
            text = f"{name} is no setting. Did you mean {suggestion}?"
            found.append(Error(text, hint="Correct or remove it.", id="flamewatch.E004"))
        else:
            text = f"{name} is no setting of this version, and has no effect."
            found.append(Warning(text, hint="Remove it.", id="flamewatch.W002"))
    return found


@register()
def check_secret_key(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Warn of a short secret key; secret_key.py rejects a very short one."""
    given = os.environ.get(secret_key.NAME, "")
    if not given or len(given) >= _SAFE_KEY_CHARACTERS:
        return []
    return [
        Warning(
            f"{secret_key.NAME} has {len(given)} characters.",
            hint=f"Use {_SAFE_KEY_CHARACTERS} or more: openssl rand -hex 32. Changing it ends all"
            " sessions.",
            id="flamewatch.W003",
        )
    ]


@register()
def check_initialization(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Reject values for the first start that cannot be used."""
    try:
        read_initialization()
    except env.BadSetting as error:
        return [Error(str(error), id="flamewatch.E005")]
    return []


@register()
def check_single_sign_on(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Require all settings of a provider together, and TLS for one on another machine."""
    groups = {
        "FLAMEWATCH_OIDC_ISSUER": ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"),
        "FLAMEWATCH_GOOGLE_CLIENT_ID": ("GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"),
        "FLAMEWATCH_GITHUB_CLIENT_ID": ("GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"),
    }
    problems: list[CheckMessage] = [
        Error(
            f"FLAMEWATCH_{name} is missing for single sign-on.",
            hint=f"Set all settings that belong to {first}, or none.",
            id="flamewatch.E006",
        )
        for first, names in groups.items()
        if any(getattr(settings, name) for name in names)
        for name in names
        if not getattr(settings, name)
    ]
    issuer = urlsplit(settings.OIDC_ISSUER)
    is_local = issuer.hostname in {"localhost", "127.0.0.1", "::1"}
    if settings.OIDC_ISSUER and issuer.scheme != "https" and not is_local:
        problems.append(
            Error(
                "FLAMEWATCH_OIDC_ISSUER has to begin with https://.",
                hint="Copy the issuer as the provider's discovery document writes it.",
                id="flamewatch.E006",
            )
        )
    return problems


@register()
def check_signup_domains(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Require a way to verify addresses, if their domain opens the server to them."""
    if not settings.SIGNUP_DOMAINS or settings.SENDS_MAIL or settings.SOCIALACCOUNT_PROVIDERS:
        return []
    return [
        Error(
            "FLAMEWATCH_SIGNUP_DOMAINS is set, but the server cannot verify addresses.",
            hint="Set FLAMEWATCH_SMTP_URL, or a provider of single sign-on.",
            id="flamewatch.E007",
        )
    ]


@register()
def check_required_sign_on(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    """Require a provider, if a domain's accounts can sign in by it only."""
    if not settings.SSO_REQUIRED_DOMAINS or settings.SOCIALACCOUNT_PROVIDERS:
        return []
    return [
        Error(
            "FLAMEWATCH_SSO_REQUIRED_DOMAINS is set, but there is no provider of single sign-on.",
            hint="Set FLAMEWATCH_OIDC_ISSUER, or a client id of Google or GitHub.",
            id="flamewatch.E009",
        )
    ]


@register()
def check_passkeys(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Require an address at which browsers offer passkeys: HTTPS and a name, or localhost."""
    public = urlsplit(settings.FLAMEWATCH_URL)
    host = public.hostname or ""
    is_secure = public.scheme == "https" or host == "localhost"
    # Without a colon, and with a last part that is no number: not an address.
    is_name = ":" not in host and not host.rpartition(".")[2].isdigit()
    if not settings.PASSKEYS or (is_secure and is_name):
        return []
    return [
        Error(
            "FLAMEWATCH_PASSKEYS is set, but browsers use no passkeys at "
            f"{settings.FLAMEWATCH_URL}.",
            hint="Set FLAMEWATCH_URL to an https:// address with a host name, or unset it.",
            id="flamewatch.E008",
        )
    ]


CHECKS = (
    *(check_names, check_secret_key, check_poll_timeout, check_memory_bound),
    *(check_grpc_tls, check_blob_url, check_initialization, check_single_sign_on),
    check_signup_domains,
    check_passkeys,
)


def find_problems() -> list[CheckMessage]:
    """Return what is wrong with the settings, without Django's own checks of the code."""
    return [problem for check in CHECKS for problem in check(None)]

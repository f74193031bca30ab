"""Two factors of accounts, by django-allauth: encrypted secrets, changes in the audit log."""

import base64
import hashlib
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from cryptography.fernet import Fernet
from django.conf import settings
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext

from projects import audit
from projects.audit import Origin
from projects.models import User

_PURPOSE = b"flamewatch.two-factors"


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypt the secrets of authenticator apps, which a stolen database would reveal."""

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the host of FLAMEWATCH_URL: a request may name another one, such as localhost."""
        host = urlsplit(settings.FLAMEWATCH_URL).hostname or ""
        return {"id": host, "name": settings.SITE_NAME}

    def generate_authenticator_name(self, user: User, type: str) -> str:
        """Return the name of a passkey whose form has none."""
        return gettext("Passkey")

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()


def has_two_factors(user: User) -> bool:
    """Return whether signing in asks for more than the password."""
    types = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return bool(Authenticator.objects.filter(user=user, type__in=types).exists())


def reset(user: User, *, actor: User, origin: Origin) -> bool:
    """Remove all factors but the password, as an operator does for somebody who lost the device.

    Return False for an account without any.
    """
    with transaction.atomic():
        deleted, _by_model = Authenticator.objects.filter(user=user).delete()
        if deleted:
            audit.record_account(user, "account.factors_reset", actor=actor, origin=origin)
    return bool(deleted)


def _cipher() -> Fernet:
    """Return the cipher of SECRET_KEY; with another key, people use recovery by the operator."""
    digest = hashlib.blake2b(_PURPOSE, key=settings.SECRET_KEY.encode()[:64], digest_size=32)
    return Fernet(base64.urlsafe_b64encode(digest.digest()))


# django-allauth has no other hook than these signals, which it sends for each change.
@receiver(authenticator_added)
def _record_added(request: HttpRequest, authenticator: Authenticator, **_: Any) -> None:
    _record(request, authenticator, "account.factor_add")


@receiver(authenticator_removed)
def _record_removed(request: HttpRequest, authenticator: Authenticator, **_: Any) -> None:
    _record(request, authenticator, "account.factor_remove")


@receiver(authenticator_reset)
def _record_reset(request: HttpRequest, authenticator: Authenticator, **_: Any) -> None:
    _record(request, authenticator, "account.recovery_codes")


def _record(request: HttpRequest, authenticator: Authenticator, action: str) -> None:
    user = cast("User", authenticator.user)
    audit.record_own_action(request, user, action, factor=authenticator.type)

"""Forms of passkeys (WebAuthn), by django-allauth: bounded input, one error for malformed ones.

The parsers of credentials raise many kinds of exceptions for bytes that no browser sends; here they
are all a wrong code.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from cryptography.exceptions import UnsupportedAlgorithm
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MAX_NAME = 100  # characters
MAX_CREDENTIAL = 20_000  # characters of JSON; with an attestation some 8,000
MAX_PASSKEYS = 20  # of one account: each sign-in decodes all of them
_MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, AssertionError, struct.error),
    *(NotImplementedError, RecursionError, UnsupportedAlgorithm),
)


class CredentialField(forms.JSONField):
    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        """Return an object of JSON; raise ValidationError for other values and long texts."""
        if isinstance(value, str) and len(value) > MAX_CREDENTIAL:
            raise _incorrect()
        try:
            credential = super().to_python(value)
        except RecursionError as error:
            raise _incorrect() from error
        if credential is not None and not isinstance(credential, dict):
            raise _incorrect()
        return credential


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(label=_("Name"), max_length=MAX_NAME, required=False)
    credential = CredentialField()

    def clean(self) -> dict[str, Any]:
        owned = Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN)
        if owned.count() >= MAX_PASSKEYS:
            raise ValidationError(
                _("An account has at most %(limit)d passkeys. Remove one before."),
                params={"limit": MAX_PASSKEYS},
            )
        with _reject_malformed():
            return cast("dict[str, Any]", super().clean())


class PasskeyNameForm(EditWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(label=_("Name"), max_length=MAX_NAME)


class SecondFactorForm(AuthenticateWebAuthnForm):  # type: ignore[misc]
    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        with _reject_malformed():
            return super().clean_credential()


class PasskeySignInForm(LoginWebAuthnForm):  # type: ignore[misc]
    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        with _reject_malformed():
            return super().clean_credential()


class PasskeyConfirmationForm(ReauthenticateWebAuthnForm):  # type: ignore[misc]
    credential = CredentialField()

    def clean_credential(self) -> Authenticator:
        with _reject_malformed():
            return super().clean_credential()


@contextmanager
def _reject_malformed() -> Iterator[None]:
    """Raise ValidationError instead of what the parsers raise."""
    try:
        yield
    except _MALFORMED as error:
        raise _incorrect() from error


def _incorrect() -> ValidationError:
    return cast("ValidationError", get_adapter().validation_error("incorrect_code"))

"""Forms of the members page: invite people, and change a role."""

import re

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.invitations import MAX_ADDRESSES, may_invite
from projects.models import Role
from projects.permissions import ROLES

_MAX_CHARACTERS = MAX_ADDRESSES * 256
_SEPARATORS = re.compile(r"[\s,;]+")


class InvitationChannel(models.TextChoices):
    EMAIL = "email", _("E-mail")
    LINK = "link", _("Link")


class InviteForm(forms.Form):
    channel = forms.ChoiceField(
        label=_("Invite by"),
        choices=InvitationChannel,
        initial=InvitationChannel.EMAIL,
        widget=forms.RadioSelect,
    )
    emails = forms.CharField(
        label=_("E-mail addresses"),
        max_length=_MAX_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Separate with commas or line breaks."),
    )
    role = forms.ChoiceField(
        label=_("Role"),
        initial=Role.MEMBER,
        help_text=_("Viewers see and download; members also save, add notes and capture."),
    )

    def __init__(self, data: object = None, *, inviter: str = Role.ADMIN) -> None:
        """Offer the roles that `inviter`, a role, may invite to."""
        super().__init__(data)  # type: ignore[arg-type]
        roles = [role for role in ROLES if may_invite(inviter, role)]
        self.fields["role"].choices = [(role, role.label) for role in roles]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, object]:
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        if cleaned.get("channel") == InvitationChannel.LINK:
            cleaned["emails"] = []
        elif isinstance(cleaned.get("emails"), str):
            try:
                cleaned["emails"] = _parse(str(cleaned["emails"]))
            except ValidationError as error:
                self.add_error("emails", error)
        return cleaned


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role)


def _parse(text: str) -> list[str]:
    """Return the addresses in a text, in lower case and each once. Raise ValidationError."""
    emails = list(dict.fromkeys(part.lower() for part in _SEPARATORS.split(text) if part))
    if not emails:
        raise ValidationError(_("Enter at least one e-mail address."))
    if len(emails) > MAX_ADDRESSES:
        raise ValidationError(
            _("%(count)d addresses; the limit is %(allowed)d at a time."),
            params={"count": len(emails), "allowed": MAX_ADDRESSES},
        )
    for email in emails:
        try:
            validate_email(email)
        except ValidationError:
            raise ValidationError(
                _("“%(email)s” is not an e-mail address."), params={"email": email[:100]}
            ) from None
    return emails

"""Form of a new personal access token: name, scopes and expiry."""

from django import forms
from django.utils.translation import gettext_lazy, ngettext

from projects.credentials import access_tokens
from projects.models import TokenScope

_DAYS = (30, 7, 90, 365)  # the first is the default
if max(_DAYS) > access_tokens.MAX_DAYS:
    raise ValueError("A choice of days is above access_tokens.MAX_DAYS.")


class TokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("For example laptop or CI of checkout."),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        choices=TokenScope,
        initial=[TokenScope.READ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires"),
        choices=lambda: [(n, ngettext("in %d day", "in %d days", n) % n) for n in sorted(_DAYS)],
        initial=_DAYS[0],
        coerce=int,
    )

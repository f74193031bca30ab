"""Form of a request for a higher limit."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.amounts import parse_amount
from projects.models.project import MAX_REASON
from projects.usage.limits import LimitName
from projects.usage.usage import LABELS, LimitUsage


class QuotaRequestForm(forms.Form):
    limit = forms.ChoiceField(label=gettext_lazy("Quota"))
    amount = forms.CharField(
        label=gettext_lazy("New limit"),
        max_length=30,
        help_text=gettext_lazy("A number, or a size like 40 GB"),
    )
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MAX_REASON)

    def __init__(self, limits: tuple[LimitUsage, ...], data: Any = None, limit: str = "") -> None:
        super().__init__(data, initial={"limit": limit})
        field = self.fields["limit"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [
                (each.name.value, f"{LABELS[each.name]}, {each.allowed_text}") for each in limits
            ]

    def clean_limit(self) -> LimitName:
        return LimitName(self.cleaned_data["limit"])

    def clean_amount(self) -> int:
        amount = parse_amount(self.cleaned_data["amount"])
        if amount is None:
            raise forms.ValidationError(_("Enter a number, or a size like 40 GB."))
        return amount

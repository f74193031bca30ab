"""Forms of a rule, with the fields of its kind, and of a silence."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from alerts.conditions import stopped_reporting
from alerts.conditions.points import Measure
from alerts.conditions.quota import QUOTAS
from alerts.conditions.registry import PARAMETERS, ConditionKind
from alerts.models import MAX_FUNCTION, MAX_NAME, MAX_REASON, AlertRule
from alerts.rules import SERIES_KINDS, InvalidRule, RuleFields
from alerts.texts import MEASURES, format_minutes
from frontend.pages.alerts.amounts import format_threshold, parse_threshold
from frontend.text.display_names import type_name
from projects.profile_types import ProfileType
from projects.usage.limits import LimitName
from projects.usage.usage import LABELS

_MINUTES = (1, 5, 10, 15, 30, 60, 120, 360, 720, 1440)
_LONG_MINUTES = (2880, 10080)  # of a service that stopped reporting
_ANY_SERVICE = frozenset({ConditionKind.STOPPED_REPORTING, ConditionKind.FINDING})


class RuleForm(forms.Form):
    """Fields of one kind of rule; those of other kinds are absent."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME)
    service = forms.ChoiceField(label=gettext_lazy("Service"), required=False)
    type = forms.ChoiceField(label=gettext_lazy("Profile type"), required=False)
    function = forms.CharField(
        label=gettext_lazy("Function"),
        max_length=MAX_FUNCTION,
        required=False,
        help_text=gettext_lazy(
            "Its full name, as flame graphs show it, or /regex/ for all that match together."
            " Empty: the whole service."
        ),
    )
    measure = forms.ChoiceField(
        label=gettext_lazy("Value"),
        choices=[(each.value, label) for each, label in MEASURES.items()],
    )
    is_above = forms.ChoiceField(
        label=gettext_lazy("Comparison"),
        choices=[
            ("above", gettext_lazy("is above")),
            ("below", gettext_lazy("is below")),
        ],
    )
    threshold = forms.CharField(
        label=gettext_lazy("Limit"),
        max_length=30,
        help_text=gettext_lazy("With its unit: 13.5%, 2 (cores), 400 ms, 12 GiB"),
    )
    percent = forms.FloatField(label=gettext_lazy("Percent"), min_value=1, max_value=10_000)
    quota = forms.ChoiceField(label=gettext_lazy("Quota"), required=False)
    minutes = forms.TypedChoiceField(label=gettext_lazy("For"), coerce=int)
    sends_mail = forms.BooleanField(
        label=gettext_lazy("E-mails to the members who want alerts"), required=False, initial=True
    )
    tells_subscribed_webhooks = forms.BooleanField(
        label=gettext_lazy("Webhooks that want alerts"), required=False, initial=True
    )
    webhooks = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label=gettext_lazy("Webhooks")
    )

    def __init__(
        self,
        kind: ConditionKind,
        services: Sequence[str],
        webhooks: Sequence[tuple[str, str]],
        data: Any = None,
        initial: Mapping[str, object] | None = None,
    ) -> None:
        """Build the form; `webhooks` are the ids and names of those of the project."""
        super().__init__(data, initial=dict(initial or {}))
        self.kind = kind
        chosen = str((initial or {}).get("service", ""))
        names = sorted({*services, chosen} - {""})
        is_series = kind in SERIES_KINDS
        used = {"name", *PARAMETERS[kind], "sends_mail", "tells_subscribed_webhooks", "webhooks"}
        used |= {"service", "type", "function"} if is_series else set()
        used |= {"service"} if kind in _ANY_SERVICE else set()
        for name in set(self.fields) - used:
            del self.fields[name]
        every = [("", _("any service"))] if kind in _ANY_SERVICE else []
        self._choose("service", [*every, *((name, name) for name in names)])
        self._choose("type", [(each.value, type_name(each)) for each in ProfileType])
        quotas = [(name, LABELS[LimitName(name)]) for name in QUOTAS]
        self._choose("quota", [("", _("any quota")), *quotas])
        minutes: Sequence[int] = _MINUTES
        if kind is ConditionKind.STOPPED_REPORTING:
            fewest = stopped_reporting.MIN_MINUTES
            minutes = [each for each in (*_MINUTES, *_LONG_MINUTES) if each >= fewest]
        stored = (initial or {}).get("minutes")
        if isinstance(stored, int) and stored not in minutes:  # set by the API
            minutes = sorted([*minutes, stored])
        self._choose("minutes", [(each, format_minutes(each)) for each in minutes])

        self._choose("webhooks", webhooks)

    def _choose(self, name: str, choices: Sequence[tuple[object, object]]) -> None:
        field = self.fields.get(name)
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "threshold" in cleaned and "measure" in cleaned:
            threshold = parse_threshold(
                cleaned["threshold"],
                Measure(cleaned["measure"]),
                str(cleaned.get("type") or ProfileType.CPU),
            )
            if threshold is None:
                self.add_error("threshold", _("Enter a number with a unit of this value."))
            cleaned["threshold"] = threshold
        if not self.errors:
            try:
                self.read_fields(cleaned).require_valid()
            except InvalidRule as error:
                self.add_error(error.field if error.field in self.fields else None, str(error))
        return cleaned

    def read_fields(self, cleaned: Mapping[str, Any]) -> RuleFields:
        """Return the fields of the rule; `cleaned` are values of a form without errors."""
        parameters = {name: cleaned[name] for name in PARAMETERS[self.kind]}
        if "is_above" in parameters:
            parameters["is_above"] = cleaned["is_above"] == "above"
        return RuleFields(
            name=cleaned["name"],
            kind=self.kind,
            parameters=parameters,
            service=cleaned.get("service", ""),
            type=cleaned.get("type", ""),
            function=cleaned.get("function", "").strip(),
            sends_mail=cleaned["sends_mail"],
            tells_subscribed_webhooks=cleaned["tells_subscribed_webhooks"],
            named_webhooks=tuple(cleaned["webhooks"]),
        )


def list_form_values(rule: AlertRule) -> dict[str, object]:
    """Return the initial values of the form of a stored rule."""
    values: dict[str, object] = {
        "name": rule.name,
        "service": rule.service,
        "type": rule.type,
        "function": rule.function,
        "sends_mail": rule.sends_mail,
        "tells_subscribed_webhooks": rule.tells_subscribed_webhooks,
        "webhooks": rule.named_webhooks,
        **rule.parameters,
    }
    if "is_above" in values:
        values["is_above"] = "above" if values["is_above"] else "below"
    if "threshold" in values:
        measure = Measure(str(values["measure"]))
        values["threshold"] = format_threshold(rule.parameters["threshold"], measure, rule.type)
    return values


class SilenceForm(forms.Form):
    rule = forms.CharField(max_length=12, required=False)
    minutes = forms.TypedChoiceField(label=gettext_lazy("For"), coerce=int)
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MAX_REASON, required=False)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        field = self.fields["minutes"]
        if isinstance(field, forms.ChoiceField):
            field.choices = list_silence_choices()

    @property
    def duration(self) -> timedelta:
        return timedelta(minutes=self.cleaned_data["minutes"])


def list_silence_choices() -> list[tuple[int, str]]:
    """Return the durations that a silence can have, in minutes and in words."""
    return [(each, format_minutes(each)) for each in (60, 240, 1440, 10080, 43200)]

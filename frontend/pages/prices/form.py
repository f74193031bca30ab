"""Form of a project's prices: currency, prices of an hour, prices of zones, emissions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy

from frontend.text.money import SYMBOLS
from projects.prices import MAX_PRICE, PriceList

_CURRENCIES = (
    *("EUR", "USD", "GBP", "AUD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "HKD"),
    *("HUF", "IDR", "ILS", "INR", "JPY", "KRW", "MXN", "NOK", "NZD", "PLN", "RON", "SEK", "SGD"),
    *("THB", "TRY", "TWD", "UAH", "VND", "ZAR"),
)
_ZONE = "zone:"  # before the name of a zone, in the name of its field


def _price(label: Any, help_text: Any = "", *, required: bool = False) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"})
    return forms.FloatField(
        label=label,
        help_text=help_text,
        required=required,
        min_value=0,
        max_value=MAX_PRICE,
        widget=widget,
    )


class PricesForm(forms.Form):
    currency = forms.ChoiceField(label=gettext_lazy("Currency"))
    core_hour = _price(
        gettext_lazy("Price of a core-hour"), gettext_lazy("Empty: no cost is shown.")
    )
    gib_hour = _price(
        gettext_lazy("Price of a GiB-hour of memory"),
        gettext_lazy("Used for findings in heap profiles."),
    )
    watts_per_core = _price(
        gettext_lazy("Watts per core"), gettext_lazy("About 7 on x86, 2.8 on Arm."), required=True
    )
    power_usage_effectiveness = _price(
        gettext_lazy("Power usage effectiveness (PUE)"),
        gettext_lazy("Power of the data centre by that of its computers."),
        required=True,
    )
    kg_co2_per_kwh = _price(
        gettext_lazy("kg of CO₂ per kWh"),
        gettext_lazy("Of the electricity; 0.379 is an average."),
        required=True,
    )

    def __init__(
        self, prices: PriceList, zones: Sequence[str], data: Mapping[str, object] | None = None
    ) -> None:
        initial = asdict(prices)
        initial |= {f"{_ZONE}{zone}": price for zone, price in prices.zones.items()}
        super().__init__(data, initial=initial)
        self._zones = zones
        for zone in zones:
            self.fields[f"{_ZONE}{zone}"] = _price(zone)
        currency = self.fields["currency"]
        if isinstance(currency, forms.ChoiceField):
            codes = sorted({*_CURRENCIES, prices.currency})
            currency.choices = [(code, _describe_currency(code)) for code in codes]

    @property
    def zone_fields(self) -> list[BoundField]:
        return [self[f"{_ZONE}{zone}"] for zone in self._zones]

    @property
    def values(self) -> dict[str, object]:
        """Return the values of a valid form by the fields of PriceList."""
        names = [name for name in self.fields if not name.startswith(_ZONE)]
        given = {zone: self.cleaned_data[f"{_ZONE}{zone}"] for zone in self._zones}
        zones = {zone: price for zone, price in given.items() if price is not None}
        return {name: self.cleaned_data[name] for name in names} | {"zones": zones}


def _describe_currency(code: str) -> str:
    return f"{code} ({SYMBOLS[code]})" if code in SYMBOLS else code

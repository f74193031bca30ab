"""Amounts of money, with the symbol of their currency and three significant digits."""

from django.utils.translation import get_language

from frontend.text.units import format_value
from projects.prices import PriceList

SYMBOLS = {
    "EUR": "€",
    "USD": "$",
    "GBP": "£",
    "JPY": "¥",
    "CNY": "CN¥",
    "INR": "₹",
    "KRW": "₩",
    "BRL": "R$",
    "AUD": "A$",
    "CAD": "CA$",
    "MXN": "MX$",
}
_SYMBOL_LAST = frozenset({"es"})  # languages that write 12 €


def format_money(amount: float, currency: str) -> str:
    """Format an amount: `€166`, `CHF 1.2`; `12 €` in Spanish. Zero is `0`."""
    if amount == 0:
        return "0"
    if amount < 0:
        return f"-{format_money(-amount, currency)}"
    symbol, number = SYMBOLS.get(currency, currency), format_value(amount, "")
    if (get_language() or "").partition("-")[0] in _SYMBOL_LAST:
        return f"{number} {symbol}"
    return f"{symbol} {number}" if symbol.isalpha() else f"{symbol}{number}"


def format_money_delta(amount: float, currency: str) -> str:
    """Format a difference: `+€166`, `-€4.2`, `0`."""
    text = format_money(amount, currency)
    return f"+{text}" if amount > 0 else text


def describe_core_hour(prices: PriceList) -> str:
    """Return the price of a core-hour; "" if it is not set."""
    return "" if prices.core_hour is None else format_money(prices.core_hour, prices.currency)

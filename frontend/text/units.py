"""Value formatting: three significant digits and a unit chosen by magnitude.

Python counterpart of static/units.js; tests/frontend/text/units.json has the cases that both
must pass. Thousands and decimals are separated as the language of the interface does.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

# Units of each kind with their size in the base unit, in ascending order.
_SCALES: dict[str, tuple[tuple[str, float], ...]] = {
    "nanoseconds": (("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9)),
    "cores": (("millicores", 1e-3), ("cores", 1)),
    "bytes": (
        ("B", 1),
        ("KiB", 2**10),
        ("MiB", 2**20),
        ("GiB", 2**30),
        ("TiB", 2**40),
        ("PiB", 2**50),
    ),
}
# Units that are words: singular and plural. Others are symbols, or names of an agent's own.
_WORDS = {
    "cores": (gettext_noop("core"), gettext_noop("cores")),
    "millicores": (gettext_noop("millicore"), gettext_noop("millicores")),
    "threads": (gettext_noop("thread"), gettext_noop("threads")),
    "waits": (gettext_noop("wait"), gettext_noop("waits")),
}
_SMALLEST = "0.01"
PER_SECOND = "/s"  # end of the unit of a rate


class Separators(NamedTuple):
    thousands: str
    decimals: str


_ENGLISH = Separators(",", ".")
_SEPARATORS = {"es": Separators(".", ",")}  # of languages that differ from English


def separators() -> Separators:
    """Return the separators of the active language."""
    return _SEPARATORS.get((get_language() or "").partition("-")[0], _ENGLISH)


def unit_words() -> dict[str, str]:
    """Return the units that are words, singular and plural, in the interface's language."""
    return {word: _(word) for words in _WORDS.values() for word in words}


def format_value(value: float, unit: str) -> str:
    """Format a value with its unit: `2.37 s`, `1.2 GiB`, `1,438`, `1 core`; zero is `0`.

    `unit` is nanoseconds, bytes, cores, count or any other name; `/s` after it is kept.
    """
    if value == 0:
        return "0"
    if value < 0:
        return f"-{format_value(-value, unit)}"
    plain = unit.removesuffix(PER_SECOND)
    return _format_positive(value, plain) + unit[len(plain) :]


def _format_positive(value: float, unit: str) -> str:
    """Format a value above 0."""
    scale = _SCALES.get(unit)
    if scale is None:
        return _with_name(value, unit)
    if value < float(_SMALLEST) * min(1, scale[0][1]):
        return _add_unit(f"<{_localise(_SMALLEST)}", scale[0][0])
    name, size = next((each for each in scale if _fits(value / each[1])), scale[-1])
    return _add_unit(_digits(value / size), name)


def format_percent(part: float, whole: float) -> str:
    """Format a share with at most one decimal: `17.8%`, `69%`, `<0.1%`.

    A zero part or a zero whole gives `0`.
    """
    if part == 0 or whole == 0:
        return "0"
    if part < 0:
        return f"-{format_percent(-part, whole)}"
    percent = part / whole * 100
    return f"{_localise('<0.1' if percent < 0.05 else _trim_zeros(_round_decimals(percent, 1)))}%"


def format_count(value: float) -> str:
    """Format a whole number with separators between thousands."""
    return _localise(f"{int(_round_decimals(value, 0)):,}")


def _with_name(value: float, unit: str) -> str:
    number = f"<{_localise(_SMALLEST)}" if value < float(_SMALLEST) else _digits(value)
    return number if unit in ("count", "") else _add_unit(number, unit)


def _add_unit(number: str, unit: str) -> str:
    """Append the unit, a word in the interface's language and in the singular after `1`."""
    words = _WORDS.get(unit)
    return f"{number} {_(words[number != '1']) if words else unit}"


def _fits(value: float) -> bool:
    """Return whether the value, rounded to three significant digits, is below 1,000."""
    return value < 1000 and _find_exponent(value) < 3


def _digits(value: float) -> str:
    """Format three significant digits, or all integer digits if there are more."""
    exponent = _find_exponent(value)
    if exponent >= 3:
        return format_count(value)
    return _localise(_trim_zeros(_round_decimals(value, max(0, 2 - exponent))))


def _find_exponent(value: float) -> int:
    """Return the power of ten of the first digit, after rounding to three significant digits."""
    exact = Decimal(value)
    digit = exact.adjusted()
    return exact.quantize(Decimal(1).scaleb(digit - 2), ROUND_HALF_UP).adjusted()


def _round_decimals(value: float, decimals: int) -> str:
    """Format with a fixed number of decimals, rounding halves up as browsers do.

    Python's own formatting rounds halves to even.
    """
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"


def _localise(number: str) -> str:
    """Replace the separators of English."""
    replacements: dict[str, str | int | None] = dict(zip(_ENGLISH, separators(), strict=True))
    return number.translate(str.maketrans(replacements))


def _trim_zeros(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def format_delta(value: float, unit: str) -> str:
    """Format a difference with its unit: `+36.1 ms`, `-2.24 s`, `0`."""
    return f"+{format_value(value, unit)}" if value > 0 else format_value(value, unit)


def format_delta_points(share: float) -> str:
    """Format a difference of shares in percentage points: 0.219 is `+21.9 pp`."""
    percent = format_delta_percent(share)
    if not share:
        return percent
    return _("%(number)s pp") % {"number": percent.removesuffix("%")}


def format_delta_percent(share: float) -> str:
    """Format a relative change: 0.219 is `+21.9%`."""
    return f"+{format_percent(share, 1)}" if share > 0 else format_percent(share, 1)

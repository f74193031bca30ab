"""Format numbers of bytes and waiting times for display."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

_UNITS = [("GiB", 2**30), ("GB", 10**9), ("MiB", 2**20), ("MB", 10**6), ("kB", 10**3)]
_SIZES = {unit.lower(): size for unit, size in [*_UNITS, ("TB", 10**12)]}
_AMOUNT = re.compile(
    r"([0-9]{1,18}(?:\.[0-9]{1,3})?) ?(tb|gib|gb|mib|mb|kb)?", re.IGNORECASE | re.ASCII
)


def bytes_text(amount: int) -> str:
    """Format a number of bytes.

    Use the largest unit that divides the number ("16 MiB", "20 GB"), else a decimal unit, rounded
    to one decimal place.
    """
    for unit, size in _UNITS:
        if amount >= size and amount % size == 0:
            return f"{amount // size:,} {unit}"
    for unit, size in _UNITS:
        if amount >= size and "i" not in unit:
            return f"{amount / size:,.1f} {unit}"
    return ngettext("%(n)d byte", "%(n)d bytes", amount) % {"n": amount}


def wait_text(seconds: float) -> str:
    """Format a waiting time, rounded up: "40 s", "12 min", "3 h 20 min".

    A time that is rounded down would make the reader retry too early.
    """
    whole = int(-(-seconds // 1))
    if whole < 120:
        return _("%(n)d s") % {"n": whole}
    minutes = -(-whole // 60)
    if minutes < 120:
        return _("%(n)d min") % {"n": minutes}
    return _("%(h)d h %(m)d min") % {"h": minutes // 60, "m": minutes % 60}


def parse_amount(text: str) -> int | None:
    """Return the number in "40 GB", "16 MiB" or "60,000"; None if it is none.

    Numbers of bytes may have a unit and a fraction, which is cut off.
    """
    match = _AMOUNT.fullmatch(text.replace(",", "").strip())
    if match is None:
        return None
    number, unit = match.groups()
    if not unit:
        return int(number) if "." not in number else None
    return int(float(number) * _SIZES[unit.lower()])

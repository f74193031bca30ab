"""Thresholds as people enter them: `13.5%`, `2`, `400 ms`, `12 GiB`."""

import re

from alerts.conditions.points import Measure
from alerts.texts import get_unit

_AMOUNT = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,6})?) ?([A-Za-zµ%]{0,4})")
_SIZES: dict[str, dict[str, float]] = {
    "%": {"%": 1},
    "cores": {"": 1},
    "count": {"": 1},
    # Without a unit: seconds, and bytes.
    "nanoseconds": {"": 1e9, "min": 6e10, "s": 1e9, "ms": 1e6, "µs": 1e3, "us": 1e3, "ns": 1},
    "bytes": {
        **{"": 1, "TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1},
        **{"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3},
    },
}
_SHOWN = ("TiB", "GiB", "MiB", "KiB", "B", "s", "ms", "µs", "ns")


def parse_threshold(text: str, measure: Measure, type_: str) -> float | None:
    """Return the number in the unit of the measure; None if the text is none."""
    match = _AMOUNT.fullmatch(text.strip().replace("μ", "µ"))
    if match is None:
        return None
    number, unit = match.groups()
    sizes = {name.lower(): size for name, size in _SIZES[get_unit(measure, type_)].items()}
    size = sizes.get(unit.lower()) if unit else sizes.get("", 1)
    return None if size is None else float(number.replace(",", ".")) * size


def format_threshold(value: float, measure: Measure, type_: str) -> str:
    """Return a text that parses as this number, to six digits."""
    unit = get_unit(measure, type_)
    if unit == "%":
        return f"{value:.6g}%"
    sizes = _SIZES.get(unit, {})
    for name in _SHOWN:
        if name in sizes and value >= sizes[name]:
            return f"{_plain(value / sizes[name])} {name}"
    return _plain(value)


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")

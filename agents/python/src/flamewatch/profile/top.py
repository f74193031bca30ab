"""Table of the most expensive functions of a profile, as lines for a terminal. Pure."""

from collections import Counter
from collections.abc import Iterable

from flamewatch.profile.pprof import Profile, Sample

SHOWN = 15

_SCALES = {
    "nanoseconds": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
}


def table(profile: Profile, shown: int = SHOWN) -> list[str]:
    """Return a header and the `shown` functions with the largest self value.

    The values are those of the default metric.
    """
    selves, totals = _sum_by_function(profile.samples)
    metric = profile.metrics[-1]
    whole = sum(selves.values())
    if not whole:
        return ["No samples."]
    lines = [f"{'self':>10} {'':>6} {'total':>10} {'':>6}  function"]
    for name, own in selves.most_common(shown):
        lines.append(
            f"{_value(own, metric.unit):>10} {own / whole:>6.1%}"
            f" {_value(totals[name], metric.unit):>10} {totals[name] / whole:>6.1%}  {name}"
        )
    return lines


def _sum_by_function(samples: Iterable[Sample]) -> tuple[Counter[str], Counter[str]]:
    """Sum self and total values by function; a recursive function counts once in its total."""
    selves: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for sample in samples:
        value = sample.values[-1]
        names = [frame.function for frame in sample.frames]
        if names:
            selves[names[0]] += value
        for name in set(names):
            totals[name] += value
    return selves, totals


def _value(value: int, unit: str) -> str:
    for size, name in _SCALES.get(unit, ()):
        if value >= size:
            scaled = value / size
            digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
            return f"{scaled:.{digits}f} {name}"
    return str(value)

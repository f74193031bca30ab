"""Documents of the API's resource `compare`, tested by the server's own statistics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.stats.significance import Differences, SampleVariance, differences

Floats = NDArray[np.float64]


def build_document(base: Floats, head: Floats) -> dict[str, Any]:
    """Compare self values [profiles, F] of leaf functions, the names of which are f0, f1, …"""
    own = _test(head, base)
    whole = _test(head.sum(axis=1, keepdims=True), base.sum(axis=1, keepdims=True))
    count = base.shape[1]
    columns = {
        "name": [f"f{number}" for number in range(count)],
        "file": ["shop.py"] * count,
        **{f"a_{value}": head.sum(axis=0).tolist() for value in ("self", "total")},
        **{f"b_{value}": base.sum(axis=0).tolist() for value in ("self", "total")},
    }
    for prefix in ("", "self_"):
        for name, column in zip(Differences._fields, own, strict=True):
            columns[prefix + name] = _to_list(column)
    low, high, p = (_to_list(column)[0] for column in whole)
    enough = min(len(base), len(head)) >= 8
    return {
        "project": "acme-shop",
        "service": "shop",
        "type": "CPU",
        "metric": {"name": "cpu", "unit": "nanoseconds"},
        "profiles": len(head),
        "missing": [],
        "b": {"profiles": len(base), "missing": []},
        "why_no_intervals": "" if enough else "No intervals: too few profiles.",
        "whole": {
            "a_total": head.sum(),
            "b_total": base.sum(),
            "low": low,
            "high": high,
            "p": p,
        },
        "functions": columns,
    }


def _test(head: Floats, base: Floats) -> Differences:
    return differences(_sum(head), _sum(base))


def _sum(values: Floats) -> SampleVariance:
    return SampleVariance(
        len(values),
        values.sum(axis=0),
        (values**2).sum(axis=0),
        np.count_nonzero(values, axis=0),
    )


def _to_list(column: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in column.tolist()]

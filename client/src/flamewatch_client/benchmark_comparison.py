"""Comparison of two sets of profile files, in the form of the API's resource `compare`.

The test is the server's: docs/decisions/0008-significance.md. There are no more profiles than
files, so that sums over them need no library.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from pathlib import Path
from typing import Any

from flamewatch_client.check_verdict import MIN_PROFILES
from flamewatch_client.errors import RequestFailed
from flamewatch_client.pprof_file import FileCosts, FunctionName, read_costs
from flamewatch_client.student_t import compute_half_width, compute_two_sided_p

_POOLED_FREEDOM = 8  # degrees of freedom of the pooled variance in each side's variance
_MAX_P_OF_PERMUTATIONS = 1e-3  # no test if even the most extreme permutation has a larger p
_ROUNDING = 1e-12  # of the squares: a smaller variance is a rounding error


@dataclass(frozen=True, slots=True)
class _Tested:
    low: float | None  # 95 % interval of the difference of means; None: not tested
    high: float | None
    p: float | None


def compare_files(base: Path, head: Path, metric: str, *, as_share: bool) -> dict[str, Any]:
    """Compare the files of two folders; the head is the selected side.

    With `as_share` each file is scaled to the mean total, so that costs are compared by their
    shares. Raise RequestFailed.
    """
    sides = [list(_read_side(path, metric)) for path in (head, base)]
    values = {(costs.metric, costs.unit) for side in sides for costs in side}
    if len(values) > 1:
        listed = ", ".join(sorted(f"{name} in {unit}" for name, unit in values))
        raise RequestFailed(f"The files have different values: {listed}. Choose one by --metric.")
    if as_share:
        _scale(sides)
    [(name, unit)] = values
    functions = sorted({each for side in sides for costs in side for each in costs.total_costs})
    columns: dict[str, list[Any]] = {
        "name": [function for function, _ in functions],
        "file": [file for _, file in functions],
    }
    for kind, prefix in (("self", "self_"), ("total", "")):
        _add_columns(columns, sides, functions, kind, prefix)
    totals = [[costs.total for costs in side] for side in sides]
    whole = _test(*totals)
    return {
        "metric": {"name": name, "unit": unit},
        "profiles": len(totals[0]),
        "b": {"profiles": len(totals[1])},
        "why_no_intervals": "",
        "whole": {
            **{"a_total": sum(totals[0]), "b_total": sum(totals[1])},
            **{"low": whole.low, "high": whole.high, "p": whole.p},
        },
        "functions": columns,
    }


def _read_side(path: Path, metric: str) -> Iterator[FileCosts]:
    if not path.is_dir():
        raise RequestFailed(f"{path} is no folder. Name a folder with a file of each run.")
    files = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] != ".")
    if not files:
        raise RequestFailed(f"{path} has no files.")
    for file in files:
        yield read_costs(file, metric)


def _scale(sides: Sequence[Sequence[FileCosts]]) -> None:
    every = [costs for side in sides for costs in side if costs.total]
    mean = sum(costs.total for costs in every) / max(len(every), 1)
    for costs in every:
        factor = mean / costs.total
        costs.total = mean
        for table in (costs.self_costs, costs.total_costs):
            for name in table:
                table[name] *= factor


def _add_columns(
    columns: dict[str, list[Any]],
    sides: Sequence[Sequence[FileCosts]],
    functions: Sequence[FunctionName],
    kind: str,
    prefix: str,
) -> None:
    tables = [[getattr(costs, f"{kind}_costs") for costs in side] for side in sides]
    names = (f"a_{kind}", f"b_{kind}", f"{prefix}low", f"{prefix}high", f"{prefix}p")
    for name in names:
        columns[name] = []
    for function in functions:
        head, base = ([table.get(function, 0.0) for table in side] for side in tables)
        tested = _test(head, base)
        row = (sum(head), sum(base), tested.low, tested.high, tested.p)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)


def _test(head: Sequence[float], base: Sequence[float]) -> _Tested:
    """Test the difference of means, head - base."""
    present = [sum(value != 0 for value in side) for side in (head, base)]
    sizes = len(head), len(base)
    shuffled = [_compute_extreme_p(size, sum(sizes), sum(present)) for size in sizes]
    is_tested = min(sizes) >= MIN_PROFILES and sum(present) >= MIN_PROFILES
    if not is_tested or min(shuffled) > _MAX_P_OF_PERMUTATIONS:
        return _Tested(None, None, None)
    rests = [_sum_deviations(side) for side in (head, base)]
    pooled = sum(rests) / (sum(sizes) - 2)
    errors, freedoms = [], []
    for rest, size, count in zip(rests, sizes, present, strict=True):
        free = max(count - 1, 0)
        variance = (free * rest / (size - 1) + _POOLED_FREEDOM * pooled) / (free + _POOLED_FREEDOM)
        errors.append(variance / size)
        freedoms.append(max(free, MIN_PROFILES - 1))
    difference = sum(head) / sizes[0] - sum(base) / sizes[1]
    squares = zip(errors, freedoms, strict=True)
    df = sum(errors) ** 2 / sum(error**2 / free for error, free in squares)
    width = compute_half_width(df) * sqrt(sum(errors))
    p = compute_two_sided_p(difference / sqrt(sum(errors)), df)
    least_p = shuffled[0] if difference > 0 else shuffled[1]
    return _Tested(difference - width, difference + width, max(p, least_p))


def _sum_deviations(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    rest = sum((value - mean) ** 2 for value in values)
    return max(rest, _ROUNDING * sum(value * value for value in values))


def _compute_extreme_p(size: int, profiles: int, present: int) -> float:
    """Return twice the probability that a permutation puts all values on a side of this size."""
    return min(2 * comb(size, present) / comb(profiles, present), 1.0)

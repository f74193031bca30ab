"""Table of ingest figures beside their limits, targets and peers' figures."""

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.ingest.cost.measure import Load, Measured
from benchmarks.tools.shapes import SHAPES
from benchmarks.tools.table import machine


class Goal(NamedTuple):
    at_most: float
    aim: float
    pyroscope: str = ""  # v2, with all its components in one process
    parca: str = ""


_CPU_MS = {
    "A": Goal(2.5, 1.3, "4.1-4.8", "15-18"),
    "D": Goal(1.8, 0.8, "1.6-1.8", "2.2"),
    "H": Goal(4.5, 2.5, "9.7", "52"),
    "C": Goal(15, 8, "56", "257"),
}
_P50_MS = Goal(30, 10, "500", "112")
_P99_MS = Goal(150, 60, "582", "442")
_PEAK_MB = Goal(400, 250, "457-2,673", "8,170")


class Row(NamedTuple):
    what: str
    values: list[float]  # one per database
    goal: Goal | None = None

    @property
    def is_met(self) -> bool:
        return self.goal is None or max(self.values) <= self.goal.at_most


def show(measured: Mapping[str, Measured]) -> bool:
    """Print the rows; return False if a limit was exceeded on either database."""
    rows = [row for shape in SHAPES for row in _rows(shape, list(measured.values()))]
    print(f"\nIngest, the whole server and its database ({machine()})")
    _print("", list(measured), ["at most", "aim", "Pyroscope", "Parca"])
    for row in rows:
        values = [f"{value:,.{0 if value >= 100 else 2}f}" for value in row.values]
        goal = [f"{x:g}" if isinstance(x, float | int) else x for x in row.goal or ()]
        _print(row.what, values, [*goal, *([] if row.is_met else ["MISSED"])])
    return all(row.is_met for row in rows)


def _rows(shape: str, measured: list[Measured]) -> list[Row]:
    full, half = [m.full[shape] for m in measured], [m.half[shape] for m in measured]
    return [
        Row(f"{shape}: CPU, ms a profile", [_cpu_ms(load) for load in full], _CPU_MS[shape]),
        Row("   of that the database", [load.cpu_ms(load.database_cpu) for load in full]),
        Row("   profiles a second, all that it takes", [load.rate for load in full]),
        Row("   at half of that: CPU, ms a profile", [_cpu_ms(load) for load in half]),
        Row("   acknowledged, p50 ms", [load.percentile(50) for load in half], _P50_MS),
        Row("   acknowledged, p99 ms", [load.percentile(99) for load in half], _P99_MS),
        Row("   peak memory of the server, MB", [load.peak_bytes / 1e6 for load in half], _PEAK_MB),
        Row("   peak memory at the full rate, MB", [load.peak_bytes / 1e6 for load in full]),
    ]


def _cpu_ms(load: Load) -> float:
    return load.cpu_ms(load.server_cpu + load.database_cpu)


def _print(what: str, values: list[str], goals: list[str]) -> None:
    columns = [f"{cell:>11}" for cell in [*values, *goals]]
    print(f"  {what:<40}{''.join(columns)}".rstrip())

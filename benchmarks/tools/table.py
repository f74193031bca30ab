"""Table of figures beside their limits, printed by `benchmarks/`."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    value: float
    unit: str
    limit: float | None = None  # maximum
    peer: str = ""  # figures of other products for the same work
    aim: float | None = None

    @property
    def is_met(self) -> bool:
        return self.limit is None or self.value <= self.limit


def show(title: str, figures: Sequence[Figure]) -> bool:
    """Print the figures with the machine's description; return False if a limit was exceeded."""
    print(f"\n{title} ({machine()})")
    for figure in figures:
        limit = "" if figure.limit is None else f"at most {_number(figure.limit)} {figure.unit}"
        limit += "" if figure.aim is None else f", aim {_number(figure.aim)}"
        verdict = "" if figure.is_met else "MISSED"
        value = f"{_number(figure.value)} {figure.unit}"
        notes = "  ".join(filter(None, [verdict, figure.peer]))
        print(f"  {figure.what:<46} {value:>16}   {limit:<24} {notes}".rstrip())
    return all(figure.is_met for figure in figures)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def machine() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{len(models)} × {model}, Python {platform.python_version()}"

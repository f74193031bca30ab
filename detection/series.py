"""Hourly series of a service and profile type, and the call tree that they belong to."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class FunctionSymbol(NamedTuple):
    """Names by which costs that moved are looked for."""

    name: str
    file: str = ""
    class_name: str = ""
    package: str = ""


@dataclass(frozen=True)
class ServiceSeries:
    """Sums over the profiles of each of H hours without gaps, for F functions.

    Values have the unit of the metric, of one profile type. Hours without profiles are zero.
    """

    service: str
    type: str
    first_hour: int  # hours since 1970
    functions: tuple[FunctionSymbol, ...]  # F
    parent: NDArray[np.int64]  # [F], main caller, -1 at a root; callers form no cycle
    profiles: Floats  # [H]
    totals: Floats  # [H], Σ of profile totals
    self_sums: Floats  # [F, H]
    self_squares: Floats  # [F, H], Σ of squares of the profiles' self values
    total_sums: Floats  # [F, H]; recursion counted once
    total_squares: Floats  # [F, H]
    versions: tuple[str, ...]  # V
    version_profiles: Floats  # [V, H]

    @cached_property
    def ancestors(self) -> NDArray[np.bool_]:
        """Mark [f, g] where g is f or one of its callers."""
        count = len(self.parent)
        found = np.eye(count, dtype=bool)
        above = self.parent.copy()
        rows = np.arange(count)
        for _ in range(count):
            rows, above = rows[above >= 0], above[above >= 0]
            if not len(rows):
                return found
            found[rows, above] = True
            above = self.parent[above]
        raise ValueError("The callers form a cycle: break it before detection.")

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        return np.asarray(self.ancestors.sum(axis=1), np.int64)

"""Sums of functions in the hours of half a day, and their bytes."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray

from detection.series import Floats
from profiles.query import FunctionSumsResult

HOURS = 12
HALF_DAY = timedelta(hours=HOURS)
MAX_BYTES = 64 * 2**20  # decompressed

# Columns in their order in the bytes, each with the numbers of a function, or of the half day.
_BY_FUNCTION = {"self_sums": HOURS, "total_sums": HOURS, "self_squares": 1, "total_squares": 1}
_BY_HOUR = ("profiles", "totals", "durations_ns")
_Columns = NDArray[np.float64]


@dataclass(frozen=True)
class HalfDaySums:
    """Sums over the profiles of each of 12 hours, for F functions, as in FunctionSumsResult.

    Squares are those of all hours together: detection needs them over days only. Values are stored
    with the precision of float32.
    """

    unit: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    callers: NDArray[np.int64]  # [F]
    self_sums: Floats  # [F, 12]
    total_sums: Floats  # [F, 12]
    self_squares: Floats  # [F]
    total_squares: Floats  # [F]
    profiles: Floats  # [12]
    totals: Floats  # [12]
    durations_ns: Floats  # [12]
    versions: dict[str, Floats]  # profiles of each, [12]
    omitted_total: float

    @classmethod
    def from_result(cls, result: FunctionSumsResult) -> "HalfDaySums":
        return cls(
            result.metric.unit,
            result.names,
            result.files,
            result.callers,
            result.self_sums,
            result.total_sums,
            result.self_squares,
            result.total_squares,
            result.profiles.astype(np.float64),
            result.totals,
            result.durations_ns.astype(np.float64),
            {name: counts.astype(np.float64) for name, counts in result.versions.items()},
            result.omitted_total,
        )

    def to_bytes(self) -> bytes:
        header = orjson.dumps(
            {
                "unit": self.unit,
                "names": self.names,
                "files": self.files,
                "callers": self.callers.tolist(),
                "versions": {name: row.tolist() for name, row in self.versions.items()},
                "omitted_total": self.omitted_total,
                **{name: getattr(self, name).tolist() for name in _BY_HOUR},
            }
        )
        columns = [getattr(self, name).astype("<f4").tobytes() for name in _BY_FUNCTION]
        length = len(header).to_bytes(4, "little")
        return zstandard.compress(b"".join([length, header, *columns]))

    @classmethod
    def from_bytes(cls, data: bytes) -> "HalfDaySums":
        """Raise `ValueError` or `ZstdError` for damaged bytes."""
        raw = zstandard.decompress(data, max_output_size=MAX_BYTES)
        end = 4 + int.from_bytes(raw[:4], "little")
        header = orjson.loads(raw[4:end])
        count = len(header["names"])
        numbers = np.frombuffer(raw[end:], "<f4").astype(np.float64)
        columns: dict[str, _Columns] = {}
        for name, width in _BY_FUNCTION.items():
            column, numbers = numbers[: count * width], numbers[count * width :]
            columns[name] = column.reshape(count, width) if width > 1 else column
        return cls(
            unit=header["unit"],
            names=tuple(header["names"]),
            files=tuple(header["files"]),
            callers=np.array(header["callers"], np.int64),
            **columns,
            **{name: np.array(header[name], np.float64) for name in _BY_HOUR},
            versions={name: np.array(row) for name, row in header["versions"].items()},
            omitted_total=header["omitted_total"],
        )

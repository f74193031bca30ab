"""Results of a detection: findings with their evidence, and candidates that were ruled out."""

from dataclasses import dataclass
from enum import StrEnum

from detection.baseline import Baseline


class CheckStage(StrEnum):
    """Checks of a candidate, in their order."""

    SAMPLES = "samples"  # too few in a day for a test
    SIZE = "size"  # of the function's cost: too small to matter
    TRAFFIC = "traffic"  # share or value changed with the load only
    CHANGE_POINT = "change_point"  # before the analysis day, or not yet confirmed
    SIGNIFICANCE = "significance"
    WENT_AWAY = "went_away"
    SEASONALITY = "seasonality"
    COST_SHIFT = "cost_shift"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Check:
    """Outcome of one stage, with the numbers that decided."""

    stage: CheckStage
    passed: bool
    evidence: dict[str, float]
    functions: tuple[str, ...] = ()  # counterparts of a shift, or the finding that explains it


@dataclass(frozen=True, slots=True)
class ChangeCandidate:
    """Series that the screen selected, with each check until the first that it failed."""

    service: str
    type: str
    function: int  # index of ServiceSeries.functions
    name: str
    is_self: bool
    score: float  # of the screen, in standard errors
    checks: tuple[Check, ...]

    @property
    def dropped(self) -> CheckStage | None:
        return None if self.checks[-1].passed else self.checks[-1].stage


@dataclass(frozen=True, slots=True)
class DetectedChange:
    """Confirmed change of one function, per profile of the latest day in the unit of the metric."""

    candidate: ChangeCandidate
    change_hour: int  # first hour after the change, since 1970
    change: float  # absolute; negative: an improvement
    low: float  # 95 % interval of the change
    high: float
    relative: float  # change / expected value; infinite for a new function
    before: float
    after: float
    p: float  # of the likelihood ratio, not corrected
    profiles_before: int
    profiles_after: int
    version_before: str | None
    version: str | None  # that the change came with
    rank: float  # 0 to 1
    merged: tuple[str, ...] = ()  # other functions with this cause


@dataclass(frozen=True, slots=True)
class Detection:
    """Result for one service and type."""

    findings: tuple[DetectedChange, ...]  # highest rank first
    dropped: tuple[ChangeCandidate, ...]
    baseline: Baseline | None  # None: too little history

    @property
    def is_analyzed(self) -> bool:
        return self.baseline is not None

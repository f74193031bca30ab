"""Result of one check of the installation."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Ordered by importance: the server works, works in part, or does not."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DiagnosisResult:
    """Outcome of a check: its subject, and a sentence that says what to do if anything is wrong."""

    name: str
    severity: Severity
    text: str
    age: float | None = None  # seconds since it worked last; None: never, as far as is known
    is_permanent: bool = False  # the settings are wrong: waiting does not help

    @property
    def is_ok(self) -> bool:
        return self.severity is Severity.OK

"""Value that a condition had at a time, and its verdict."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Observation:
    time: datetime
    value: float | None  # None without data
    is_true: bool | None  # None: nothing can be said for lack of data


class InvalidParameters(ValueError):
    """Parameters of a rule outside of their limits; `parameter` names the first wrong one."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem


def require_number(name: str, value: object, low: float, high: float) -> float:
    """Return the number. Raise InvalidParameters unless low <= value <= high."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise InvalidParameters(name, f"has to be a number from {low:g} to {high:g}.")
    return float(value)  # type: ignore[arg-type]


def require_minutes(name: str, value: object, low: int, high: int) -> int:
    """Return the minutes. Raise InvalidParameters unless they are a whole number in the range."""
    minutes = require_number(name, value, low, high)
    if minutes != int(minutes):
        raise InvalidParameters(name, "has to be a whole number.")
    return int(minutes)


def require_bool(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameters(name, "has to be true or false.")
    return value

"""Exceptions for invalid profiles, trees and blocks."""


class BadProfile(Exception):
    """Bytes that are not a usable profile; `reason` is a sentence that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooLarge(Exception):
    """Profile that exceeds a limit: the setting's name, the actual value, and the allowed value.

    `unit` follows the allowed value in the message if the setting's name does not imply it.
    """

    def __init__(self, limit: str, value: int, allowed: int, unit: str = "") -> None:
        counted = f"{allowed:,} {unit}" if unit else f"{allowed:,}"
        super().__init__(f"{limit} allows {counted}; this has {value:,} or more")
        self.limit = limit
        self.value = value
        self.allowed = allowed
        self.unit = unit

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.limit, self.value, self.allowed, self.unit)


class BadTree(Exception):
    """Stored bytes that are not a tree for this version."""


class BadBlock(BadTree):
    """Stored bytes that are not a block for this version; the message names the section."""

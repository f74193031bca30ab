"""What can be wrong with the bytes of a profile."""


class BadProfile(Exception):
    """The bytes are not a usable profile; `reason` is a sentence that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooLarge(Exception):
    """A profile passes a limit: its name (the setting's), the value met, and the value allowed.

    `unit` follows the allowed value in the message where the setting's name does not say it.
    """

    def __init__(self, limit: str, value: int, allowed: int, unit: str = "") -> None:
        counted = f"{allowed:,} {unit}" if unit else f"{allowed:,}"
        super().__init__(f"{limit} allows {counted}; here are {value:,} or more")
        self.limit = limit
        self.value = value
        self.allowed = allowed


class BadTree(Exception):
    """Stored bytes are not a tree that this version can read."""


class BadBlock(BadTree):
    """Stored bytes are not a block that this version can read; the text names the section."""

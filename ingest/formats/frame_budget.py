"""Bound on the frames that an importer writes: stacks repeat what their file says once."""

from profiles.engine.errors import TooLarge

# Frames of all stacks of one file. Writing this many takes some 3 s of CPU time.
MAX_FRAMES = 10_000_000


class FrameBudget:
    """Counts the frames of the stacks of one file."""

    def __init__(self, allowed: int = MAX_FRAMES) -> None:
        self._allowed, self._used = allowed, 0

    def spend(self, frames: int) -> None:
        """Count the frames of one stack. Raise TooLarge above the limit."""
        self._used += frames
        if self._used > self._allowed:
            raise TooLarge("A file to convert", self._used, self._allowed, "frames of all stacks")

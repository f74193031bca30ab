"""Removal of the agent's own functions from profiles.

The samplers exclude the agent's threads. The rest are its functions in the host's threads: a
middleware or a decorator around the host's code, and its own work, such as `stop()`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from flamewatch.capture.stacks import Frame, Stack

_PACKAGE = str(Path(__file__).parents[1]) + "/"
# These functions call the host's code, which is shown as if they were not on the stack.
_AROUND_THE_HOST = (_PACKAGE + "middleware/", _PACKAGE + "labelling/")


def host_stacks(stacks: Iterable[Stack]) -> Iterator[Stack]:
    """Yield the stacks without the agent's frames, and skip stacks of the agent's own work."""
    own: dict[int, bool] = {}  # by id: frames are shared objects, and slow to hash
    for stack in stacks:
        for frame in stack.frames:
            if id(frame) not in own:
                own[id(frame)] = frame.file.startswith(_PACKAGE)
        ours = [own[id(frame)] for frame in stack.frames]
        if not any(ours):
            yield stack
        elif _is_of_the_host(stack.frames, ours):
            host_frames = (frame for frame in stack.frames if not own[id(frame)])
            yield replace(stack, frames=tuple(host_frames))


def _is_of_the_host(frames: tuple[Frame, ...], ours: list[bool]) -> bool:
    innermost = ours.index(True)
    return innermost > 0 and frames[innermost].file.startswith(_AROUND_THE_HOST)

"""Builds that crash, end or need much memory, for a worker process of compaction."""

import os
import signal
from collections.abc import Callable

from common.worker_processes.messages import JobControl
from profiles.compaction.build import build_step
from profiles.compaction.plan import CompactionStep
from profiles.compaction.replace import Replacement
from profiles.models import BlockLevel

MIB = 2**20


def end(_project: int, _step: CompactionStep) -> Replacement:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def send_and_end(
    control: JobControl, function: Callable[..., Replacement], project: int, *args: object
) -> bytes:
    """Send the first block of the build, and end before its reply."""
    replacement = function(project, *args)
    control.send((0, replacement.new[0].data))
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def crash_for_row(row: int, project: int, step: CompactionStep) -> Replacement:
    if row in {source.pk for source in step.sources}:
        os.kill(os.getpid(), signal.SIGSEGV)
    return build_step(project, step)


def crash_for_days(project: int, step: CompactionStep) -> Replacement:
    if step.level == BlockLevel.LEVEL_2:
        os.kill(os.getpid(), signal.SIGSEGV)
    return build_step(project, step)


def need_memory(project: int, step: CompactionStep) -> Replacement:
    """Need as many times 40 MiB as there are sources."""
    memory = bytes(40 * MIB * len(step.sources))
    return build_step(project, step) if memory else Replacement()


def fail(_project: int, _step: CompactionStep) -> Replacement:
    raise ZeroDivisionError

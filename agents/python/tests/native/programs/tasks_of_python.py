"""Host whose tasks are Python objects, as some libraries make them."""

import asyncio
import json
import logging
import threading
import time

from flamewatch import _native
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType

said: list[str] = []


class Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        said.append(record.getMessage())


def burn() -> None:
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        sum(range(300))


def burn_elsewhere(_: float) -> bool:
    thread = threading.Thread(target=burn)
    thread.start()
    thread.join()
    return False


logging.getLogger("flamewatch").addHandler(Lines())
asyncio.Task = asyncio.tasks.Task = asyncio.tasks._PyTask  # type: ignore[misc, attr-defined]
sampler = NativeSampler(_native, tasks=True)
capture = sampler.capture(ProfileType.CPU, 0.2, burn_elsewhere)
samples = sum(stack.count for stack in capture.stacks)
print(json.dumps({"said": " ".join(said), "samples": samples}))

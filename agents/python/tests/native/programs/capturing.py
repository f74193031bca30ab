"""Capture of a thread from its start to its end."""

import threading
from collections.abc import Callable

from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture


def captured(sampler: NativeSampler, kind: ProfileType, work: Callable[[], object]) -> Capture:
    done = threading.Event()

    def until_done() -> None:
        work()
        done.set()

    thread = threading.Thread(target=until_done)

    def wait(_: float) -> bool:
        thread.start()
        done.wait()
        return False

    capture = sampler.capture(kind, 60, wait)
    thread.join()
    return capture

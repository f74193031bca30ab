"""Flamewatch's Python agent: continuous profiling of the process that it is started in.

    import flamewatch
    flamewatch.start(service="checkout", version="1.4.2")

The key and the server's address come from FLAMEWATCH_KEY and FLAMEWATCH_URL.
"""

from flamewatch import process
from flamewatch.config import Arguments
from flamewatch.labelling import labels
from flamewatch.status import Status
from flamewatch.version import __version__

__all__ = ["Status", "__version__", "labels", "start", "status", "stop"]


def start(
    service: str | None = None,
    version: str | None = None,
    zone: str | None = None,
    *,
    key: str | None = None,
    url: str | None = None,
    project: str | None = None,
    thread_names: bool | None = None,
    tasks: bool | None = None,
    heap: str | None = None,
    heap_raw: bool | None = None,
    idle_waits: bool | None = None,
) -> None:
    """Begin to profile this process, and every process that is forked from it.

    What is left out comes from FLAMEWATCH_SERVICE, _VERSION, _ZONE, _KEY, _URL, _THREAD_NAMES,
    _TASKS, _HEAP, _HEAP_RAW, _IDLE_WAITS, and
    for service, version and zone from what platforms set (K_SERVICE, GAE_SERVICE,
    OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES …). `project` is the key's and need not be said.
    `thread_names` puts a label with the thread's name on each sample. `tasks` does so with the
    names that asyncio tasks were given, and shows in the stacks who awaits them. `heap` says when
    memory begins to be counted: "asked" (with the first memory profile that the server wants),
    "start" or "off"; `heap_raw` counts what C code asks for without the GIL, too.
    `idle_waits` keeps in CONTENTION the waits of threads for work (an empty queue, an event), which
    are left out otherwise.

    Returns at once and never raises: what is missing or wrong is one line in the log, and the
    process runs unprofiled. A second call changes nothing.
    """
    process.start(
        Arguments(
            service,
            version,
            zone,
            key,
            url,
            project,
            thread_names=thread_names,
            tasks=tasks,
            idle_waits=idle_waits,
            heap=heap,
            heap_raw=heap_raw,
        )
    )


def stop() -> None:
    """End profiling: threads, timers, signal handlers and sockets are given back.

    Waits a second at most and never raises. `start()` may be called again afterwards.
    """
    process.stop()


def status() -> Status:
    """What the agent is doing and has done, for health pages and tests."""
    return process.status()

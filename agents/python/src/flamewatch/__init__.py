"""Flamewatch's Python agent: continuous profiling of the process that it is started in.

    import flamewatch
    flamewatch.start(service="checkout", version="1.4.2")

The key and the server's address come from FLAMEWATCH_KEY and FLAMEWATCH_URL.
"""

from flamewatch.config import Arguments
from flamewatch.labelling.context import labels
from flamewatch.process import lifecycle
from flamewatch.process.status import Status
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
    """Start profiling this process and every process that is forked from it.

    Arguments that are left out come from FLAMEWATCH_SERVICE, _VERSION, _ZONE, _KEY, _URL, _PROJECT,
    _THREAD_NAMES, _TASKS, _HEAP, _HEAP_RAW and _IDLE_WAITS; service, version and zone also from
    variables that platforms set (K_SERVICE, GAE_SERVICE, OTEL_SERVICE_NAME,
    OTEL_RESOURCE_ATTRIBUTES …). `project` is optional, because the key belongs to one project.
    `thread_names` adds a label with the thread's name to each sample. `tasks` adds a label with the
    name of the asyncio task, if the task was named, and appends the frames of the tasks that await
    it to the stack. `heap` sets when memory counting begins: "on-request" (with the first memory
    profile that the server requests), "start" or "off". `heap_raw` also counts memory that C code
    allocates without the GIL. `idle_waits` includes in CONTENTION profiles the waits of threads for
    work (an empty queue, an event), which are left out by default.

    Return at once and never raise: a missing or invalid setting is reported in one line of the log,
    and the process runs without profiling. A second call has no effect.
    """
    lifecycle.start(
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
    """Stop profiling and release its threads, timers, signal handlers and sockets.

    Wait at most one second and never raise. `start()` may be called again afterwards.
    """
    lifecycle.stop()


def status() -> Status:
    """Return the agent's state and counters, for health pages and tests."""
    return lifecycle.status()

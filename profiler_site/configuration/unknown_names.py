"""Environment variables that look like settings of the server and are none."""

import difflib
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

PREFIX = "FLAMEWATCH_"
# Read by the agents, the client and the build, which may share the server's environment.
_OF_OTHER_PROGRAMS = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *(
            "ENGINE_FLAGS",
            "HEAP",
            "HEAP_RAW",
            "IDLE_WAITS",
            "INTERPRETERS",
            "KEY",
            "MUTEX_FRACTION",
            "ONCE",
        ),
        *("ONCE_OUTPUT", "ONCE_SECONDS", "PROJECT", "RUN_PID", "SERVICE", "TASKS"),
        *("THREAD_NAMES", "TOKEN", "TYPES", "URL", "VERSION", "ZONE"),
    )
)
# Tests set variables of this prefix.
_TEST_PREFIX = f"{PREFIX}TEST_"
# Kubernetes tells each container the addresses of services, of those named flamewatch… too.
_OF_SERVICES = re.compile(
    rf"{PREFIX}([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)"
)
_LEAST_SIMILARITY = 0.85


class UnknownName(NamedTuple):
    name: str
    suggestion: str  # a similar setting, "" without one


def find_unknown_names(
    environment: Mapping[str, str], settings: Collection[str]
) -> list[UnknownName]:
    """Return the variables that begin with FLAMEWATCH_ and that nothing reads, sorted."""
    return [
        UnknownName(
            name, next(iter(difflib.get_close_matches(name, settings, 1, _LEAST_SIMILARITY)), "")
        )
        for name in sorted(environment)
        if name.startswith(PREFIX)
        and name not in settings
        and name not in _OF_OTHER_PROGRAMS
        and not name.startswith(_TEST_PREFIX)
        and not _OF_SERVICES.fullmatch(name)
    ]

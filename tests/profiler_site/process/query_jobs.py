"""Functions that tests run as queries in worker processes."""

import ctypes
import os
import signal
import time
from collections.abc import Callable

from profiles.query import QueryContext
from projects.models import Project


def process_id(context: QueryContext) -> int:
    return os.getpid()


def rename_project(context: QueryContext, project: int) -> None:
    Project.objects.filter(pk=project).update(name="Renamed")


def check_until_cancelled(context: QueryContext, send: Callable[[str], None]) -> None:
    send("begun")
    while True:
        context.check()
        time.sleep(0.01)


def crash(context: QueryContext) -> None:
    ctypes.string_at(0)


def kill_itself(context: QueryContext) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def allocate(context: QueryContext) -> None:
    blocks = []
    while True:
        blocks.append(b"x" * 2**20)


def sleep(context: QueryContext) -> None:
    time.sleep(3600)

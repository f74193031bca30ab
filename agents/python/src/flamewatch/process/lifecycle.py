"""The single agent of this process, from `start()` to `stop()` or the end of the process."""

import atexit
import os
import random
import sys

from flamewatch import config, unpatched
from flamewatch.capture.choose_sampler import choose_sampler
from flamewatch.config import Arguments, Problems
from flamewatch.log import one_line, warn
from flamewatch.process import uwsgi
from flamewatch.process.agent import Agent
from flamewatch.process.fork_warning import before_fork, show_again
from flamewatch.process.status import Status, nothing
from flamewatch.process.subinterpreters import is_main

STOP_SECONDS = 1.0
# A forked child may exit or exec another program before a handshake is worthwhile, and many
# children are forked at once.
FORKED_PAUSE = (0.5, 1.5)


class _Process:
    """State of the agent in this process."""

    def __init__(self) -> None:
        self.lock = unpatched.new_rlock()
        self.agent: Agent | None = None
        self.state, self.reason = "off", "not started"
        self.fork_watched = False


_process = _Process()


def start(arguments: Arguments, *, first_pause: float = 0.0, quiet: bool = False) -> None:
    """Start the agent. Return at once and never raise; a second call has no effect.

    `quiet` suppresses log lines.
    """
    try:
        with _process.lock:
            if _process.agent is None:
                _start(arguments, first_pause, quiet)
    except Exception as error:
        _switch_off(f"{type(error).__name__}: {error}", quiet)


def stop() -> None:
    """Stop profiling and release its resources. Wait at most one second and never raise."""
    try:
        with _process.lock:
            agent, _process.agent = _process.agent, None
            if agent is not None:
                _process.state, _process.reason = "stopped", "stop() was called"
                atexit.unregister(stop)
                show_again()
                agent.stop(STOP_SECONDS)
    except Exception as error:
        warn(f"stopping failed: {one_line(f'{type(error).__name__}: {error}')}")


def status() -> Status:
    agent = _process.agent
    return agent.status() if agent else nothing(_process.state, _process.reason)


def _start(arguments: Arguments, first_pause: float, quiet: bool) -> None:
    if not is_main():
        _switch_off(
            "subinterpreters are not supported; the main interpreter is profiled", quiet=True
        )
        return
    found = config.read(arguments, os.environ)
    if isinstance(found, Problems):
        _switch_off(str(found), quiet)
        return
    if not quiet and (options := uwsgi.missing(sys.modules)):
        warn(f"workers will not be profiled: uWSGI needs {options}.")
    sampler = choose_sampler(
        thread_names=found.thread_names,
        tasks=found.tasks,
        idle_waits=found.idle_waits,
        heap=found.heap,
        heap_raw=found.heap_raw,
        quiet=quiet,
    )
    agent = Agent(found, sampler)
    agent.start(first_pause)
    _process.agent = agent
    atexit.register(stop)
    if not _process.fork_watched:
        _process.fork_watched = True  # fork hooks cannot be removed
        os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def _switch_off(reason: str, quiet: bool) -> None:
    _process.state, _process.reason = "off", reason
    if not quiet:
        warn(f"not profiling: {one_line(reason, 500)}")


def _before_fork() -> None:
    if _process.agent is not None:
        before_fork()


def _after_fork() -> None:
    """Replace the parent's agent in a forked child by a new one with its own id."""
    show_again()
    parents, _process.agent = _process.agent, None
    _process.lock = unpatched.new_rlock()  # a thread that does not exist here may have held it
    if parents is None:
        return
    try:
        parents.abandon()
        agent = Agent(parents.config, parents.sampler)
        agent.start(random.Random().uniform(*FORKED_PAUSE))  # noqa: S311  no secret
        _process.agent = agent
    except Exception as error:
        _switch_off(f"after a fork: {type(error).__name__}: {error}", quiet=False)

"""Fallback sampler: it reports less than the native one, and nothing wrong."""

import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from fake_server import TIMEOUT, FakeServer, assigned, never_responds
from programs import begin, run

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture
from flamewatch.capture.signal_sampler import SignalSampler
from flamewatch.capture.stacks import Stack


@pytest.fixture
def sampler() -> Iterator[SignalSampler]:
    made = SignalSampler()
    yield made
    made.close()
    assert signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def capture(sampler: SignalSampler, seconds: float) -> Capture:
    """Capture the main thread from another thread, as the agent does."""
    found: list[Capture] = []
    ended = threading.Event()

    def until_ended(_: float) -> bool:
        ended.wait()
        return False

    thread = threading.Thread(
        target=lambda: found.append(sampler.capture(ProfileType.CPU, 60, until_ended))
    )
    thread.start()
    burn(seconds)
    ended.set()
    thread.join()
    [taken] = found
    return taken


def within(taken: Capture, function: str) -> int:
    return sum(
        stack.value
        for stack in taken.stacks
        if any(frame.function == function for frame in stack.frames)
    )


def test_sampler_started_in_the_main_thread_offers_cpu(sampler: SignalSampler) -> None:
    assert sampler.types == (ProfileType.CPU, ProfileType.THREADS)


@pytest.mark.slow
def test_cpu_profile_excludes_other_threads(sampler: SignalSampler) -> None:
    stop = threading.Event()

    def noise() -> None:
        while not stop.is_set():
            pass

    thread = threading.Thread(target=noise)
    thread.start()
    taken = capture(sampler, 0.5)
    stop.set()
    thread.join()
    assert within(taken, "burn") == pytest.approx(0.5e9, rel=0.2)
    assert within(taken, "noise") == 0
    assert taken.notes == {"threads": "main"}


def test_threads_profile_has_every_thread_once(sampler: SignalSampler) -> None:
    gate = threading.Event()
    threads = [threading.Thread(target=stand_still, args=(gate,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    wait_until_they_wait(threads)
    taken = sampler.capture(ProfileType.THREADS, 10, gate.wait)
    gate.set()
    waiting = [stack for stack in taken.stacks if is_waiting(stack)]
    assert len(waiting) == 5
    assert all(stack.value == 1 for stack in waiting)
    assert taken.duration_ns == 0


def stand_still(gate: threading.Event) -> None:
    gate.wait()


def wait_until_they_wait(threads: list[threading.Thread]) -> None:
    """Wait until each thread is in `Condition.wait`, where its stack does not change."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        frames = sys._current_frames()
        names = [frames[thread.ident].f_code.co_qualname for thread in threads if thread.ident]
        if names == ["Condition.wait"] * len(threads):
            return
        assert time.monotonic() < deadline, names
        time.sleep(0.005)


def is_waiting(stack: Stack) -> bool:
    """Return whether the stack is one of this test's threads.

    Earlier tests may have left other waiting threads.
    """
    return {"Condition.wait", "stand_still"} <= {frame.function for frame in stack.frames}


def test_sampler_started_in_another_thread_offers_threads_only() -> None:
    found: list[tuple[ProfileType, ...]] = []
    thread = threading.Thread(target=lambda: found.append(SignalSampler().types))
    thread.start()
    thread.join()
    assert found == [(ProfileType.THREADS,)]


def test_handler_of_the_host_for_sigprof_is_kept() -> None:
    def theirs(number: int, frame: object) -> None: ...

    signal.signal(signal.SIGPROF, theirs)
    try:
        sampler = SignalSampler()
        assert sampler.types == (ProfileType.THREADS,)
        sampler.close()
        assert signal.getsignal(signal.SIGPROF) is theirs
    finally:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


def test_deep_stacks_are_cut_and_marked(sampler: SignalSampler) -> None:
    found: list[Capture] = []

    def deep(n: int) -> None:
        if n:
            deep(n - 1)
        else:
            thread = threading.Thread(
                target=lambda: found.append(sampler.capture(ProfileType.THREADS, 0, time.sleep))  # type: ignore[arg-type]
            )
            thread.start()
            thread.join()

    deep(700)
    [stack] = [stack for stack in found[0].stacks if stack.cut]
    assert len(stack.frames) == 512


WITHOUT_NATIVE = """
    import sys
    sys.modules["flamewatch._native"] = None
    import flamewatch, os, time
    def burn(end):
        while time.thread_time() < end:
            pass
    flamewatch.start()
    print(flamewatch.status()["types"], flamewatch.status()["sampler"])
    {work}
    flamewatch.stop()
"""


def test_without_the_native_module_one_warning_names_the_remaining_types(
    server: FakeServer, url: str
) -> None:
    server.respond_with("POST", assigned("CPU", "0.2s"), never_responds)
    work = 'while not flamewatch.status()["profiles_sent"]: burn(time.thread_time() + 0.01)'
    out, errors = run(WITHOUT_NATIVE.format(work=work), url)
    assert out == "['CPU', 'THREADS'] signal\n"
    assert len(errors.splitlines()) == 1
    assert "reduced profiling, only the main thread's CPU time and THREADS" in errors


def test_child_forked_without_the_native_module_is_profiled(server: FakeServer, url: str) -> None:
    server.respond_with("POST", never_responds, assigned("CPU", "0.2s"), never_responds)
    work = """
    sys.stdin.readline()
    child = os.fork()
    if child == 0:
        while not flamewatch.status()["profiles_sent"]:
            burn(time.thread_time() + 0.01)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """
    process = begin(WITHOUT_NATIVE.format(work=work), url)
    server.wait_for("POST")
    _, errors = process.communicate("fork\n", timeout=60)
    assert process.returncode == 0, errors
    [upload] = server.wait_for("PATCH")
    assert upload.agent != server.seen[0].agent

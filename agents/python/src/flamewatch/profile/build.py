"""Conversion of a capture to a profile, with qualified names and statistics as comments."""

from collections.abc import Iterator
from dataclasses import replace

from flamewatch.capture.profile_types import METRICS, Metric, ProfileType
from flamewatch.capture.sampler import Capture
from flamewatch.capture.stacks import Frame, Stack
from flamewatch.labelling.encoding import Labels
from flamewatch.profile.naming import modules_by_file, namer
from flamewatch.profile.own_frames import host_stacks
from flamewatch.profile.pprof import Profile, Sample
from flamewatch.transport.identity import USER_AGENT

_PERIODS = {
    ProfileType.CPU: Metric("cpu", "nanoseconds"),
    ProfileType.WALL: Metric("wall", "nanoseconds"),
    ProfileType.THREADS: Metric("thread", "count"),
    ProfileType.HEAP: Metric("space", "bytes"),
    ProfileType.HEAP_ALLOC: Metric("space", "bytes"),
    ProfileType.CONTENTION: Metric("contentions", "count"),
}
_EACH_COUNTS = frozenset({ProfileType.THREADS, ProfileType.CONTENTION})


def build_profile(kind: ProfileType, capture: Capture, sampler: str, agent_cpu_ns: int) -> Profile:
    """Convert a capture. `agent_cpu_ns`: CPU time of the agent's thread since the last profile."""
    capture = replace(capture, stacks=[*host_stacks(capture.stacks)])
    return Profile(
        metrics=METRICS[kind],
        samples=tuple(_samples(kind, capture)),
        period_type=_PERIODS[kind],
        period=1 if kind in _EACH_COUNTS else capture.period_ns,
        time_ns=capture.started_ns,
        duration_ns=capture.duration_ns,
        comments=tuple(_comments(capture, sampler, agent_cpu_ns)),
    )


def _samples(kind: ProfileType, capture: Capture) -> Iterator[Sample]:
    name = namer(modules_by_file())
    gil = Frame("(waiting for the GIL)", "", 0, 0)
    cut = Frame(f"(deeper than {capture.max_depth} frames)", "", 0, 0)
    for stack in capture.stacks:
        frames = [name(frame) for frame in stack.frames]
        if stack.waits_for_gil:
            frames.insert(0, gil)
        if stack.cut:
            frames.append(cut)
        yield Sample(tuple(frames), _values(kind, stack), _labels(stack))


def _values(kind: ProfileType, stack: Stack) -> tuple[int, ...]:
    if stack.values:
        return stack.values
    return (stack.value,) if kind is ProfileType.THREADS else (stack.count, stack.value)


def _labels(stack: Stack) -> Labels:
    thread = (("thread", stack.thread_name),) if stack.thread_name else ()
    return (*stack.labels, *thread)


def _comments(capture: Capture, sampler: str, agent_cpu_ns: int) -> Iterator[str]:
    """Yield the comments. Their names are a fixed set, so that their size is bounded."""
    yield f"flamewatch.agent={USER_AGENT}"
    yield f"flamewatch.sampler={sampler}"
    yield f"flamewatch.samples={sum(stack.count for stack in capture.stacks)}"
    yield f"flamewatch.samples_dropped={sum(capture.dropped.values())}"
    for reason, count in capture.dropped.items():
        if count:
            yield f"flamewatch.samples_dropped.{reason}={count}"
    for name, value in capture.notes.items():
        yield f"flamewatch.{name}={value}"
    yield f"flamewatch.sampler_cpu_ns={capture.sampler_cpu_ns}"
    yield f"flamewatch.agent_cpu_ns={agent_cpu_ns}"
    if capture.memory_bytes:
        yield f"flamewatch.agent_memory_bytes={capture.memory_bytes}"

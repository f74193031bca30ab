"""CPU profiles in other shapes than today's .cpuprofile, converted to it.

Chrome's traces have them in pieces (events Profile and ProfileChunk, by thread); Chrome and Node.js
up to 2016 wrote a tree of nodes (`head`) in place of a list.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ingest.formats import json_document
from ingest.formats.json_document import Object
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile

_SECOND_US = 10**6
_MAX_PROFILES_PER_THREAD = 1000  # those with most samples; others are left out


class CpuProfiles(NamedTuple):
    documents: list[Object]  # each as a .cpuprofile has it
    warnings: tuple[str, ...] = ()


def read_cpu_profiles(document: Object, budget: WorkBudget) -> CpuProfiles:
    """Return the profiles of a file: of a trace, one or more for each thread.

    Raise BadProfile for a trace without a CPU profile, TooLarge above the budget.
    """
    if "traceEvents" in document:
        return _read_trace(json_document.objects(document, "traceEvents"))
    if "nodes" not in document and isinstance(document.get("head"), dict):
        return CpuProfiles([_read_tree(document, budget)])
    return CpuProfiles([document])


def _read_trace(events: list[Object]) -> CpuProfiles:
    profiles: dict[tuple[str, str], Object] = {}
    threads: dict[tuple[str, str], str] = {}  # of those that state it
    for event in events:
        if event.get("name") not in {"Profile", "ProfileChunk"}:
            continue
        key = str(event.get("pid"))[:40], str(event.get("id"))[:40]
        profile = profiles.setdefault(key, {"nodes": [], "samples": [], "timeDeltas": []})
        data = _object(_object(event, "args"), "data")
        chunk = _object(data, "cpuProfile")
        profile["nodes"] += json_document.items(chunk, "nodes")
        profile["samples"] += json_document.items(chunk, "samples")
        profile["timeDeltas"] += json_document.items(data, "timeDeltas")
        for source in (data, chunk):
            profile |= {name: source[name] for name in ("startTime", "endTime") if name in source}
        profiles[key] = profile
        if event["name"] == "Profile" and "tid" in event:  # chunks have that of the profiler
            threads[key] = f"{key[0]} {str(event['tid'])[:40]}"
    by_thread: dict[str | tuple[str, str], list[Object]] = {}
    for key, profile in profiles.items():
        if profile["samples"]:
            by_thread.setdefault(threads.get(key, key), []).append(_with_end(profile))
    found = [profile for group in by_thread.values() for profile in _drop_overlapping(group)]
    if not found:
        raise BadProfile(
            "The Chrome trace has no CPU profile. Record it with JavaScript samples (the category "
            "disabled-by-default-v8.cpu_profiler)."
        )
    left_out = sum(map(len, by_thread.values())) - len(found)
    if not left_out:
        return CpuProfiles(found)
    warning = f"Profiles of a thread at the time of a larger one were left out: {left_out:,}."
    return CpuProfiles(found, (warning,))


def _drop_overlapping(profiles: Sequence[Object]) -> list[Object]:
    """Return the profiles of one thread, of those at the same time only that with most samples.

    Two profilers may run at once: that of `node --cpu-prof` and that of the trace.
    """
    selected: list[tuple[float, float, Object]] = []
    largest_first = sorted(profiles, key=lambda each: -len(each["samples"]))
    for profile in largest_first[:_MAX_PROFILES_PER_THREAD]:
        start, end = (
            json_document.number(profile.get(name, 0), name, 2**60)
            for name in ("startTime", "endTime")
        )
        if all(end <= other_start or start >= other_end for other_start, other_end, _ in selected):
            selected.append((start, end, profile))
    return [profile for *_, profile in selected]


def _with_end(profile: Object) -> Object:
    """Add the end if it is missing, because the thread still ran: the time of the last sample."""
    if "endTime" in profile:
        return profile
    deltas = [json_document.number(delta, "timeDeltas", 2**50) for delta in profile["timeDeltas"]]
    start = json_document.number(profile.get("startTime", 0), "startTime", 2**60)
    return {**profile, "endTime": start + sum(deltas)}


def _read_tree(document: Object, budget: WorkBudget) -> Object:
    nodes = []
    pending = [document["head"]]
    while pending:
        node = pending.pop()
        budget.spend(Work.FRAMES, 1)
        children = json_document.objects(node, "children")
        pending += children
        line = node.get("lineNumber")  # from 1; 0 for native code
        call = {
            "functionName": node.get("functionName"),
            "url": node.get("url"),
            "lineNumber": line - 1 if isinstance(line, int) else -1,
        }
        ids = [child.get("id") for child in children]
        nodes.append(
            {
                "id": node.get("id"),
                "callFrame": call,
                "hitCount": node.get("hitCount", 0),
                "children": ids,
            }
        )
    start, end = (
        json_document.number(document.get(name, 0), name, 2**50) * _SECOND_US
        for name in ("startTime", "endTime")
    )
    times = [
        json_document.number(time, "timestamps", 2**60)
        for time in json_document.items(document, "timestamps")
    ]
    # The clock of the timestamps may be another one than that of the start.
    start, end = (times[0], max(times[-1], times[0] + end - start)) if times else (start, end)
    deltas = [after - before for before, after in zip([start, *times], times, strict=False)]
    return {
        "nodes": nodes,
        "samples": json_document.items(document, "samples"),
        "timeDeltas": deltas,
        "startTime": start,
        "endTime": end,
    }


def _object(parent: Object, name: str) -> Object:
    found = parent.get(name)
    return found if isinstance(found, dict) else {}

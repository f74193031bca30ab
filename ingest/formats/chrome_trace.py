"""CPU profiles in other shapes than today's .cpuprofile, converted to it.

Chrome's traces have them in pieces (events Profile and ProfileChunk, by thread); Chrome and Node.js
up to 2016 wrote a tree of nodes (`head`) in place of a list.
"""

from ingest.formats import json_document
from ingest.formats.json_document import Object
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile

_SECOND = 10**6  # µs


def cpu_profiles(document: Object, budget: WorkBudget) -> list[Object]:
    """Return the documents of a file, each as a .cpuprofile has it.

    Raise BadProfile for a trace without a CPU profile, TooLarge above the budget.
    """
    if "traceEvents" in document:
        return _of_trace(json_document.objects(document, "traceEvents"))
    if "nodes" not in document and isinstance(document.get("head"), dict):
        return [_of_tree(document, budget)]
    return [document]


def _of_trace(events: list[Object]) -> list[Object]:
    profiles: dict[tuple[str, str], Object] = {}
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
    found = [_with_end(profile) for profile in profiles.values() if profile["samples"]]
    if not found:
        raise BadProfile(
            "The Chrome trace has no CPU profile. Record it with JavaScript samples (the category "
            "disabled-by-default-v8.cpu_profiler)."
        )
    return found


def _with_end(profile: Object) -> Object:
    """Add the end if it is missing, because the thread still ran: the time of the last sample."""
    if "endTime" in profile:
        return profile
    deltas = [json_document.number(delta, "timeDeltas", 2**50) for delta in profile["timeDeltas"]]
    start = json_document.number(profile.get("startTime", 0), "startTime", 2**60)
    return {**profile, "endTime": start + sum(deltas)}


def _of_tree(document: Object, budget: WorkBudget) -> Object:
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
        json_document.number(document.get(name, 0), name, 2**50) * _SECOND
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

"""Importers of V8's profiles, as Node.js, Deno and Chrome write them.

`.cpuprofile` (`node --cpu-prof`) has samples over time, `.heapprofile` (`node --heap-prof`) the
allocations that are still in use.
"""

from collections.abc import Iterator

from ingest.formats import json_document
from ingest.formats.chrome_trace import read_cpu_profiles
from ingest.formats.import_options import NO_OPTIONS, ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.json_document import Object
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from profiles.engine.pprof.limits import DecodeLimits
from projects.profile_types import ProfileType

MICROSECOND = 1000  # ns
MAX_DEPTH = DecodeLimits().max_depth
_ROOT, _IDLE = "(root)", "(idle)"
_METRICS = {
    ProfileType.CPU: (Metric("samples", "count"), Metric("cpu", "nanoseconds")),
    ProfileType.WALL: (Metric("sample", "count"), Metric("wall", "nanoseconds")),
}


def import_cpu_profile(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert a .cpuprofile to CPU, without idle time, or to WALL, with it.

    Profiles of several threads, which only Chrome's traces have, are summed. Raise BadProfile for
    an invalid document or another type, TooLarge above a limit.
    """
    type = options.type or ProfileType.CPU
    if type not in _METRICS:
        raise BadProfile(f"A V8 CPU profile is of the type CPU or WALL, not {type}.")
    budget = WorkBudget(len(raw))
    builder = ProfileBuilder(_METRICS[type], budget)
    document = json_document.parse(raw, "V8 CPU profile", budget)
    documents, warnings = read_cpu_profiles(document, budget)
    for document in documents:
        tree = _FlatTree(json_document.objects(document, "nodes"), builder, budget)
        for node, (samples, microseconds) in _node_values(document, tree).items():
            if type is ProfileType.CPU and tree.name(node) == _IDLE:
                continue
            if stack := tree.stack(node):
                builder.add(stack, [samples, round(microseconds * MICROSECOND)])
    if builder.is_empty:
        raise BadProfile("The V8 CPU profile has no samples.")
    starts = [_time(document, "startTime") for document in documents]
    ends = [_time(document, "endTime") for document in documents]
    duration = round((max(ends) - min(starts)) * MICROSECOND)
    return [ImportedProfile(type, builder.build(), None, max(0, duration) or None, warnings)]


def import_heap_profile(raw: bytes, options: ImportOptions = NO_OPTIONS) -> list[ImportedProfile]:
    """Convert a .heapprofile to HEAP. Raise BadProfile for an invalid document or another type."""
    if options.type not in {None, ProfileType.HEAP}:
        raise BadProfile(f"A V8 heap profile is of the type HEAP, not {options.type}.")
    budget = WorkBudget(len(raw))
    document = json_document.parse(raw, "V8 heap profile", budget)
    head = document.get("head")
    if not isinstance(head, dict):
        raise BadProfile("The V8 heap profile has no head.")
    builder = ProfileBuilder([Metric("inuse_space", "bytes")], budget)
    stack: list[int] = []
    for node, depth in _pre_order(head):
        frame = _frame(node)
        del stack[depth:]
        stack.append(builder.location(frame))
        size = round(json_document.number(node.get("selfSize", 0), "selfSize"))
        if size > 0 and depth:
            budget.spend(Work.FRAMES, depth)
            builder.add(stack[:0:-1], [size])
    if builder.is_empty:
        raise BadProfile("The V8 heap profile has no allocations.")
    return [ImportedProfile(ProfileType.HEAP, builder.build())]


class _FlatTree:
    """Nodes that name their children, or their parent, by id."""

    def __init__(self, nodes: list[Object], builder: ProfileBuilder, budget: WorkBudget) -> None:
        self._builder, self._budget = builder, budget
        self._locations: dict[int, int] = {}  # of the frames of nodes
        self._depths: dict[int, int] = {}  # frames of the stacks of nodes, root included
        self.nodes = {_id(node.get("id")): node for node in nodes}
        self._parents: dict[int, int] = {}
        for id, node in self.nodes.items():
            for child in json_document.items(node, "children"):
                self._parents.setdefault(_id(child), id)
            if "parent" in node:
                self._parents[id] = _id(node["parent"])

    def name(self, id: int) -> str:
        """Return the name of a node's function; "" for an unknown node."""
        node = self.nodes.get(id)
        return _frame(node).name if node else ""

    def stack(self, id: int) -> list[int]:
        """Return the locations, leaf first, without the root. Raise BadProfile for a loop."""
        locations: list[int] = []
        self._budget.spend(Work.FRAMES, self._depth(id))
        last, node_id = -1, self._existing_node(id)
        while node_id is not None:
            location = self._locations.get(node_id)
            if location is None:
                location = self._locations[node_id] = self._builder.location(
                    _frame(self.nodes[node_id])
                )
            locations.append(location)
            last, node_id = node_id, self._existing_node(self._parents.get(node_id))
        if locations and self.name(last) == _ROOT:
            locations.pop()
        return locations

    def _existing_node(self, id: int | None) -> int | None:
        return id if id in self.nodes else None

    def _depth(self, id: int) -> int:
        """Return the number of frames of a stack. Raise BadProfile above MAX_DEPTH."""
        path: list[int] = []
        node_id = self._existing_node(id)
        while node_id is not None and node_id not in self._depths:
            path.append(node_id)
            if len(path) > MAX_DEPTH:
                break
            node_id = self._existing_node(self._parents.get(node_id))
        depth = self._depths.get(node_id, 0) if node_id is not None else 0
        for node in reversed(path):
            depth += 1
            self._depths[node] = depth
        if depth > MAX_DEPTH:
            raise BadProfile(f"A stack of the V8 profile has over {MAX_DEPTH:,} frames.")
        return depth


def _node_values(document: Object, tree: _FlatTree) -> dict[int, tuple[int, float]]:
    """Return the number of samples, and the time in µs, of each node.

    A sample lasts until the next one. Without samples, all have the same share of the time.
    """
    values: dict[int, tuple[int, float]] = {}
    samples = json_document.items(document, "samples")
    deltas = json_document.items(document, "timeDeltas")
    times = _durations(document, deltas) if len(deltas) == len(samples) else []
    for sample, time in zip(samples, times, strict=False):
        count, elapsed = values.get(_id(sample), (0, 0.0))
        values[_id(sample)] = count + 1, elapsed + time
    if values:
        return values
    hits = {id: _hits(node) for id, node in tree.nodes.items()}
    total = sum(hits.values())
    elapsed = max(0.0, _time(document, "endTime") - _time(document, "startTime"))
    return {id: (count, elapsed * count / total) for id, count in hits.items() if count}


def _durations(document: Object, deltas: list[object]) -> Iterator[float]:
    """Yield the time of each sample, in µs; a delta is the time before its sample."""
    time = _time(document, "startTime")
    for number, delta in enumerate(deltas):
        time += json_document.number(delta, "timeDeltas", 2**50)
        if number:
            yield max(0.0, json_document.number(delta, "timeDeltas", 2**50))
    yield min(max(0.0, _time(document, "endTime") - time), 2.0**50)


def _pre_order(head: Object) -> Iterator[tuple[Object, int]]:
    """Yield nodes with their depth; the head has 0."""
    pending = [(head, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise BadProfile(f"A stack of the V8 profile has over {MAX_DEPTH:,} frames.")
        yield node, depth
        pending += ((child, depth + 1) for child in json_document.objects(node, "children"))


def _frame(node: Object) -> Frame:
    call = node.get("callFrame")
    if not isinstance(call, dict):
        raise BadProfile("A node of the V8 profile has no callFrame.")
    line = call.get("lineNumber")  # from 0; -1 for native code
    return Frame(
        json_document.text(call, "functionName") or "(anonymous)",
        json_document.text(call, "url").removeprefix("file://"),
        json_document.read_line(line + 1 if isinstance(line, int) else 0),
    )


def _id(value: object) -> int:
    if not isinstance(value, int):
        raise BadProfile(f"A node of the V8 profile has the id {json_document.quote_value(value)}.")
    return value


def _hits(node: Object) -> int:
    return max(0, round(json_document.number(node.get("hitCount", 0), "hitCount", 2**40)))


def _time(document: Object, name: str) -> float:
    return json_document.number(document.get(name, 0), name, 2**60)

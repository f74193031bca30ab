"""Work of conversions: bounded by a multiple of the file, and linear where samples share data."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ingest.formats import json_document
from ingest.formats.austin import import_austin
from ingest.formats.folded import import_folded
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.perf_script import import_perf_script
from ingest.formats.pyroscope.counts import find_meaning
from ingest.formats.pyroscope.trie import import_tree, import_trie
from ingest.formats.speedscope import import_speedscope
from ingest.formats.v8_profiles import import_cpu_profile, import_heap_profile
from ingest.formats.work_budget import FREE_WORK, MAX_WORK, WORK_PER_BYTE, Work, WorkBudget
from profiles.engine.errors import BadProfile, TooLarge
from tests.fuzz.cost import CostBound, CostMeter
from tests.ingest.formats import imported
from tests.ingest.formats.jfr import recordings
from tests.ingest.formats.otlp.conversions import convert
from tests.ingest.formats.otlp.test_revision import DURATION, TIME, dictionary
from tests.ingest.formats.test_hostile_files import peak_bytes
from tests.ingest.pprof import field, varint

MEANING = find_meaning("", "", "", 100)
JSON = json.JSONEncoder(separators=(",", ":")).encode


def growth(build: Callable[[int], bytes], run: Callable[[bytes], object], size: int) -> float:
    """Return how many times as long an input of four times the size takes, at least once of three.

    Work in proportion to the input gives 4, the square of it 16.
    """
    meter = CostMeter(CostBound())

    def outcome(data: bytes) -> str:
        try:
            run(data)
        except (BadProfile, TooLarge) as error:
            return str(error)
        return ""

    small, large = build(size), build(4 * size)
    meter._measure(outcome, small)
    ratios = []
    for _ in range(3):
        first, second = (meter._measure(outcome, data)[1].steps for data in (small, large))
        ratios.append(second / max(first, 1))
    return min(ratios)


LINES: list[tuple[str, Callable[[int], bytes], Callable[[bytes], object]]] = [
    ("folded-spaces", lambda n: b"a" + b" " * n + b"b\n", import_folded),
    ("folded-numbers", lambda n: b"1 " * n + b"x\n", import_folded),
    ("folded-sources", lambda n: b"f" + b" (a:1" * n + b" 1\n", import_folded),
    ("folded-classes", lambda n: b"java/lang/A 1\n" + b"a/b." * n + b"! 1\n", import_folded),
    ("austin-colons", lambda n: b"P1;T1;" + b"a:" * n + b" 1\n", import_austin),
    ("austin-numbers", lambda n: b"P1;T1;" + b"1 " * n + b"x\n", import_austin),
    ("perf-spaces", lambda n: b"a" + b" 1" * n + b"\n", import_perf_script),
    ("perf-brackets", lambda n: b"a 1 2.5: e:\n\t12 " + b"f (" * n + b"\n", import_perf_script),
    ("perf-header", lambda n: b"# event : name = a," + b"{ sample_period, sample_freq } = 1," * n
     + b"\n", import_perf_script),
]  # fmt: skip


@pytest.mark.parametrize(("build", "run"), [each[1:] for each in LINES], ids=[e[0] for e in LINES])
def test_long_lines_take_time_in_proportion(
    build: Callable[[int], bytes], run: Callable[[bytes], object]
) -> None:
    size = 1500 if b"event :" not in build(1) else 50
    assert growth(build, run, size) < 9


def test_a_budget_is_a_multiple_of_the_size_up_to_a_limit() -> None:
    for size in (0, 1000):
        budget = WorkBudget(size)
        allowed = FREE_WORK[Work.FRAMES] + WORK_PER_BYTE[Work.FRAMES] * size
        budget.spend(Work.FRAMES, allowed)
        with pytest.raises(TooLarge, match=f"A file of {size:,} bytes allows {allowed:,} frames"):
            budget.spend(Work.FRAMES, 1)
    with pytest.raises(TooLarge, match="A file to convert allows 10,000,000 frames"):
        WorkBudget(2**30).spend(Work.FRAMES, MAX_WORK[Work.FRAMES] + 1)


def chain(nodes: int) -> bytes:
    """Return a .cpuprofile in which each node calls the next one, and all have samples."""
    call = {"functionName": "f"}
    return JSON(
        {
            "nodes": [{"id": n, "callFrame": call, "parent": n - 1} for n in range(1, nodes + 1)],
            "samples": [*range(1, nodes + 1)],
            "timeDeltas": [1] * nodes,
        }
    ).encode()


def deep_trie(nodes: int) -> bytes:
    return b"\x00\x00\x01" + b"\x02a;\x01\x01" * nodes + b"\x01b\x01\x00"


def deep_tree(nodes: int) -> bytes:
    return b"\x00\x00\x01" + b"\x01a\x01\x01" * nodes + b"\x01b\x01\x00"


def deep_events(depth: int) -> bytes:
    events = [{"type": "O", "frame": 0, "at": at} for at in range(depth)]
    profile = {"type": "evented", "unit": "none", "events": events}
    return JSON({"shared": {"frames": [{"name": "f"}]}, "profiles": [profile]}).encode()


DEEP: list[tuple[Callable[[int], bytes], Callable[[bytes], object]]] = [
    (chain, import_cpu_profile),
    (deep_trie, lambda body: import_trie(body, MEANING)),
    (deep_tree, lambda body: import_tree(body, MEANING)),
    (deep_events, import_speedscope),
]


@pytest.mark.parametrize(("build", "run"), DEEP, ids=["cpuprofile", "trie", "tree", "speedscope"])
def test_stacks_that_share_frames_are_charged_by_the_size_of_the_file(
    build: Callable[[int], bytes], run: Callable[[bytes], object]
) -> None:
    assert run(build(300))
    body = build(6_000)  # of 18 million frames
    allowed = FREE_WORK[Work.FRAMES] + WORK_PER_BYTE[Work.FRAMES] * len(body)
    whole = min(allowed, MAX_WORK[Work.FRAMES])
    with pytest.raises(TooLarge, match=f"allows {whole:,} frames of all stacks"):
        run(body)


def test_metrics_of_a_speedscope_file_are_charged_for_each_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = dict(MAX_WORK) | {Work.VALUES: 64 * 40_000 - 1}
    monkeypatch.setattr("ingest.formats.work_budget.MAX_WORK", limits)
    profiles: list[dict[str, Any]] = [
        {"type": "sampled", "name": f"m{n}", "samples": [], "weights": []} for n in range(64)
    ]
    profiles[0] |= {"samples": [[0]] * 40_000, "weights": [1] * 40_000}
    shared = {"frames": [{"name": "f"}]}
    body = JSON({"exporter": "flamewatch", "shared": shared, "profiles": profiles}).encode()
    with pytest.raises(TooLarge, match="values of its events"):
        import_speedscope(body)


def recording(monkeypatch: pytest.MonkeyPatch, methods: int, name: str, symbol: str) -> bytes:
    """Return a recording with one stack of so many methods, all of one class."""
    table = {number: (name, symbol and f"{symbol}{number}") for number in range(1, methods + 1)}
    monkeypatch.setattr(recordings, "METHODS", table)
    monkeypatch.setattr(recordings, "STACKS", {1: tuple((number, 1) for number in table)})
    return recordings.chunk(recordings.sample("jdk.ExecutionSample", 1, 1, 0))


@pytest.mark.parametrize("symbol", ["", "run"])
def test_the_name_of_a_class_is_charged_for_each_method(
    symbol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check also methods without a name, which all become the same frame."""
    body = recording(monkeypatch, 2000, "com/example/" + "x" * 60_000, symbol)
    with pytest.raises(TooLarge, match="bytes of different names"):
        import_jfr(body)


def test_the_class_of_an_object_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "METHODS", {1: ("com/example/" + "x" * 200_000, "main")})
    monkeypatch.setattr(recordings, "STACKS", {n: ((1, n),) for n in range(1, 3001)})
    # Each event has a stack and a lock of its own key, and all locks are of one class.
    events = (
        recordings.sample("jdk.JavaMonitorEnter", bytes(4), 1000, stack, 1)
        for stack in range(1, 3001)
    )
    body = recordings.chunk(*events)
    with pytest.raises(TooLarge, match="bytes of different names"):
        import_jfr(body)  # one name for each line of the method


def test_labels_of_a_context_are_encoded_once() -> None:
    events = [recordings.sample("jdk.ExecutionSample", 1, state, 7) for state in (1, 2, 3)] * 200
    body = recordings.chunk(*events)
    context = {f"label-{number}": str(number) for number in range(5_000)}
    calls: list[int] = []

    class Context(dict[str, str]):
        def items(self) -> Any:
            calls.append(1)
            return super().items()

    assert import_jfr(body, {7: Context(context)})
    assert len(calls) == 1


def test_long_contexts_are_charged_for_each_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "STACKS", {n: ((1, n),) for n in range(1, 501)})
    events = [recordings.sample("jdk.ExecutionSample", stack, 1, 7) for stack in range(1, 501)]
    context = {f"label-{number}": str(number) for number in range(10_000)}
    with pytest.raises(TooLarge, match="bytes of different names"):
        import_jfr(recordings.chunk(*events), {7: context})


def test_constants_and_checkpoints_of_a_recording_are_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = dict(MAX_WORK) | {Work.VALUES: 20_000}
    monkeypatch.setattr("ingest.formats.work_budget.MAX_WORK", limits)
    sample = recordings.sample("jdk.ExecutionSample", 1, 1, 0)
    assert import_jfr(recordings.chunk(sample))
    checkpoints = [recordings.constants()] * 1000
    with pytest.raises(TooLarge, match="values of its events, constants and types"):
        import_jfr(recordings.chunk(sample, *checkpoints))


def otlp_request(profiles: int, attributes: int, own: bool) -> bytes:
    """Return profiles of one resource; `own` gives each an attribute of its own."""
    names = [field(1, field(1, b"service.name") + field(2, field(1, b"shop")))]
    names += [
        field(1, field(1, f"a{number}".encode()) + field(2, field(1, b"x")))
        for number in range(attributes)
    ]
    kind = field(1, field(1, 1) + field(2, 2)) + TIME + DURATION
    sample = field(2, field(1, 1) + field(4, varint(7)))
    bodies = b""
    tables = dictionary()
    for number in range(profiles):
        label = field(11, varint(4 + number)) if own else b""
        bodies += field(2, kind + sample + label)
    if own:
        value = (field(6, field(1, 4) + field(2, field(1, b"%d" % n))) for n in range(profiles))
        tables += b"".join(value)
    return field(1, field(1, b"".join(names)) + field(2, bodies)) + field(2, tables)


def test_attributes_of_an_otlp_resource_are_mapped_once_for_its_profiles() -> None:
    body = otlp_request(profiles=300, attributes=5_000, own=False)
    (profile,) = convert(body).profiles
    assert profile.profiles == 300
    with pytest.raises(TooLarge, match="profiles of an OTLP request allows 500,000 attributes"):
        convert(otlp_request(profiles=300, attributes=5_000, own=True))


def cpu_profile(nodes: int, samples: int) -> bytes:
    """Return a .cpuprofile like one of a real service."""
    chance = random.Random(1)
    return JSON(
        {
            "nodes": [
                {
                    "id": n + 1,
                    "callFrame": {
                        "functionName": f"handler_{n % 900}",
                        "scriptId": str(n % 300),
                        "url": f"file:///srv/app/node_modules/lib{n % 80}/index.js",
                        "lineNumber": n % 500,
                        "columnNumber": n % 90,
                    },
                    "hitCount": chance.randrange(9),
                    "parent": (n - chance.randrange(1, 3) if n % 60 > 2 else 1) if n else 0,
                    "positionTicks": [{"line": n % 500, "ticks": 3}],
                }
                for n in range(nodes)
            ],
            "startTime": 10**9,
            "endTime": 2 * 10**9,
            "samples": [chance.randrange(1, nodes) for _ in range(samples)],
            "timeDeltas": [chance.randrange(90, 2000) for _ in range(samples)],
        }
    ).encode()


def python_threads(samples: int, depth: int) -> bytes:
    """Return a speedscope file as py-spy writes it for long recordings."""
    chance = random.Random(1)
    frames = [{"name": f"fn_{n}", "file": f"/srv/mod_{n % 50}.py", "line": n} for n in range(3000)]
    shared = [[chance.randrange(3000) for _ in range(depth)] for _ in range(2000)]
    profile = {
        "type": "sampled",
        "name": "MainThread",
        "unit": "seconds",
        "startValue": 0,
        "endValue": samples / 100,
        "samples": [chance.choice(shared) for _ in range(samples)],
        "weights": [0.01] * samples,
    }
    return JSON({"shared": {"frames": frames}, "profiles": [profile]}).encode()


def chrome_trace(chunks: int) -> bytes:
    """Return a trace with many other events, as Chrome writes it."""
    nodes = json.loads(cpu_profile(2000, 10))["nodes"]
    events: list[dict[str, Any]] = [
        {"pid": 1, "tid": 1, "id": "0x1", "name": "Profile", "args": {"data": {"startTime": 5}}}
    ]
    for number in range(chunks):
        profile = {"nodes": nodes if number == 0 else [], "samples": [7, 90, 800] * 20}
        data = {"cpuProfile": profile, "timeDeltas": [125] * 60, "lines": [5] * 60}
        events.append(
            {"pid": 1, "tid": 2, "id": "0x1", "name": "ProfileChunk", "args": {"data": data}}
        )
        events += [
            {
                "pid": 1,
                "tid": 1,
                "ts": number * 1000 + n,
                "dur": 40,
                "ph": "X",
                "cat": "devtools.timeline",
                "name": "FunctionCall",
                "args": {"data": {"frame": "A1B2C3", "functionName": "f", "lineNumber": n}},
            }
            for n in range(10)
        ]
    return JSON({"traceEvents": events}).encode()


REAL: Sequence[tuple[str, Callable[[], bytes], Callable[[bytes], object]]] = [
    ("cpuprofile-samples", lambda: cpu_profile(10_000, 1_480_000), import_cpu_profile),
    ("cpuprofile-nodes", lambda: cpu_profile(55_000, 300_000), import_cpu_profile),
    ("speedscope", lambda: python_threads(74_000, 40), import_speedscope),
    ("chrome-trace", lambda: chrome_trace(6_800), import_cpu_profile),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "run"), [each[1:] for each in REAL], ids=[e[0] for e in REAL])
def test_files_of_real_programs_near_the_limit_are_accepted(
    build: Callable[[], bytes], run: Callable[[bytes], object]
) -> None:
    body = build()
    assert 0.85 * json_document.MAX_JSON_BYTES < len(body) <= json_document.MAX_JSON_BYTES
    assert run(body)


@pytest.mark.parametrize(
    "items",
    [
        b"1,", b"1000,", b"9223372036854775807,", b"1e1,", b'"ab",', '"é€",'.encode(),
        '"\U0001f600aaaaaaaaaa",'.encode(), b"{},", b'{"a":1},', b"[1],", b"[1,1,1],",
        b'{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1},', b'"' + b"a" * 500 + b'",',
        b"[" * 50 + b"1" + b"]" * 50 + b",", b'{"a":' * 50 + b"1" + b"}" * 50 + b",",
    ],
)  # fmt: skip
def test_the_estimate_of_json_covers_what_the_parser_needs(items: bytes) -> None:
    body = b'{"a":[' + items * (200_000 // len(items)) + b"1]}"
    budget = WorkBudget(2**30)
    needed = peak_bytes(lambda: json_document.parse(body, "test", budget))
    assert needed <= 1.1 * budget.count_used(Work.JSON_BYTES)


def test_the_estimate_of_real_files_is_near_what_the_parser_needs() -> None:
    bodies = [cpu_profile(2_000, 50_000), python_threads(5_000, 30), chrome_trace(300)]
    bodies += [imported.sample("node-20.cpuprofile"), imported.sample("py-spy.speedscope.json")]
    for body in bodies:
        budget = WorkBudget(2**30)
        needed = peak_bytes(lambda: json_document.parse(body, "test", budget))  # noqa: B023
        assert needed <= budget.count_used(Work.JSON_BYTES) < 1.8 * needed


def test_nodes_of_a_heap_profile_are_charged_for_their_depth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node: dict[str, Any] = {"callFrame": {"functionName": "f"}, "selfSize": 1, "children": []}
    for _ in range(100):
        node = {"callFrame": {"functionName": "f"}, "selfSize": 1, "children": [node]}
    body = JSON({"head": node}).encode()
    assert import_heap_profile(body)
    limits = dict(MAX_WORK) | {Work.FRAMES: 5_000}  # of 5,050
    monkeypatch.setattr("ingest.formats.work_budget.MAX_WORK", limits)
    with pytest.raises(TooLarge, match="frames of all stacks"):
        import_heap_profile(body)

"""Importers of text and JSON formats: files that the real profilers wrote, and their variants."""

import json
from typing import Any, cast

import pytest

from ingest.formats.detect import FileFormat, detect, import_file
from ingest.formats.import_options import ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.work_budget import MAX_WORK, Work
from profiles.engine.errors import BadProfile, TooLarge
from projects.profile_types import ProfileType
from tests.ingest.formats import imported
from tests.ingest.pprof import SIMPLE
from tests.paths import SAMPLES

MAX_RAW = 2**24


def converted(
    body: bytes, type: ProfileType | None = None, unit: str = "", form: FileFormat | None = None
) -> list[ImportedProfile]:
    return import_file(body, ImportOptions(type, unit), MAX_RAW, form).profiles


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("jdk-17.jfr.gz", FileFormat.JFR),
        ("async-profiler-4.jfr.gz", FileFormat.JFR),
        ("async-profiler.collapsed", FileFormat.FOLDED),
        ("py-spy.raw", FileFormat.FOLDED),
        ("py-spy.speedscope.json", FileFormat.SPEEDSCOPE),
        ("austin-wall.txt", FileFormat.AUSTIN),
        ("austin-mem.txt", FileFormat.AUSTIN),
        ("perf-script.txt", FileFormat.PERF_SCRIPT),
        ("node-20.cpuprofile", FileFormat.CPU_PROFILE),
        ("node-20.heapprofile", FileFormat.HEAP_PROFILE),
    ],
)
def test_a_format_is_recognised_by_the_content(name: str, form: FileFormat) -> None:
    body = imported.sample(name)
    assert import_file(body, ImportOptions(), MAX_RAW).format is form


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.pb.gz")), ids=lambda path: path.stem)
def test_pprof_files_have_the_type_of_their_values(path: Any) -> None:
    file = import_file(path.read_bytes(), ImportOptions(), MAX_RAW)
    types = {"cpu": "CPU", "wall": "WALL", "heap": "HEAP", "mutex": "CONTENTION"}
    types["heap-delta"] = "HEAP_ALLOC"
    word = path.name.split(".")[0].split("-", 1)[1]
    assert file.format is FileFormat.PPROF
    assert [profile.type for profile in file.profiles] == [types.get(word, "THREADS")]


def test_difference_of_two_heap_profiles_is_imported_as_allocations() -> None:
    body = (SAMPLES / "go-heap-delta.pb.gz").read_bytes()
    [delta] = converted(body)
    assert delta.type is ProfileType.HEAP_ALLOC
    assert delta.sample_types == ("alloc_objects", "alloc_space")
    assert "difference of two heap profiles" in delta.warnings[0]
    [stated] = converted(body, ProfileType.HEAP)
    assert (stated.type, stated.sample_types) == (ProfileType.HEAP, ())


def test_austins_samples_have_their_times_in_microseconds() -> None:
    [wall] = converted(imported.sample("austin-wall.txt"))
    assert (wall.type, wall.duration_ns) == (ProfileType.WALL, 1_914_966_000)
    assert imported.totals(wall)["wall"] == 1_915_316_000
    assert ("wait", "/app/shop.py", 7) in imported.frames(wall)
    assert "<module>;main;wait" in imported.stacks(wall)


def test_austins_full_mode_is_wall_cpu_and_allocations() -> None:
    found = {each.type: each for each in converted(imported.sample("austin-full.txt"))}
    assert [*found] == [ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP_ALLOC]
    cpu, wall = (imported.stacks(found[type]) for type in (ProfileType.CPU, ProfileType.WALL))
    assert sum(cpu.values()) < sum(wall.values())
    [only] = converted(imported.sample("austin-full.txt"), ProfileType.CPU)
    assert only == found[ProfileType.CPU]


def test_austins_other_modes_are_one_type() -> None:
    [cpu] = converted(imported.sample("austin-cpu.txt"))
    [memory] = converted(imported.sample("austin-mem.txt"))
    assert (cpu.type, memory.type) == (ProfileType.CPU, ProfileType.HEAP_ALLOC)
    with pytest.raises(BadProfile, match="no HEAP samples; it has CPU"):
        converted(imported.sample("austin-cpu.txt"), ProfileType.HEAP)


def test_austins_binary_format_is_rejected_with_the_command_that_converts_it() -> None:
    with pytest.raises(BadProfile, match="mojo2austin"):
        converted(b"MOJ\x03\x01")


def test_py_spys_frames_have_files_and_lines() -> None:
    [cpu] = converted(imported.sample("py-spy.raw"))
    assert imported.totals(cpu) == {"samples": 101}
    assert ("main", "shop.py", 12) in imported.frames(cpu)


def test_py_spys_speedscope_file_is_cpu_time() -> None:
    [cpu] = converted(imported.sample("py-spy.speedscope.json"))
    assert (cpu.type, cpu.duration_ns) == (ProfileType.CPU, 1_290_000_000)
    assert imported.totals(cpu) == {"cpu": 1_290_000_000}
    [wall] = converted(imported.sample("py-spy.speedscope.json"), ProfileType.WALL)
    assert imported.totals(wall) == {"wall": 1_290_000_000}


def test_async_profilers_folded_stacks_have_the_names_of_its_recordings() -> None:
    [cpu] = converted(imported.sample("async-profiler.collapsed"))
    stacks = imported.stacks(cpu)
    assert sum(stacks.values()) == 13
    assert any(";com.example.Shop$$Lambda.run;" in stack for stack in stacks)
    assert not any("_[k]" in stack for stack in stacks)


def test_perf_scripts_samples_have_the_command_as_root_and_their_period_as_time() -> None:
    [cpu] = converted(imported.sample("perf-script.txt"))
    assert imported.totals(cpu) == {"samples": 17, "cpu": 17 * 10_101_010}
    assert all(stack.startswith("python;") for stack in imported.stacks(cpu))
    names = {name for name, _, _ in imported.frames(cpu)}
    assert {"clear_page_erms", "_PyEval_EvalFrameDefault"} <= names
    assert cpu.warnings == ()


PERF = b"""
java 12/34 [002] 10.000001:        500 cycles:u:
\t    7f00 Shop::price(int)+0x10 (/app/shop (deleted))
\t    7f01 main+0x1 (/app/shop)

my program 9 11.5: page-faults:
\t    7f00 load (/app/other)

java 12/34 [002] 12.000001:        700 cycles:u:
\t    7f01 main+0x9 (/app/shop)
what is this
"""


def test_perf_scripts_frames_need_no_binary() -> None:
    text = b"shop 1/1 2.5: 10 cpu-clock:\n\t11b9 operator new(unsigned long)\n\t127c main\n\n"
    [cpu] = converted(text)
    assert imported.stacks(cpu) == {"shop;main;operator new(unsigned long)": 10}


def test_perf_script_counts_the_first_event_and_reports_the_rest() -> None:
    [cpu] = converted(PERF)
    assert imported.totals(cpu) == {"samples": 2, "cycles": 1200}
    assert set(imported.stacks(cpu)) == {"java;main", "java;main;Shop::price(int)"}
    assert cpu.duration_ns == 2 * 10**9
    assert cpu.warnings == (
        "Samples of another event, page-faults, were left out: 1.",
        "Unreadable lines, which were left out: 1; the first is 11.",
    )


WITHOUT_PERIODS = b"""
java 12/34 [002] 10.000001: cycles:u:
\t    7f00 Shop::price(int)+0x10 (/app/shop)
\t    7f01 main+0x1 (/app/shop)

java 12/34 [002] 12.000001: cycles:u:
\t    7f01 main+0x9 (/app/shop)
"""
EVENT = (
    b"# event : name = cycles:u, , id = { 5 }, type = 0, { sample_period, sample_freq } = 250, "
    b"sample_type = IP|TID|TIME, disabled = 1, inherit = 1, freq = 1, precise_ip = 3\n"
)


@pytest.mark.parametrize(
    ("header", "hertz"),
    [
        (EVENT.replace(b"cycles:u", b"cycles"), 250),
        (b"# cmdline : /usr/bin/perf record -F 99 -g -- java Shop\n", 99),
        (b"# cmdline : /usr/bin/perf record --freq=1000 -g\n", 1000),
    ],
)
def test_perf_scripts_samples_without_periods_count_the_recordings_frequency(
    header: bytes, hertz: int
) -> None:
    [cpu] = converted(header + WITHOUT_PERIODS)
    assert imported.totals(cpu) == {"samples": 2, "cpu": 2 * (10**9 // hertz)}
    (warning,) = cpu.warnings
    assert f"{hertz:,} Hz" in warning


def test_perf_scripts_samples_without_periods_and_frequency_are_counted() -> None:
    [cpu] = converted(WITHOUT_PERIODS)
    assert imported.totals(cpu) == {"samples": 2}
    assert imported.stacks(cpu) == {"java;main": 1, "java;main;Shop::price(int)": 1}
    (warning,) = cpu.warnings
    assert "perf script -F +period" in warning


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"# callgrind format\nversion: 1\nevents: Ir\nfn=main\n16 400\n", "Callgrind"),
        (b"version: 1\ncreator: callgrind-3.19\npositions: line\nevents: Ir\n", "Callgrind"),
        (b"PK\x03\x04" + bytes(40), "ZIP archive"),
        (b'[{"ph":"X","name":"Task","ts":1}]', "JSON array"),
        (b'{"traceEvents":[{"ph":"X","name":"Task","ts":1}]}', "no CPU profile"),
        (b"\xff\xfe\x00\xd8", "UTF-16"),
    ],
)
def test_files_of_other_formats_are_rejected_by_name(body: bytes, reason: str) -> None:
    with pytest.raises(BadProfile, match=reason):
        converted(body)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_texts_may_begin_with_a_byte_order_mark(encoding: str) -> None:
    [cpu] = converted("main;façade 3\n".encode(encoding))
    assert imported.stacks(cpu) == {"main;façade": 3}


OLD_CPU_PROFILE = {
    "head": {
        "functionName": "(root)",
        "url": "",
        "lineNumber": 0,
        "id": 1,
        "hitCount": 0,
        "children": [
            {
                "functionName": "pay",
                "url": "file:///app/shop.js",
                "lineNumber": 4,
                "id": 2,
                "hitCount": 3,
                "children": [],
            }
        ],
    },
    "startTime": 100,
    "endTime": 100.5,
    "samples": [2, 2, 2],
}


def test_old_cpu_profiles_have_a_tree_of_nodes_and_seconds() -> None:
    [cpu] = converted(json.dumps(OLD_CPU_PROFILE).encode())
    assert imported.totals(cpu) == {"samples": 3, "cpu": 500_000_000}
    assert imported.frames(cpu) == {("pay", "/app/shop.js", 4)}
    assert cpu.duration_ns == 500_000_000
    with_times = OLD_CPU_PROFILE | {"timestamps": [7_000_000, 7_100_000, 7_400_000]}
    [cpu] = converted(json.dumps(with_times).encode())
    assert imported.totals(cpu) == {"samples": 3, "cpu": 500_000_000}


def test_chrome_traces_have_a_cpu_profile_of_each_thread_in_pieces() -> None:
    def chunk(id: str, nodes: list[Any], samples: list[int], deltas: list[int]) -> dict[str, Any]:
        profile = {"nodes": nodes, "samples": samples}
        args = {"data": {"cpuProfile": profile, "timeDeltas": deltas}}
        return {"name": "ProfileChunk", "ph": "P", "pid": 7, "id": id, "args": args}

    root = {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}}
    call = {"functionName": "pay", "url": "https://shop.example/app.js", "lineNumber": 3}
    events = [
        {"name": "Task", "ph": "X", "ts": 5, "dur": 2},
        {
            "name": "Profile",
            "ph": "P",
            "pid": 7,
            "id": "0x1",
            "args": {"data": {"startTime": 1000}},
        },
        chunk("0x1", [root, {"id": 2, "parent": 1, "callFrame": call}], [2, 2], [100, 200]),
        chunk("0x1", [], [2], [300]),
        {
            "name": "Profile",
            "ph": "P",
            "pid": 7,
            "id": "0x2",
            "args": {"data": {"startTime": 1100}},
        },
        chunk("0x2", [root, {"id": 2, "parent": 1, "callFrame": call}], [2, 2], [0, 50]),
    ]
    [cpu] = converted(json.dumps({"traceEvents": events}).encode())
    # Each sample lasts until the next one: 200 + 300 µs of one thread, 50 µs of the other.
    assert imported.totals(cpu) == {"samples": 5, "cpu": 550_000}
    assert imported.frames(cpu) == {("pay", "https://shop.example/app.js", 4)}
    assert cpu.duration_ns == 600_000


def test_two_profilers_of_one_thread_count_once() -> None:
    root = {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}}
    call = {"functionName": "pay", "url": "app.js", "lineNumber": 3}
    nodes = [root, {"id": 2, "parent": 1, "callFrame": call}]
    events: list[dict[str, Any]] = []
    # The second one runs during the first, the third after it.
    for id, start, samples in (("0x1", 1000, 3), ("0x2", 1050, 2), ("0x3", 2000, 2)):
        data = {"cpuProfile": {"nodes": nodes, "samples": [2] * samples}}
        chunk = {"args": {"data": {**data, "timeDeltas": [100] * samples}}}
        whole = {"args": {"data": {"startTime": start}}, "name": "Profile", "tid": 7}
        events += (
            {**each, "pid": 7, "id": id} for each in (whole, chunk | {"name": "ProfileChunk"})
        )
    [cpu] = converted(json.dumps({"traceEvents": events}).encode())
    assert imported.totals(cpu) == {"samples": 5, "cpu": 300_000}
    assert cpu.warnings == ("Profiles of a thread at the time of a larger one were left out: 1.",)


def test_v8_cpu_profiles_have_the_time_until_the_next_sample() -> None:
    [cpu] = converted(imported.sample("node-20.cpuprofile"))
    [wall] = converted(imported.sample("node-20.cpuprofile"), ProfileType.WALL)
    assert ("checkout", "/app/shop.js", 4) in imported.frames(cpu)
    assert "(idle)" in {name for name, _, _ in imported.frames(wall)}
    assert imported.totals(cpu)["cpu"] < imported.totals(wall)["wall"] <= (wall.duration_ns or 0)


def test_v8_heap_profiles_have_the_sizes_of_their_nodes() -> None:
    body = imported.sample("node-20.heapprofile")
    [heap] = converted(body)
    pending, size = [json.loads(body)["head"]], 0
    while pending:
        node = pending.pop()
        size += node["selfSize"]
        pending += node["children"]
    assert imported.totals(heap) == {"inuse_space": size}
    assert any(stack.endswith("checkout;allocate") for stack in imported.stacks(heap))


@pytest.mark.parametrize(
    ("text", "stacks"),
    [
        (b"main;work 3\r\nmain;work 4\n\n# comment\n", {"main;work": 7}),
        (b"main;operator new(unsigned long) 2", {"main;operator new(unsigned long)": 2}),
        (b"main;;work 2.6", {"main;work": 3}),
        (b"swapper;read_[k];inlined_[i] 1", {"swapper;read;inlined": 1}),
        (b"java/lang/Thread.run_[j];a/B.c_[i] 5", {"java.lang.Thread.run;a.B.c": 5}),
        (b"net/http.Serve;encoding/json.Marshal 5", {"net/http.Serve;encoding/json.Marshal": 5}),
        ("f\xfcr;b\u00e4r 1".encode(), {"für;bär": 1}),
    ],
)
def test_variants_of_folded_stacks_are_read(text: bytes, stacks: dict[str, int]) -> None:
    [profile] = converted(text)
    assert imported.stacks(profile) == stacks


def test_lines_without_a_value_are_reported() -> None:
    [profile] = converted(b"main 1\nwhat\nmain;work 99999999999999999999\n")
    assert imported.stacks(profile) == {"main": 1}
    assert profile.warnings == ("Unreadable lines, which were left out: 2; the first is 2.",)


@pytest.mark.parametrize(
    ("type", "unit", "metric", "value"),
    [
        (None, "", "samples", 2),
        (ProfileType.WALL, "microseconds", "wall", 2000),
        (ProfileType.HEAP, "", "inuse_space", 2),
        (ProfileType.CONTENTION, "", "delay", 2),
        (ProfileType.HEAP_ALLOC, "count", "samples", 2),
    ],
)
def test_values_have_the_stated_type_and_unit(
    type: ProfileType | None, unit: str, metric: str, value: int
) -> None:
    [profile] = converted(b"main 2", type, unit)
    assert imported.totals(profile) == {metric: value}


def test_a_unit_that_the_type_lacks_is_rejected() -> None:
    with pytest.raises(BadProfile, match="CPU profile has no values in bytes"):
        converted(b"main 2", ProfileType.CPU, "bytes")


def speedscope(*profiles: dict[str, object], **fields: object) -> bytes:
    frames = [{"name": "main", "file": "a.py", "line": 3}, {"name": "work"}]
    document = {"shared": {"frames": frames}, "profiles": profiles, **fields}
    return json.dumps(document).encode()


EVENTED: dict[str, object] = {
    "type": "evented",
    "name": "t1",
    "unit": "milliseconds",
    "startValue": 10,
    "endValue": 20,
    "events": [
        {"type": "O", "frame": 0, "at": 10},
        {"type": "O", "frame": 1, "at": 12},
        {"type": "C", "frame": 1, "at": 15.5},
        {"type": "C", "frame": 0, "at": 20},
    ],
}
SAMPLED: dict[str, object] = {
    "type": "sampled",
    "name": "t2",
    "unit": "milliseconds",
    "samples": [[0], [0, 1]],
    "weights": [1, 2],
}


def test_events_of_speedscope_are_the_time_between_them() -> None:
    [cpu] = converted(speedscope(EVENTED))
    assert imported.stacks(cpu) == {"main": 6_500_000, "main;work": 3_500_000}
    assert imported.labels(cpu) == set()


def test_threads_of_speedscope_are_labels() -> None:
    [cpu] = converted(speedscope(EVENTED, SAMPLED))
    assert imported.stacks(cpu) == {"main": 7_500_000, "main;work": 5_500_000}
    assert imported.labels(cpu) == {("thread", "t1"), ("thread", "t2")}


def test_units_of_speedscope_are_types() -> None:
    found = converted(speedscope(SAMPLED, SAMPLED | {"unit": "bytes"}))
    assert [profile.type for profile in found] == [ProfileType.CPU, ProfileType.HEAP]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"main", "folded stack with its value"),
        (b'{"a": 1}', "speedscope, .cpuprofile, .heapprofile and Chrome traces"),
        (b'{"shared": {}, "profiles": [', "not valid JSON"),
        (speedscope(), "no profiles"),
        (speedscope(SAMPLED | {"samples": [[7], [0]]}), "the frame 7 of 2"),
        (speedscope(SAMPLED | {"weights": [1]}), "2 samples have 1 weights"),
        (speedscope(SAMPLED | {"weights": [1, -1]}), "negative"),
        (speedscope(SAMPLED | {"weights": [1, 1e300]}), "no usable number"),
        (speedscope(SAMPLED | {"type": "traced"}), "not sampled or evented"),
        (b'{"nodes": [{"id": 1, "callFrame": 3}], "samples": [1], "timeDeltas": [1]}', "callFrame"),
        (b'{"nodes": [{"id": "x", "callFrame": {}}]}', "has the id x"),
        (b'{"head": [], "callFrame": 1, "x": {"callFrame": 1}}', "no head"),
        (b"\x0a\x01", "profile"),
    ],
)
def test_files_that_cannot_be_read_are_rejected_with_the_reason(body: bytes, words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        converted(body)


def test_a_loop_of_nodes_is_rejected() -> None:
    frame = {"functionName": "f", "lineNumber": 1}
    nodes = [{"id": id, "callFrame": frame, "children": [3 - id]} for id in (1, 2)]
    document = {"nodes": nodes, "samples": [1], "timeDeltas": [1], "endTime": 5}
    with pytest.raises(BadProfile, match="over 10,000 frames"):
        converted(json.dumps(document).encode())


def test_more_frames_than_the_limit_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[Work, int]", MAX_WORK), Work.FRAMES, 5)
    with pytest.raises(TooLarge, match="5 frames of all stacks"):
        converted(b"a;b;c 1\na;b;d 1\n")


def test_a_stated_format_is_used_whatever_the_content_seems_to_be() -> None:
    [profile] = converted(b"P1;T2;a 5", form=FileFormat.FOLDED)
    assert imported.stacks(profile) == {"P1;T2;a": 5}
    assert detect(b"P1;T2;a 5") is FileFormat.AUSTIN
    with pytest.raises(BadProfile):
        converted(SIMPLE, form=FileFormat.SPEEDSCOPE)

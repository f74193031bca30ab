"""Files of other profilers: their importers, and the profiles that come out of them."""

import gzip
import json
from collections.abc import Callable, Sequence
from functools import cache, partial

from ingest.formats.austin import import_austin
from ingest.formats.detect import detect, import_file
from ingest.formats.folded import import_folded
from ingest.formats.import_options import ImportOptions
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.perf_script import import_perf_script
from ingest.formats.speedscope import import_speedscope
from ingest.formats.v8_profiles import import_cpu_profile, import_heap_profile
from profiles.engine.calltree.tree import Tree
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.exports import speedscope
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.gunzip import gunzip
from projects.profile_types import ProfileType
from tests.fuzz import seeds
from tests.fuzz.cost import TREE_COST, CostBound
from tests.fuzz.fuzz_target import FuzzTarget, InputForm
from tests.ingest.formats import imported
from tests.ingest.formats.jfr.recordings import chunk, sample, setting

MAX_RAW = 2**20  # bytes that a gzip body may expand to
# The call tree of an imported pprof may exceed its size by more than the default factor.
LIMITS = DecodeLimits(max_expansion=2**20)
_REJECTIONS = (BadProfile, TooLarge)
_SEED_BYTES = 6000  # of a seed that is cut from a sample


def _check(profiles: Sequence[ImportedProfile]) -> None:
    """Decode what an importer returns: it is never empty, and its values are not negative."""
    assert profiles, "nothing was imported, and nothing rejected"
    for profile in profiles:
        assert profile.start_ns is None or profile.start_ns > 0
        assert profile.duration_ns is None or profile.duration_ns > 0
        decoded = decode_profile(profile.pprof, profile.type, LIMITS)
        assert min(decoded.totals) >= 0
        assert all(len(warning) < 500 for warning in profile.warnings)


def _check_importer(
    importer: Callable[[bytes, ImportOptions], list[ImportedProfile]],
) -> Callable[[bytes], None]:
    """Return the `run` of a target: import the input and check the profiles."""

    def run(data: bytes) -> None:
        _check(importer(data, ImportOptions()))

    return run


def _recording(data: bytes) -> None:
    profiles = import_jfr(data, {1: {"endpoint": "/"}}, MAX_RAW)
    _check(profiles)
    assert profiles == import_jfr(gzip.compress(data, 1), {1: {"endpoint": "/"}}, MAX_RAW)


def _v8_profile(data: bytes) -> None:
    importer = import_heap_profile if b'"head"' in data else import_cpu_profile
    _check(importer(data, ImportOptions()))


def _any_file(data: bytes) -> None:
    """Convert a file of an unknown format, with a stated type for some of them."""
    type = [None, *ProfileType][data[-1] % 8] if data else None
    file = import_file(data, ImportOptions(type), MAX_RAW)
    assert file.profiles
    if not data.startswith(b"\x1f\x8b"):
        assert file.format is detect(data)


@cache
def _recordings() -> Sequence[bytes]:
    every = [
        setting("jdk.ActiveRecording", "event", "cpu"),
        setting("jdk.ExecutionSample", "interval", "10000000"),
        *(sample("jdk.ExecutionSample", 1, state, 1) for state in (1, 2, 3)),
        sample("jdk.NativeMethodSample", 2),
        sample("jdk.JavaMonitorEnter", bytes(4), 1_500, 1, 1),
    ]
    one = chunk(sample("jdk.ExecutionSample", 1, 1, 0), sample("jdk.CPUTimeSample", 2, b"\0", 9))
    return chunk(*every), one, one + one, chunk()


def _lines(name: str, size: int = _SEED_BYTES) -> bytes:
    """Return the first whole lines of a sample."""
    return imported.sample(name)[:size].rpartition(b"\n")[0] + b"\n"


def _folded() -> Sequence[bytes]:
    return (
        _lines("async-profiler.collapsed"),
        _lines("py-spy.raw"),
        b"main;work_[k];a.b (c.py:3) 12.5\n# comment\nbad\n;; 3\n" + b"a;" * 50 + b"b 9\n",
    )


def _austin() -> Sequence[bytes]:
    names = ("austin-wall.txt", "austin-full.txt", "austin-mem.txt", "austin-cpu.txt")
    return [_lines(name, 2000) for name in names]


def _perf() -> Sequence[bytes]:
    text = _lines("perf-script.txt", 3000)
    return (
        text,
        text.replace(b"cpu-clock", b"cycles:u"),
        b"a b 1/2 [003] 4.5: 6 e: \n\t12 f+0x1 (g)\n",
    )


@cache
def _speedscope() -> Sequence[bytes]:
    tree: Tree = seeds.trees()[0]
    frames = {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "work"}]}
    events = [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 2.5}]
    evented = {"type": "evented", "unit": "seconds", "startValue": 0, "events": events}
    weights = {"samples": [[0], [0, 1]], "weights": [1, 2.5]}
    sampled = {"type": "sampled", "name": "t", "unit": "bytes"} | weights
    return (
        imported.sample("py-spy.speedscope.json"),
        speedscope.encode(tree),
        json.dumps({"shared": frames, "profiles": [evented, sampled, sampled]}).encode(),
    )


@cache
def _v8() -> Sequence[bytes]:
    call = {"functionName": "f", "url": "file:///a.js", "lineNumber": 1}
    leaf = {"callFrame": call, "selfSize": 10, "id": 2, "children": []}
    heap = {"head": {"callFrame": call, "selfSize": 0, "id": 1, "children": [leaf]}}
    hits = {"nodes": [{"id": 1, "callFrame": call, "hitCount": 3}], "startTime": 1, "endTime": 9}
    return (
        imported.sample("node-20.cpuprofile"),
        json.dumps(heap).encode(),
        json.dumps(hits).encode(),
    )


def _unpacked_size(data: bytes) -> int:
    """Return the bytes that a file may take after gunzip, which its cost may follow."""
    try:
        return len(gunzip(data, MAX_RAW))
    except TooLarge:
        return MAX_RAW
    except BadProfile:
        return len(data)


def _select_files() -> Sequence[bytes]:
    """Return one or two seeds of each format, and one of them gzipped."""
    return (
        *(_recordings()[1], _folded()[1], _austin()[0], _perf()[2], _speedscope()[2], *_v8()[1:]),
        *(gzip.compress(_folded()[2], mtime=0), *seeds.raw_profiles()[:2]),
    )


_target = partial(FuzzTarget, rejections=_REJECTIONS, max_size=8192, cost=CostBound())
_TEXT = (b";", b" 1\n", b"_[k]", b"\n\n", b"# ", b":")
TARGETS = (
    _target(name="jfr", run=_recording, seeds=_recordings, dictionary=(b"FLR\0", b"\x80" * 9)),
    _target(name="folded", run=_check_importer(import_folded), seeds=_folded, dictionary=_TEXT),
    _target(name="austin", run=_check_importer(import_austin), seeds=_austin, dictionary=_TEXT),
    _target(
        name="perf-script", run=_check_importer(import_perf_script), seeds=_perf, dictionary=_TEXT
    ),
    _target(
        name="speedscope",
        run=_check_importer(import_speedscope),
        seeds=_speedscope,
        form=InputForm.TEXT,
    ),
    _target(name="v8-profile", run=_v8_profile, seeds=_v8, form=InputForm.TEXT, cost=TREE_COST),
    _target(
        name="import-file", run=_any_file, seeds=_select_files, cost=CostBound(size=_unpacked_size)
    ),
)

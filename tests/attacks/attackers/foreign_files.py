"""Files of other profilers that are small on the wire and large in time or memory to convert."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from tests.attacks.bounds import Request
from tests.attacks.server import Site
from tests.ingest.formats.jfr import recordings

_CALL = b'"callFrame":{"functionName":"f","url":"","lineNumber":1}'
_PERF_HEAD = b"shop 1/1 [000] 1.000001: 1000 cpu-clock:\n"


@cache
def nested_types() -> bytes:
    """Return a recording whose event has 8 fields of a type with 8 fields, and so on."""
    names = [name for name in recordings.IDS if name.startswith("jdk.")]
    types: dict[str, Sequence[recordings.Field]] = {
        name: [(f"f{number}", inner, "") for number in range(8)] for name, inner in pairwise(names)
    }
    event = recordings.event(recordings.IDS[names[0]], b"")
    return recordings.chunk(event, types={**recordings.TYPES, **types, names[-1]: []})


@cache
def millions_of_nodes() -> bytes:
    """Return a gzip of a CPU profile of V8 with five million empty nodes."""
    return gzip.compress(b'{"nodes":[' + b"{}," * 5_000_000 + b'{}],"x":{"callFrame":1}}', 9)


@cache
def growing_names() -> bytes:
    """Return a gzip of a trie of 499,000 nodes below one another, 400 to a function."""
    function = b"\x0aname-name-\x00\x01" * 399 + b"\x01;\x00\x01"
    return gzip.compress(function * 1_247 + b"\x01x\x01\x00", 9)


@cache
def deep_samples() -> bytes:
    """Return a gzip of a CPU profile of V8 with a sample in each of 9,000 nested functions."""
    nodes = b",".join(
        b'{"id":%d,%s,"hitCount":1,"children":[%d]}' % (number, _CALL, number + 1)
        for number in range(9_000)
    )
    return gzip.compress(b'{"nodes":[' + nodes + b'],"startTime":0,"endTime":9}', 9)


@cache
def lines_of_spaces() -> bytes:
    """Return a gzip of texts of perf whose lines are words and spaces up to their longest."""
    line = b"a" + b" " * 8_000 + b"1\n"
    frame = b"  1 " + b"f (" * 2_600 + b"\n"
    return gzip.compress(_PERF_HEAD + b"  1 f (g)\n" + (line + frame) * 250, 9)


@cache
def many_checkpoints() -> bytes:
    """Return a recording of 1.3 MB of checkpoints with constants, and of small events."""
    sample = recordings.sample("jdk.ExecutionSample", 1, 1, 0)
    return recordings.chunk(*([recordings.constants()] * 3_000), *([sample] * 50_000))


@cache
def wide_heap() -> bytes:
    """Return a heap profile of V8 of 8.7 MB with as many children of its root as fit."""
    child = b'{%s,"selfSize":1}' % _CALL
    children = b",".join([child] * (8_700_000 // (len(child) + 1)))
    return b'{"head":{%s,"selfSize":0,"children":[%s]}}' % (_CALL, children)


IMPORTED: Mapping[str, Callable[[], bytes]] = {
    "nested types": nested_types,
    "millions of nodes": millions_of_nodes,
    "deep samples": deep_samples,
    "lines of spaces": lines_of_spaces,
    "many checkpoints": many_checkpoints,
    "wide heap": wide_heap,
}


def imports(body: Callable[[], bytes], **params: str) -> Callable[[Site], Sequence[Request]]:
    """Return one import of a file."""
    query = "&".join(f"{name}={value}" for name, value in {"service": "a", **params}.items())
    return lambda site: [Request("POST", f"/api/v1/projects/-/profiles:import?{query}", body())]


def ingested(body: Callable[[], bytes], form: str) -> Callable[[Site], Sequence[Request]]:
    """Return one upload in a format of Pyroscope."""
    path = f"/ingest?name=a&from=1&until=11&format={form}"
    return lambda site: [Request("POST", path, body(), {"Content-Type": "binary/octet-stream"})]


def otlp_json(site: Site) -> Sequence[Request]:
    """Return one export of OTLP in JSON with a million empty objects."""
    body = b'{"resourceProfiles":[' + b"{}," * 1_000_000 + b"{}]}"
    return [Request("POST", "/v1development/profiles", body)]

"""Measure the CPU cost of an upload from its bytes to the stored row."""

import gzip
import sys

from benchmarks.tools.shapes import captured, variants
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import cpu_ms
from profiles.engine.encoding.codec import encode
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.gunzip import gunzip
from tests.profiles.pprof_proto import Profile

LIMITS = DecodeLimits()
MOST = 2**27


def by_protobuf(raw: bytes) -> dict[tuple[int, int, int], list[int]]:
    """Sum self values by (parent, function, line) with protobuf and a Python loop, as a peer."""
    message = Profile.FromString(raw)
    lines = {
        location.id: [(line.function_id, line.line) for line in location.line]
        for location in message.location
    }
    nodes: dict[tuple[int, int, int], int] = {}
    own: dict[tuple[int, int, int], list[int]] = {}
    for sample in message.sample:
        node = -1
        for location in reversed(sample.location_id):
            for function, line in reversed(lines[location]):
                key = (node, function, line)
                node = nodes.setdefault(key, len(nodes))
        sums = own.setdefault(key, [0] * len(sample.value))
        for k, value in enumerate(sample.value):
            sums[k] += value
    return own


def main() -> int:
    raw = next(variants(1))
    body = gzip.compress(raw, 1)
    tree = decode_profile(raw, "CPU", LIMITS).tree
    heap = bytes(captured("go-heap").SerializeToString())
    peer = cpu_ms(lambda: by_protobuf(raw), rounds=5, times=5)
    within_limits = show(
        f"Decode: a Go CPU profile of {len(raw) / 1e3:.0f} kB, {len(body) / 1e3:.0f} kB gzip, "
        f"{len(tree.id):,} nodes",
        [
            Figure("gunzip", cpu_ms(lambda: gunzip(body, MOST)), "ms CPU"),
            Figure(
                "decode",
                cpu_ms(lambda: decode_profile(raw, "CPU", LIMITS)),
                "ms CPU",
                peer=f"protobuf and a Python loop: {peer:.1f}",
            ),
            Figure(
                "gunzip and decode",
                cpu_ms(lambda: decode_profile(gunzip(body, MOST), "CPU", LIMITS)),
                "ms CPU",
                1.0,
            ),
            Figure("encode", cpu_ms(lambda: encode(tree)), "ms CPU", 0.5),
            Figure("stored in the head", len(encode(tree)) / 1e3, "kB"),
            Figure(
                f"decode of a Go heap of {len(heap) / 1e3:.0f} kB",
                cpu_ms(lambda: decode_profile(heap, "HEAP", LIMITS), times=5),
                "ms CPU",
            ),
        ],
    )
    return 0 if within_limits else 1


if __name__ == "__main__":
    sys.exit(main())

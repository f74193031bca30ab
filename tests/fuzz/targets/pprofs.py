"""Uploaded profiles: gunzip, decoding, and the row that is stored."""

import gzip
import zlib
from datetime import timedelta
from functools import cache

import orjson

from endpoints.errors import BadField
from ingest.cloud_profiler.responses import describe_stored
from ingest.deployments import Target
from ingest.uploads.decode_job import BodyLimits, decode_body
from ingest.uploads.pipeline import StoredUpload, parse_self_report
from ingest.uploads.upload import OfflineUpload
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import codec
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.encode import encode
from profiles.engine.pprof.gunzip import gunzip
from projects.profile_types import ProfileType
from tests.fuzz import seeds
from tests.fuzz.cost import TREE_COST, CostBound
from tests.fuzz.fuzz_target import FuzzTarget, InputForm
from tests.ingest.pprof import field
from tests.profiles.engine.random_trees import PathNumbers, meaning

LIMITS = DecodeLimits()
# An exported profile may be smaller than the profile that it comes from.
OF_EXPORTS = DecodeLimits(max_total=2**63 - 1, max_expansion=2**20)
MAX_RAW = 2**18  # bytes that a gzip body may expand to
MAX_COLUMN = 2**63  # bound of the integers that databases hold
_TARGET = Target(1, "shop-1", 2, "shop", {"version": "1"})
_MONTH = timedelta(days=30)


def profile_type_of(data: bytes) -> ProfileType:
    """Choose a profile type by the bytes, always the same one."""
    types = list(ProfileType)
    return types[zlib.crc32(data) % len(types)]


def decode_pprof(raw: bytes) -> None:
    """Decode a profile; its totals, its stored form and its export must agree."""
    type_ = profile_type_of(raw)
    decoded = decode_profile(raw, type_, LIMITS)
    tree = decoded.tree
    assert tuple(tree.self.sum(axis=1).tolist()) == decoded.totals, "totals are not the sums"
    assert (tree.self >= 0).all(), "a value is negative"
    assert decoded.weight in decoded.totals
    stored = codec.decode(codec.encode_columns(decoded.columns))
    assert_same_tree(stored, tree)
    exported = gunzip(encode(tree), 2**30)
    again = decode_profile(exported, type_, OF_EXPORTS)
    paths = PathNumbers()
    one, other = (meaning(each, paths.join) for each in (again.tree, tree))
    assert one == other, "the exported profile differs"
    assert [total for total in again.totals if total] == [t for t in decoded.totals if t]


def unpack_pprof(raw: bytes) -> None:
    """Do what the server does with an upload: decode it into the bytes that are stored."""
    codec.encode_columns(decode_profile(raw, profile_type_of(raw), LIMITS).columns)


def assert_same_tree(first: Tree, second: Tree) -> None:
    """Compare two trees with the same order of nodes.

    Stored ids are compared only if they are those of the frames, which decoding does not check.
    """
    assert first.metrics == second.metrics
    for name in ("parent", "frame", "self"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.tobytes() == other.tobytes(), f"{name} differs"
    paths = PathNumbers()
    meanings = [dict(meaning(tree, paths.join)) for tree in (first, second)]
    if first.frames.id.tobytes() != second.frames.id.tobytes():
        for each in meanings:
            del each["ids"], each["mappings"]
    assert meanings[0] == meanings[1]


def store_pprof(raw: bytes) -> None:
    """Decode an offline upload into the values of its row, its response and its agent's report."""
    type_ = profile_type_of(raw)
    decoded = decode_profile(raw, type_, LIMITS)
    report = parse_self_report(decoded.comments)
    assert all(abs(number or 0) < MAX_COLUMN for number in (report.samples, report.dropped))
    upload = OfflineUpload(
        target=_TARGET,
        agent=3,
        type=type_,
        pprof=raw,
        labels={},
        duration_ns=10**10,
        start_ns=None,
        ends_at_pprof_time=False,
        retention=_MONTH,
    )
    row = upload.build_row(decode_body(raw, BodyLimits(len(raw), LIMITS), type_, ()))
    content = row.content
    totals = (total for *_, total in content.totals)
    numbers = (row.duration_ns, content.samples, content.weight, *totals)
    assert all(0 <= number < MAX_COLUMN for number in numbers), "a number exceeds its column"
    assert "\0" not in orjson.dumps([content.totals, decoded.comments]).decode()
    orjson.dumps(describe_stored(StoredUpload(_TARGET, row, decoded.warnings)))


def gunzip_body(body: bytes) -> None:
    """Gunzip a body; zlib must agree, and the limit must hold."""
    raw = gunzip(body, MAX_RAW)
    assert len(raw) <= MAX_RAW, "more than the limit"
    if body.startswith(b"\x1f\x8b"):
        reference = _by_zlib(body)
        assert reference is None or raw == reference, "zlib reads something else"
    if raw:
        assert gunzip(gzip.compress(raw, 1), MAX_RAW) == raw


def _by_zlib(body: bytes) -> bytes | None:
    parts = []
    while body.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(wbits=31)
        try:
            parts.append(member.decompress(body))
        except zlib.error:
            return None  # isal is laxer about headers
        body = member.unused_data
    return b"".join(parts)


@cache
def _gzip_bodies() -> tuple[bytes, ...]:
    raw = seeds.raw_profiles()[0]
    compressor = zlib.compressobj(9, wbits=31)
    stored = zlib.compressobj(0, wbits=31)
    return (
        *(gzip.compress(body, 6, mtime=0) for body in (b"", raw, bytes(MAX_RAW + 10))),
        gzip.compress(raw[:50]) + gzip.compress(raw[50:]) + b"rest",
        compressor.compress(raw) + compressor.flush(zlib.Z_FULL_FLUSH) + compressor.flush(),
        stored.compress(raw) + stored.flush(),
        raw,
    )


def _unpacked_size(body: bytes) -> int:
    """Return the bytes after gunzip, at most MAX_RAW: the cost may follow them."""
    try:
        return len(gunzip(body, MAX_RAW))
    except (BadProfile, TooLarge):
        return MAX_RAW


_REJECTIONS = (BadProfile, TooLarge)
_FIELDS = tuple(field(number, 1) for number in range(1, 15)) + tuple(
    field(number, b"\x08\x01") for number in range(1, 15)
)
TARGETS = (
    FuzzTarget(
        "pprof",
        decode_pprof,
        _REJECTIONS,
        seeds.raw_profiles,
        _FIELDS,
        InputForm.PROTOBUF,
        cost=TREE_COST,
        measured=unpack_pprof,
    ),
    FuzzTarget(
        "pprof-row",
        store_pprof,
        (*_REJECTIONS, BadField),
        seeds.raw_profiles,
        _FIELDS,
        InputForm.PROTOBUF,
    ),
    FuzzTarget(
        "gunzip",
        gunzip_body,
        _REJECTIONS,
        _gzip_bodies,
        (b"\x1f\x8b\x08",),
        max_size=2048,
        cost=CostBound(size=_unpacked_size),
    ),
)

"""Uploads of Pyroscope's clients: names, formats of stacks, multipart bodies and Push messages."""

from collections.abc import Callable
from functools import cache, partial

import httpx
import orjson

from endpoints.errors import BadField, BadRequest
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pyroscope.counts import CountMeaning, find_meaning
from ingest.formats.pyroscope.pprof import Conversion, PprofContext, import_pprof
from ingest.formats.pyroscope.stacks import import_folded, import_lines
from ingest.formats.pyroscope.trie import import_tree, import_trie
from ingest.imports.labels import MAX_ALL_BYTES
from ingest.pyroscope.conversion import _display_names
from ingest.pyroscope.ingest_query import read_ingest_query
from ingest.pyroscope.jfr_labels import read_jfr_labels
from ingest.pyroscope.labels import map_pyroscope_labels
from ingest.pyroscope.multipart import read_parts
from ingest.pyroscope.push_message import PushedProfile, read_json, read_protobuf
from ingest.uploads import requests
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import decode_profile
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.limits import DecodeLimits
from tests.fuzz import seeds
from tests.fuzz.cost import TREE_COST, CostBound
from tests.fuzz.fuzz_target import FuzzTarget, InputForm
from tests.ingest.formats.pyroscope import encoding
from tests.ingest.pprof import SIMPLE, field
from tests.ingest.pyroscope.client import multipart

LIMITS = DecodeLimits()
MAX_RAW = 2**20
_MEANING = find_meaning("", "", "", 100)
_STACKS = {("main", "work"): 3, ("main", "wait", "é"): 300, ("main",): 1}
Import = Callable[[bytes, CountMeaning], list[ImportedProfile]]


def read_query(data: bytes) -> None:
    """Read the parameters of /ingest, and map the labels of the name to a deployment."""
    query = read_ingest_query(requests._parse_query(data), "")
    assert query.duration_ns is None or query.duration_ns > 0
    assert query.sample_rate > 0
    mapped = map_pyroscope_labels(query.app.labels, Conversion([]), query.app.name, query.spy_name)
    size = sum(len(name) + len(text.encode()) for name, text in mapped.labels.items())
    assert size <= MAX_ALL_BYTES
    assert mapped.deployment.service.isascii()
    assert len(mapped.deployment.service) <= 255
    assert "\0" not in orjson.dumps([mapped.labels, mapped.deployment.version]).decode()


def stacks_reader(importer: Import) -> Callable[[bytes], None]:
    """Return a reader of stacks; what it imports must be a profile that decodes."""

    def read(data: bytes) -> None:
        profiles = importer(data, _MEANING)
        if not profiles:  # no error for clients, which send empty bodies while they are idle
            raise BadProfile("no samples")
        for profile in profiles:
            decoded = decode_profile(profile.pprof, profile.type, LIMITS)
            assert decoded.totals[0] > 0, "a profile without samples"
            assert decoded.totals[1] == decoded.totals[0] * 10**7

    return read


def read_pprof(data: bytes) -> None:
    """Assign the sample types; those of each profile type must decode by themselves."""
    context = PprofContext("memory", {"delay": "block_duration"}, 1, 10**18)
    conversion = import_pprof(data, gunzip(data, MAX_RAW), context, LIMITS)
    assert conversion.profiles
    for profile in conversion.profiles:
        decode_profile(profile.pprof, profile.type, LIMITS, profile.sample_types)


def read_multipart(data: bytes) -> None:
    """Read the parts of a body; its first line is the Content-Type."""
    content_type, _, body = data.partition(b"\n")
    parts = read_parts(body, content_type.decode("latin-1"))
    assert sum(map(len, parts.values())) <= len(body)
    _display_names(parts.get("sample_type_config", b""))


def read_push(data: bytes) -> None:
    """Read a PushRequest, in JSON if it begins with a brace."""
    read = read_json if data.startswith(b"{") else read_protobuf
    pushed: list[PushedProfile] = read(data)
    assert sum(len(each.pprof) for each in pushed) <= len(data)


def read_snapshot(data: bytes) -> None:
    """Read the labels beside a JFR recording."""
    for labels in read_jfr_labels(data).values():
        assert all(isinstance(text, str) for text in (*labels, *labels.values()))


@cache
def _queries() -> tuple[bytes, ...]:
    name = "shop.web.cpu{region=eu/west 1,version=1.4+b,x.y=z,__a__=b}"
    first = {"name": name, "from": "1795423130", "until": "1795423140", "format": "trie"}
    second = {"name": "shop", "from": "1795423160000000000", "until": "1", "spyName": "gospy"}
    third = {"name": "a{b=c", "sampleRate": "100", "units": "samples", "aggregationType": "sum"}
    return tuple(str(httpx.QueryParams(each)).encode() for each in (first, second, third))


@cache
def _multiparts() -> tuple[bytes, ...]:
    config = orjson.dumps({"contentions": {"display-name": "mutex_count"}})
    bodies = [
        multipart({"profile": SIMPLE, "sample_type_config": config}),
        multipart({"jfr": b"\r\n--limit", "labels": b""}),
        multipart({}),
    ]
    return tuple(content_type.encode() + b"\n" + body for body, content_type in bodies)


@cache
def _pushes() -> tuple[bytes, ...]:
    labels = field(1, field(1, b"service_name") + field(2, b"shop"))
    series = labels + field(2, field(1, SIMPLE) + field(2, b"id"))
    pair = {"name": "service_name", "value": "shop"}
    sample = {"ID": "id", "rawProfile": "H4sI\\/+"}
    message = {"series": [{"labels": [pair], "samples": [sample, {"rawProfile": ""}]}]}
    good = {"series": [{"labels": [pair], "samples": [{"rawProfile": "AAAA"}]}]}
    return field(1, series) + field(1, series), orjson.dumps(message), orjson.dumps(good)


def _snapshots() -> tuple[bytes, ...]:
    context = field(1, field(1, 1) + field(2, 2))
    strings = (field(2, field(1, i) + field(2, text)) for i, text in ((1, b"route"), (2, b"/")))
    return (field(1, field(1, 7) + field(2, context)) + b"".join(strings),)


_BAD = (BadField, BadRequest)
_REJECTIONS = (BadProfile, TooLarge)
_FIELDS = tuple(field(number, 1) for number in range(1, 5)) + tuple(
    field(number, b"\x08\x01") for number in range(1, 5)
)
_NODES = (b"\x00\x00\x01", b"\x01;\x01\x00", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b";")
_target = partial(FuzzTarget, cost=CostBound())
TARGETS = (
    _target(
        "pyroscope-query",
        read_query,
        (*_BAD,),
        _queries,
        (b"&name=", b"%7B", b"%7D", b"=", b"%2C", b"&from=9e9", b"&until=", b"%00", b"&format="),
        max_size=1024,
    ),
    _target(
        "pyroscope-folded",
        stacks_reader(import_folded),
        _REJECTIONS,
        lambda: [encoding.folded(_STACKS), b"a;b 1\r\n\n;; 2\n"],
        (b";", b" 9223372036854775807\n", b"\n", b"_[k]", b" (a.py:1)"),
        InputForm.TEXT,
    ),
    _target(
        "pyroscope-lines",
        stacks_reader(import_lines),
        _REJECTIONS,
        lambda: [b"main;work\nmain;work\nmain\n", b"a\n"],
        (b";", b"\n", b"\r"),
        InputForm.TEXT,
    ),
    _target(
        "pyroscope-trie",
        stacks_reader(import_trie),
        _REJECTIONS,
        lambda: [encoding.trie(_STACKS), encoding.trie(_STACKS, 100)],
        _NODES,
        cost=TREE_COST,
    ),
    _target(
        "pyroscope-tree",
        stacks_reader(import_tree),
        _REJECTIONS,
        lambda: [encoding.tree(_STACKS)],
        _NODES,
        cost=TREE_COST,
    ),
    _target(
        "pyroscope-pprof",
        read_pprof,
        _REJECTIONS,
        seeds.raw_profiles,
        _FIELDS,
        InputForm.PROTOBUF,
    ),
    _target(
        "pyroscope-multipart",
        read_multipart,
        _BAD,
        _multiparts,
        (b"\r\n--limit\r\n", b"--limit--", b"\r\n", b"Content-Disposition: form-data; name="),
    ),
    _target("pyroscope-push", read_push, _BAD, _pushes, _FIELDS, InputForm.PROTOBUF),
    _target("pyroscope-labels", read_snapshot, _BAD, _snapshots, _FIELDS, InputForm.PROTOBUF),
)

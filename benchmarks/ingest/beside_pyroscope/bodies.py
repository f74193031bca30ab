"""Profiles that both products receive: the same gzip bytes, each upload with a time of its own."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode

import pybase64

from benchmarks.tools.load import request_with
from benchmarks.tools.shapes import INSTANCES, SHAPES, variants
from tests.ingest.pprof import field
from tests.profiles.pprof_proto import Profile

ENDPOINTS = 8  # values of the sample label `endpoint`
VARIANTS = 16


@dataclass(frozen=True, slots=True)
class ProfileKind:
    """Kind of profile, from a shape of benchmarks/tools/shapes.py."""

    title: str
    shape: str
    uploads: int  # in one turn: enough for half a second of CPU time and more
    has_labels: bool = False  # each sample has the label `endpoint`

    @property
    def type(self) -> str:
        return SHAPES[self.shape].type


KINDS = (
    ProfileKind("small: 100 samples", "D", 512),
    ProfileKind("Go CPU, 139 kB", "A", 384),
    ProfileKind("allocation, with labels", "H", 192, has_labels=True),
    ProfileKind("large heap: 12,000 samples", "C", 96),
)


@cache
def _untimed(kind: ProfileKind) -> Sequence[bytes]:
    """Return variants of a kind as uncompressed pprof without a time."""
    found = []
    for raw in variants(min(VARIANTS, SHAPES[kind.shape].variants), name=kind.shape):
        profile = Profile.FromString(raw)
        profile.ClearField("time_nanos")
        if kind.has_labels:
            _add_labels(profile)
        found.append(bytes(profile.SerializeToString()))
    return found


def _add_labels(profile: Profile) -> None:
    key = len(profile.string_table)
    profile.string_table.append(b"endpoint")
    profile.string_table.extend(b"/checkout/%d" % number for number in range(ENDPOINTS))
    for number, sample in enumerate(profile.sample):
        sample.label.add(key=key, str=key + 1 + number % ENDPOINTS)


def profiles(kind: ProfileKind, times: Sequence[float]) -> list[bytes]:
    """Return gzip pprof of a kind, one for each Unix time in seconds."""
    raws = _untimed(kind)
    return [
        gzip.compress(raws[index % len(raws)] + field(9, int(time * 1e9)), 1)
        for index, time in enumerate(times)
    ]


def flamewatch_upload(project: str, key: str, name: str, index: int, body: bytes) -> bytes:
    """Build an UpdateProfile request for a profile that was issued under a name."""
    message = {
        "duration": "10s",
        "labels": {"instance": _instance(index)},
        "profileBytes": pybase64.b64encode(body).decode(),
    }
    path = f"/v2/projects/{project}/profiles/{name}"
    return request_with("PATCH", path, key, json.dumps(message).encode())


def pyroscope_upload(index: int, body: bytes) -> bytes:
    name = f'shop{{instance="{_instance(index)}"}}'
    query = urlencode({"name": name, "format": "pprof", "spyName": "gospy"})
    return request_with("POST", f"/ingest?{query}", "none", body)


def _instance(index: int) -> str:
    return f"web-{index % INSTANCES}"

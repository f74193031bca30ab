"""Table of attacks with their bounds; SECURITY.md names each beside the resource it aims at."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tests.attacks.attackers import foreign_files, forms, requests
from tests.attacks.attackers import hostile_profiles as hostile
from tests.attacks.attackers.connections import (
    ANNOUNCED,
    AnnouncedUploads,
    HalfHeads,
    HandshakeBursts,
    ParkedHandshakes,
)
from tests.attacks.attackers.hostile_profiles import MIB
from tests.attacks.attackers.quotas import RejectedByQuota
from tests.attacks.attackers.requests import GZIP, Requests
from tests.attacks.attackers.unread import UnreadResponses
from tests.attacks.bounds import Bounds, RepeatedRequests
from tests.attacks.server import Site
from tests.ingest.pprof import SIMPLE


class Attacker(Protocol):
    """Attack on a site, which blocks until its end."""

    def __call__(self, site: Site) -> None: ...

    def unexpected(self) -> list[str]:
        """Return what the server must not have answered; empty if all is as it should be."""
        ...


@dataclass(frozen=True, slots=True)
class Attack:
    """Row of the table. `is_nightly` rows are variants of others, or take much time."""

    name: str
    make: Callable[[], Attacker]
    bounds: Bounds
    is_nightly: bool = False
    on_postgresql: bool = False


REJECTED = frozenset({400, 413})
# Covers the raw bytes of several uploads at once, and the memory limit of one decode.
DECODING = Bounds(memory=256 * MIB)
SMALL = Bounds(memory=64 * MIB)
PARSING = Bounds(memory=128 * MIB)
# Of the server itself: worker processes have limits of their own.
CONVERTING = Bounds(memory=64 * MIB, latency=2.0)


def _uploads(profile: Callable[[], bytes]) -> Callable[[], Attacker]:
    allowed = frozenset({200, 400, 413, 429, 503})
    return lambda: RepeatedRequests(requests.offline(profile), allowed, connections=2)


def _bodies(body: Callable[[], bytes]) -> Callable[[], Attacker]:
    packed = requests.to_each_endpoint(lambda: gzip.compress(body(), 9), GZIP)
    return lambda: RepeatedRequests(packed, REJECTED, connections=6)


def _repeated(
    of: Requests, *allowed: int, connections: int = 2, pause: float = 0.1, required: int = 0
) -> Callable[[], Attacker]:
    return lambda: RepeatedRequests(of, frozenset(allowed), connections, pause, required=required)


def _imports(file: Callable[[], bytes], *allowed: int) -> Callable[[], Attacker]:
    return _repeated(foreign_files.imports(file), *allowed)


ATTACKS = (
    Attack(
        "a file name of 8 MiB and 200 locations",
        _uploads(partial(hostile.one_name_of_many_locations, 8 * MIB, 200)),
        DECODING,
        is_nightly=True,
    ),
    Attack(
        "a file name of 32 MiB and 2,000 locations",
        _uploads(partial(hostile.one_name_of_many_locations, 32 * MIB, 2000)),
        DECODING,
    ),
    Attack(
        "a location of 9,000 inlined lines in 1,000 stacks",
        _uploads(partial(hostile.nodes_of_inlined_lines, 9000, 1000)),
        DECODING,
    ),
    Attack(
        "a label value of 4 KiB in 100,000 labels",
        _uploads(partial(hostile.one_label_value_of_many_labels, 4096, 100_000)),
        DECODING,
    ),
    Attack(
        "a location of 9,000 inlined lines shared by 11,000 stacks",
        _uploads(partial(hostile.inlined_stacks, 9000, 11_000)),
        DECODING,
    ),
    Attack("120 MiB of zeros", _uploads(partial(bytes, 120 * MIB)), DECODING),
    Attack("bodies above the limit", _repeated(requests.oversized, 413), SMALL, is_nightly=True),
    Attack("millions of JSON objects in gzip", _bodies(lambda: requests.OBJECTS), PARSING),
    Attack(
        "JSON objects behind a profile",
        _bodies(
            lambda: b'{"profileBytes":"AAAA","labels":[' + b"{}," * (7 * MIB) + b"{}]}",
        ),
        PARSING,
        is_nightly=True,
    ),
    Attack("a deep JSON array", _bodies(lambda: b'{"labels":' + b"[" * (16 * MIB)), PARSING),
    Attack(
        "a profile of 16 MiB of base64 in gzip",
        _bodies(lambda: b'{"profileBytes":"' + b"A" * (16 * MIB) + b'"}'),
        PARSING,
    ),
    Attack(
        "millions of JSON objects",
        _repeated(requests.to_each_endpoint(lambda: requests.PLAIN_OBJECTS, {}), 400, 413),
        PARSING,
    ),
    Attack("a recording of nested types", _imports(foreign_files.nested_types, 400), CONVERTING),
    Attack(
        "millions of nodes of V8 in gzip",
        _imports(foreign_files.millions_of_nodes, 413),
        CONVERTING,
    ),
    Attack(
        "a trie of growing names",
        _repeated(foreign_files.ingested(foreign_files.growing_names, "trie"), 200, 413, 429),
        CONVERTING,
    ),
    Attack("samples 9,000 frames deep", _imports(foreign_files.deep_samples, 413), CONVERTING),
    Attack("lines of spaces", _imports(foreign_files.lines_of_spaces, 200, 413, 429), CONVERTING),
    Attack(
        "thousands of checkpoints",
        _imports(foreign_files.many_checkpoints, 200, 413, 429),
        CONVERTING,
        is_nightly=True,
    ),
    # The body, the converted profile and its decoding, of two connections.
    Attack(
        "a wide heap profile of V8",
        _imports(foreign_files.wide_heap, 200, 413, 429),
        Bounds(memory=128 * MIB, latency=2.0),
    ),
    Attack(
        "OTLP in JSON of a million objects",
        _repeated(foreign_files.otlp_json, 413),
        CONVERTING,
        is_nightly=True,
    ),
    Attack(
        "twelve idle uploads",
        lambda: AnnouncedUploads(12, 0, b"408", (), b"too slow: received 0 bytes"),
        SMALL,
    ),
    Attack(
        "twelve uploads that stop near their end",
        lambda: AnnouncedUploads(
            12, ANNOUNCED - 2**20, b"503", (b"408",), b"the limit of a project is 67,108,864"
        ),
        Bounds(memory=192 * MIB),
    ),
    Attack("two thousand half heads", lambda: HalfHeads(2000), SMALL),
    Attack("three hundred parked handshakes", lambda: ParkedHandshakes(300, 32), SMALL),
    Attack("bursts of three hundred handshakes", lambda: HandshakeBursts(300, 32), SMALL),
    Attack(
        "values that no database takes",
        _repeated(requests.bad_rows, 400, 403, connections=8),  # 403: a write key may not list
        SMALL,
        on_postgresql=True,
    ),
    Attack("times and nesting beyond all limits", _repeated(requests.extreme_times, 400), SMALL),
    Attack(
        "hostile filters",
        _repeated(requests.hostile_filters, 200, 400, 429, 503, 504, connections=4),
        SMALL,
    ),
    Attack(
        "four hundred new deployments",
        _repeated(requests.new_deployments, 200, 429, connections=8, pause=0.0),
        SMALL,
    ),
    Attack("hundreds of profiles", lambda: RejectedByQuota(profiles_per_minute=40), SMALL),
    Attack(
        "profiles beyond the stored bytes",
        lambda: RejectedByQuota(stored_bytes=40 * len(SIMPLE)),
        SMALL,
        is_nightly=True,
    ),
    Attack(
        "uploads with new label values",
        _repeated(requests.new_label_values, 200, 429, connections=4, pause=0.01, required=429),
        SMALL,
        is_nightly=True,
    ),
    Attack(
        "uploads with new label names",
        _repeated(requests.new_label_names, 400, 429, connections=4, pause=0.01, required=429),
        SMALL,
    ),
    # Unsent responses 64 MiB, cached results 80 MB and blocks 64 MiB, and the queries themselves.
    Attack("responses that nobody reads", lambda: UnreadResponses(16), Bounds(memory=400 * MIB)),
    Attack("sign-ups", forms.sign_ups, SMALL),
    Attack("guessed passwords", forms.sign_ins, SMALL),
    Attack("new projects", forms.new_projects, SMALL),
    Attack("new keys", forms.new_keys, SMALL, is_nightly=True),
    Attack(
        "guessed keys",
        _repeated(requests.guessed_keys, 401, connections=4, pause=0.01),
        SMALL,
        is_nightly=True,
    ),
    Attack(
        "thousands of queries",
        _repeated(requests.many_queries, 200, 400, 429, 503, connections=4, pause=0.0),
        SMALL,
        is_nightly=True,
    ),
)

"""OTLP profiles: binary messages of any revision, and JSON."""

from collections.abc import Mapping
from functools import cache

from ingest.formats.otlp.conversion import Converter, group_profiles
from ingest.formats.otlp.json_encoding import from_json
from ingest.formats.otlp.request import read_request
from ingest.formats.otlp.revision import Revision
from ingest.imports.labels import LabelRules, map_labels
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import decode_profile
from profiles.engine.pprof.limits import DecodeLimits
from tests.fuzz.cost import CostBound
from tests.fuzz.fuzz_target import FuzzTarget, InputForm
from tests.ingest.formats.otlp.test_revision import DURATION, dictionary, message, timestamps
from tests.ingest.pprof import field, varint
from tests.paths import SAMPLES

LIMITS = DecodeLimits(max_samples=500, max_symbols=2000, max_depth=200)


def convert_message(body: bytes, revision: Revision | None = None) -> None:
    """Convert a request twice; the results are equal, and only the decoder's limits reject them."""
    request = read_request(body, LIMITS, revision)
    groups = group_profiles(request, _owner).groups
    first, second = (Converter(request, LIMITS) for _ in range(2))
    for group in groups:
        try:
            imported = first.convert(group)
        except (BadProfile, TooLarge):
            continue
        assert second.convert(group) == imported
        try:
            decoded = decode_profile(imported.pprof, imported.type, LIMITS)
        except (BadProfile, TooLarge):
            continue  # negative or huge values
        assert decoded.samples <= len(request.samples.stack)


def _owner(attributes: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]] | str:
    mapped = map_labels(attributes, LabelRules.from_settings(), "default")
    assert mapped is not None
    return mapped.deployment.service, tuple(mapped.labels.items())


def convert_json(body: bytes) -> None:
    """Convert a request in JSON; its binary form is read with the revision of its names."""
    convert_message(*from_json(body))


@cache
def _messages() -> tuple[bytes, ...]:
    """Return the samples, and messages without 64-bit numbers, whose fields can be changed."""
    samples = [path.read_bytes() for path in sorted((SAMPLES / "otlp").glob("*.pb"))]
    period = field(5, field(1, 1) + field(2, 2)) + field(6, 10**7)
    tables = dictionary(links=2)
    old = field(3, varint(1) * 3) + field(5, 10**10)
    labelled = field(1, 1) + field(2, varint(1)) + field(3, 1) + field(4, varint(7))
    return (
        *samples,
        message([labelled, field(1, 1) + field(4, varint(7))], DURATION + period, tables),
        message([field(1, 1) + field(2, varint(7)) + field(3, varint(1))], DURATION, tables),
        message([field(1, 1) + field(2, 3) + field(5, timestamps(2))], DURATION + period, tables),
        message([field(2, 3) + field(3, varint(7))], old, dictionary(text_keys=True)),
    )


@cache
def _documents() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((SAMPLES / "otlp").glob("*.json")))


_BAD = (BadProfile, TooLarge)
_NAMES = (
    *(b'"sample":[{', b'"samples":[{', b'"locationIndices":[0,1]', b'"values":["1",-1]'),
    *(b'"arrayValue":{"values":[', b'"traceId":"00"', b'"stack_index":1', b'"timeNanos":"1"'),
)
TARGETS = (
    FuzzTarget("otlp", convert_message, _BAD, _messages, form=InputForm.PROTOBUF, cost=CostBound()),
    FuzzTarget(
        "otlp-json", convert_json, _BAD, _documents, _NAMES, InputForm.TEXT, cost=CostBound()
    ),
)

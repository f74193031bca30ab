"""OTLP's JSON encoding."""

import json
from typing import Any

import pytest

from ingest.formats.otlp.revision import Revision
from profiles.engine.errors import BadProfile
from tests.ingest.formats.otlp.conversions import Converted, convert

IDS = {"traceId": "0102030405060708090a0b0c0d0e0f10", "spanId": "0102030405060708"}


def document(**sample: Any) -> dict[str, Any]:
    profile = {
        "sampleType": {"typeStrindex": 1, "unitStrindex": 2},
        "samples": [{"stackIndex": 1, **sample}],
        "timeUnixNano": "1790000000000000000",
        "durationNano": "10000000000",
    }
    attribute = {"key": "service.name", "value": {"stringValue": "shop"}}
    return {
        "resourceProfiles": [
            {"resource": {"attributes": [attribute]}, "scopeProfiles": [{"profiles": [profile]}]}
        ],
        "dictionary": {
            "stringTable": ["", "samples", "count", "main"],
            "functionTable": [{}, {"nameStrindex": 3}],
            "locationTable": [{}, {"lines": [{"functionIndex": 1, "line": "7"}]}],
            "stackTable": [{}, {"locationIndices": [1]}],
            "linkTable": [{}, IDS],
        },
    }


def of(message: object) -> Converted:
    return convert(json.dumps(message).encode())


def test_numbers_as_text_and_hexadecimal_ids_are_accepted() -> None:
    converted = of(document(values=["5", 2], linkIndex=1))
    assert converted.trace_links == 1
    (profile,) = converted.profiles
    assert profile.labels == []
    assert profile.totals == {"samples/count": 7}


def test_timestamps_without_values_are_counted() -> None:
    (profile,) = of(
        document(timestampsUnixNano=["1790000000000000001", "1790000000000000002"])
    ).profiles
    assert profile.totals == {"samples/count": 2}


def test_names_of_the_proto_files_are_accepted() -> None:
    text = json.dumps(document(values=[1])).replace("stackIndex", "stack_index")
    text = text.replace("stringTable", "string_table").replace(
        "resourceProfiles", "resource_profiles"
    )
    assert convert(text.encode()).profiles[0].stacks == {"main": 1}


def test_unknown_fields_and_null_are_skipped() -> None:
    message = document(values=[1], whatever={"a": [1]}, linkIndex=None)
    assert of(message).profiles[0].totals == {"samples/count": 1}
    assert of(message).request.revision is Revision.SINCE_1_10


@pytest.mark.parametrize(
    ("sample", "path"),
    [
        ({"values": "x"}, "samples.values: must be a 64-bit integer."),
        ({"values": [1.5]}, "samples.values: must be a 64-bit integer."),
        ({"values": [2**64]}, "samples.values: must be a 64-bit integer."),
        ({"stackIndex": {}}, "samples.stackIndex: must be a 64-bit integer."),
    ],
    ids=["text", "fraction", "large", "object"],
)
def test_a_bad_value_is_named_by_its_path(sample: dict[str, Any], path: str) -> None:
    with pytest.raises(BadProfile, match=f"resourceProfiles.scopeProfiles.profiles.{path}"):
        of(document(**sample))


@pytest.mark.parametrize("body", [b"{", b'{"resourceProfiles": [1]}', b'{"dictionary": "x"}'])
def test_other_json_is_rejected(body: bytes) -> None:
    with pytest.raises(BadProfile):
        convert(body)


def test_a_bad_id_is_rejected() -> None:
    message = document(values=[1], linkIndex=1)
    message["dictionary"]["linkTable"][1]["traceId"] = "z" * 32
    with pytest.raises(BadProfile, match=r"linkTable\.traceId: must be hexadecimal"):
        of(message)


def test_deep_json_is_rejected() -> None:
    value: dict[str, Any] = {"stringValue": "deep"}
    for _ in range(60):
        value = {"arrayValue": {"values": [value]}}
    message = document(values=[1])
    message["resourceProfiles"][0]["resource"]["attributes"][0]["value"] = value
    with pytest.raises(BadProfile, match="is nested deeper than 32 levels"):
        of(message)

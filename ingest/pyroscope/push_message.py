"""Request message of `push.v1.PusherService/Push`, in JSON or protocol buffers."""

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pybase64

from endpoints import json_message
from endpoints.errors import BadField, BadRequest
from endpoints.json_message import Message
from ingest.pyroscope.protobuf import MessageReader, text

MAX_PROFILES = 1_000  # of a request
MAX_LABELS = 200  # of a series
MAX_REST_BYTES = 256 * 2**10  # of JSON, without the profiles
_RAW_PROFILE_JSON = re.compile(rb'("raw(?:P|_p)rofile"[ \t\r\n]*:[ \t\r\n]*")([^"]*)"')
_SERIES, _LABELS, _SAMPLES = 1, 1, 2
_LABEL_NAME, _LABEL_VALUE, _RAW_PROFILE = 1, 2, 1


@dataclass(frozen=True, slots=True)
class PushedProfile:
    """Profile of a request, with the labels of its series."""

    field: str  # JSON path, for error responses
    pprof: bytes  # gzipped or not
    labels: dict[str, str]


def read_protobuf(body: bytes) -> list[PushedProfile]:
    """Read a binary PushRequest. Raise BadRequest if it is malformed, BadField above a limit."""
    reader = MessageReader()
    found: list[PushedProfile] = []
    for i, series in enumerate(reader.messages(memoryview(body), _SERIES)):
        labels: dict[str, str] = {}
        samples: list[bytes] = []
        for number, value in reader.fields(series):
            if isinstance(value, int):
                continue
            if number == _LABELS:
                pair = {field: text(part) for field, part in _texts(reader, value)}
                _add_label(labels, pair.get(_LABEL_NAME, ""), pair.get(_LABEL_VALUE, ""), i)
            elif number == _SAMPLES:
                parts = [*reader.messages(value, _RAW_PROFILE)]
                samples.append(bytes(parts[-1]) if parts else b"")
                _require_profiles(len(found) + len(samples))
        found += _profiles(i, labels, samples)
    return found


def read_json(body: bytes) -> list[PushedProfile]:
    """Read a PushRequest in JSON. Raise BadRequest if it is malformed, BadField for its fields.

    The profiles are cut out before the rest is parsed, because a parser takes up to 40 times the
    size of what it parses.
    """
    cut: dict[str, bytes] = {}
    message = json_message.parse(_cut_profiles(body, cut))
    found: list[PushedProfile] = []
    for i, series in enumerate(_items(message, "series", "series")):
        labels: dict[str, str] = {}
        for pair in _items(series, "labels", f"series[{i}].labels"):
            name, value = (pair.get(key, "") for key in ("name", "value"))
            if not isinstance(name, str) or not isinstance(value, str):
                raise BadField(f"series[{i}].labels", "names and values must be strings")
            _add_label(labels, name, value, i)
        samples = [
            _raw_profile(sample, cut, f"series[{i}].samples[{j}].rawProfile")
            for j, sample in enumerate(_items(series, "samples", f"series[{i}].samples"))
        ]
        found += _profiles(i, labels, samples)
        _require_profiles(len(found))
    return found


def _cut_profiles(body: bytes, cut: dict[str, bytes]) -> bytes:
    """Replace the value of each rawProfile by a placeholder, and add it to `cut` under that.

    Raise BadRequest if more than MAX_REST_BYTES remain.
    """
    secret = secrets.token_hex(16)  # random, so that no sender can guess a placeholder

    def replace(match: re.Match[bytes]) -> bytes:
        _require_profiles(len(cut) + 1)
        placeholder = f"{secret}-{len(cut)}"
        cut[placeholder] = match[2]
        return match[1] + placeholder.encode() + b'"'

    rest = _RAW_PROFILE_JSON.sub(replace, body)
    if len(rest) > MAX_REST_BYTES:
        raise BadRequest(
            f"The JSON around the profiles may have {MAX_REST_BYTES:,} bytes; here are "
            f"{len(rest):,}. Send fewer series at a time."
        )
    return rest


def _texts(reader: MessageReader, pair: memoryview) -> Iterator[tuple[int, memoryview]]:
    for number, value in reader.fields(pair):
        if isinstance(value, memoryview):
            yield number, value


def _profiles(i: int, labels: dict[str, str], samples: list[bytes]) -> Iterator[PushedProfile]:
    for j, pprof in enumerate(samples):
        yield PushedProfile(f"series[{i}].samples[{j}]", pprof, labels)


def _add_label(labels: dict[str, str], name: str, value: str, series: int) -> None:
    if len(labels) >= MAX_LABELS:
        raise BadField(f"series[{series}].labels", f"has more than {MAX_LABELS} labels")
    labels[name] = value


def _require_profiles(count: int) -> None:
    if count > MAX_PROFILES:
        raise BadField("series", f"has more than {MAX_PROFILES:,} profiles; send fewer at a time")


def _items(message: Message, name: str, path: str) -> list[Message]:
    found = message.get(name) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise BadField(path, "must be a list of objects")
    return found


def _raw_profile(sample: Message, cut: Mapping[str, bytes], path: str) -> bytes:
    placeholder = sample.get("rawProfile", sample.get("raw_profile", ""))
    encoded = cut.get(placeholder, b"") if isinstance(placeholder, str) else b""
    if not encoded:
        raise BadField(path, "is missing: a pprof profile in base64")
    try:
        return pybase64.b64decode(encoded.replace(b"\\/", b"/"), validate=True)
    except ValueError:
        raise BadField(path, "is not valid base64") from None

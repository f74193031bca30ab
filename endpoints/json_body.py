"""JSON bodies of uploads: one long string, the profile, and a small rest.

The profile is cut out before the rest is parsed: what a parser makes of the rest is bounded by
MAX_REST_BYTES, whatever the size of the body.
"""

import re
import secrets
from typing import Any

import orjson

from endpoints.errors import BadRequest

# Names, labels, a deployment. A kilobyte of JSON can become 40 kB of objects, at most.
MAX_REST_BYTES = 64 * 2**10

_PROFILE = re.compile(rb'"(profileBytes|profile_bytes)"[ \t\r\n]*:[ \t\r\n]*"')
_PLACEHOLDER = secrets.token_hex(16)  # no sender can know it

Message = dict[str, Any]


def parse(body: bytes) -> Message:
    """Any JSON object, whatever the Content-Type said; BadRequest for everything else."""
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise BadRequest("The body has to be a JSON object.")
    return message


def parse_upload(body: bytes) -> Message:
    """The same for a body of any size; its `profileBytes` are bytes of base64, not text.

    BadRequest where what is around the profile passes MAX_REST_BYTES.
    """
    found = _PROFILE.search(body, 0, MAX_REST_BYTES)
    if found is None:
        _require_small(len(body))
        return parse(body)
    start, stop = found.end(), body.find(b'"', found.end())
    if stop < 0:
        raise BadRequest("The body is not JSON: its profile has no end.")
    _require_small(len(body) - (stop - start))
    message = parse(body[:start] + _PLACEHOLDER.encode() + body[stop:])
    name = found[1].decode()
    if message.get(name) == _PLACEHOLDER:
        return message | {name: _unescaped(body[start:stop])}
    _require_small(len(body))  # it is a field of something else in the message
    return parse(body)


def _require_small(size: int) -> None:
    if size > MAX_REST_BYTES:
        raise BadRequest(
            f"The JSON around profileBytes may have {MAX_REST_BYTES:,} bytes; here are {size:,}. "
            "Send the profile as the string profileBytes, and only the fields of the API beside it."
        )


def _unescaped(text: bytes) -> bytes:
    """Some encoders escape the slash, or the plus sign, in JSON strings."""
    if b"\\" not in text:
        return text
    try:
        return str(orjson.loads(b'"' + text + b'"')).encode()
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error}") from None

"""JSON bodies of uploads: the profile as one long string, and a small message around it.

The profile is cut out before the rest is parsed, so that the parser never gets more than
MAX_REST_BYTES, whatever the size of the body.
"""

import re
import secrets
from typing import Any

import orjson

from endpoints.errors import BadRequest
from endpoints.nul import require_no_nul_in_json

# Enough for names, labels and a deployment. 1 kB of JSON parses to at most 40 kB of objects.
MAX_REST_BYTES = 64 * 2**10

_PROFILE = re.compile(rb'"(profileBytes|profile_bytes)"[ \t\r\n]*:[ \t\r\n]*"')
_PLACEHOLDER = secrets.token_hex(16)  # random, so that no sender can guess it

_ESCAPED_NUL = rb"\u0000"  # the only form of NUL in JSON

Message = dict[str, Any]


def parse(body: bytes) -> Message:
    """Parse a JSON object, whatever the Content-Type.

    Raise BadRequest for anything else, and BadField if a name or text in it has the character NUL.
    """
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not valid JSON: {error}") from None
    if not isinstance(message, dict):
        raise BadRequest("The body must be a JSON object.")
    if _ESCAPED_NUL in body:  # or the same text after an escaped backslash
        require_no_nul_in_json(message)
    return message


def parse_upload(body: bytes) -> Message:
    """Parse the JSON object of an upload of any size.

    The value of `profileBytes` is base64 as bytes, not str. Raise BadRequest if the JSON around the
    profile is longer than MAX_REST_BYTES.
    """
    match = _PROFILE.search(body, 0, MAX_REST_BYTES)
    if match is None:
        _require_small(len(body))
        return parse(body)
    start, stop = match.end(), body.find(b'"', match.end())
    if stop < 0:
        raise BadRequest("The body is not valid JSON: profileBytes is not terminated.")
    _require_small(len(body) - (stop - start))
    message = parse(body[:start] + _PLACEHOLDER.encode() + body[stop:])
    name = match[1].decode()
    if message.get(name) == _PLACEHOLDER:
        return message | {name: _unescaped(body[start:stop])}
    _require_small(len(body))  # the field is nested in another field of the message
    return parse(body)


def _require_small(size: int) -> None:
    if size > MAX_REST_BYTES:
        raise BadRequest(
            f"The JSON around profileBytes may have {MAX_REST_BYTES:,} bytes; here are {size:,}. "
            "Send the profile as the string profileBytes, and only the fields of the API beside it."
        )


def _unescaped(text: bytes) -> bytes:
    """Resolve JSON escapes: some encoders escape the slash or the plus sign in strings."""
    if b"\\" not in text:
        return text
    try:
        return str(orjson.loads(b'"' + text + b'"')).encode()
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not valid JSON: {error}") from None

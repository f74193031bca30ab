"""JSON messages of the APIs, in the encoding of protobuf, and bodies of uploads in JSON.

Fields have lowerCamelCase or proto names; null means absent. Every reader takes the path of its
field, for the message of BadField. The profile of an upload, one long string, is cut out before the
rest is parsed, so that the parser never gets more than MAX_REST_BYTES, whatever the size of the
body.
"""

import binascii
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pybase64

from endpoints import nul
from endpoints.errors import BadField, BadRequest
from endpoints.nul import require_no_nul_in_json
from projects.profile_types import WIRE_NUMBERS, ProfileType

# Enough for names, labels and a deployment. 1 kB of JSON parses to at most 40 kB of objects.
MAX_REST_BYTES = 64 * 2**10

_PROFILE = re.compile(rb'"(profileBytes|profile_bytes)"[ \t\r\n]*:[ \t\r\n]*"')
_PLACEHOLDER = secrets.token_hex(16)  # random, so that no sender can guess it
_ESCAPED_NUL = rb"\u0000"  # the only form of NUL in JSON
_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?s", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PADDING = {0: b"", 2: b"==", 3: b"="}
_STANDARD_ALPHABET = bytes.maketrans(b"-_", b"+/")

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
        return message | {name: _unescape(body[start:stop])}
    _require_small(len(body))  # the field is nested in another field of the message
    return parse(body)


def _require_small(size: int) -> None:
    if size > MAX_REST_BYTES:
        raise BadRequest(
            f"The JSON around profileBytes may have {MAX_REST_BYTES:,} bytes; here are {size:,}. "
            "Send the profile as the string profileBytes, and only the fields of the API beside it."
        )


def _unescape(text: bytes) -> bytes:
    """Resolve JSON escapes: some encoders escape the slash or the plus sign in strings."""
    if b"\\" not in text:
        return text
    try:
        return str(orjson.loads(b'"' + text + b'"')).encode()
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not valid JSON: {error}") from None


def require_declared_fields(message: Message, names: Sequence[str]) -> None:
    """Raise BadField for a field with another name."""
    unknown = sorted(message.keys() - set(names))
    if unknown:
        allowed = f"fields: {', '.join(names)}" if names else "there are no fields"
        raise BadField(unknown[0][:60], f"is unknown; {allowed}")


def require_no_null(message: Message, nullable: Collection[str] = ()) -> None:
    """Raise BadField for a field that is null, except for those that may be."""
    for name, value in message.items():
        if value is None and name not in nullable:
            raise BadField(name[:60], "must not be null; leave the field out")


def get_field(message: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, by its JSON name or its proto name; None if absent."""
    value = message.get(name)
    if value is None:
        value = message.get(re.sub(r"[A-Z]", lambda upper: f"_{upper[0].lower()}", name))
    return value


def read_text(message: Mapping[str, Any], name: str, path: str) -> str:
    value = get_field(message, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadField(path, "must be a string")
    if "\0" in value:
        raise BadField(path, nul.REASON)
    return value


def read_message(parent: Message, name: str, path: str) -> Message | None:
    value = get_field(parent, name)
    if value is not None and not isinstance(value, dict):
        raise BadField(path, "must be an object")
    return value


def parse_profile_type(value: object, path: str) -> ProfileType:
    """Read an enum value, given by its name or its number."""
    if isinstance(value, str) and value in ProfileType.__members__:
        return ProfileType[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in WIRE_NUMBERS:
        return WIRE_NUMBERS[value]
    allowed = ", ".join(ProfileType)
    raise BadField(path, f"{_quote(value)} is not a profile type; allowed: {allowed}")


def read_duration_ns(message: Message, name: str, path: str) -> int | None:
    """Read a google.protobuf.Duration, "10s" or "1.5s", in nanoseconds; None if absent."""
    value = get_field(message, name)
    if value is None:
        return None
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise BadField(path, f'{_quote(value)} is not a duration such as "10s"')
    return int(match[1]) * 10**9 + int((match[2] or "").ljust(9, "0"))


def read_time_ns(message: Message, name: str, path: str) -> int | None:
    """Read a google.protobuf.Timestamp as Unix time in nanoseconds; None if absent.

    Times beyond 64 bits, before 1677 or after 2262, become the earliest or the latest one: Go's
    zero time is in the year 1.
    """
    value = read_text(message, name, path)
    if not value:
        return None
    nanoseconds = (parse_time(value, path) - _EPOCH) // _MICROSECOND * 1000
    return max(-(2**63), min(nanoseconds, 2**63 - 1))


def read_time(message: Message, name: str, path: str) -> datetime | None:
    """Read an RFC 3339 time; None if it is absent. An empty text is no time."""
    if get_field(message, name) is None:
        return None
    return parse_time(read_text(message, name, path), path)


def parse_time(value: str, path: str) -> datetime:
    """Parse an RFC 3339 time and return it in UTC; the time zone is required."""
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is None:
            raise BadField(path, f"{_quote(value)} has no time zone")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):  # of the years 1 to 9999, in UTC
        raise BadField(path, f"{_quote(value)} is not an RFC 3339 time") from None


def read_bytes(message: Message, name: str, path: str) -> bytes:
    """Decode base64 of either alphabet, padded or not, from str or bytes; b"" if absent."""
    value = get_field(message, name)
    encoded = value if isinstance(value, bytes) else read_text(message, name, path).encode()
    try:
        return _decode(encoded)
    except (ValueError, binascii.Error):
        raise BadField(path, "is not base64") from None


def _decode(encoded: bytes) -> bytes:
    if encoded[-1:] != b"=" and len(encoded) % 4:
        encoded += _PADDING.get(len(encoded) % 4, b"=")  # length 4n + 1 stays invalid
    if b"-" in encoded or b"_" in encoded:
        encoded = encoded.translate(_STANDARD_ALPHABET)
    return pybase64.b64decode(encoded, validate=True)


def _quote(value: object) -> str:
    """Format a value for an error message, in at most 80 characters.

    Lists and objects are not shown: they may be nested deeper than `repr` can descend.
    """
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return repr(value)[:80]


def format_duration(seconds: float) -> str:
    """Format a google.protobuf.Duration: "10s", "0.250s"."""
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{whole}.{rest:03d}s" if rest else f"{whole}s"


def format_timestamp(time: datetime) -> str:
    """Format a google.protobuf.Timestamp."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")

"""Texts that anybody may send as a credential or as a place in a list."""

import json
from functools import cache
from urllib.parse import urlencode

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from endpoints.errors import BadField, BadRequest, NotFound
from ingest.cloud_profiler import listing, names, token_endpoint
from profiles.engine.timestamps import to_datetime
from profiles.queries.reports.profile_page import read_mark
from profiles.queries.selection import InvalidQuery
from projects.credentials import keys, operator_token, signed_tokens
from projects.profile_types import ProfileType
from tests.fuzz.fuzz_target import FuzzTarget
from tests.key_files import claims_of, signed, signed_by_java

_NOW = 1_800_000_000.0  # Unix time
_ISSUED = names.Issued(ProfileType.CPU, 1, 2, 3, _NOW)


class NoPageToken(Exception):
    """Empty page token, for which the reader returns None."""


def check_name(data: bytes) -> None:
    """Check a profile name; only names that this server issued are valid."""
    text = data.decode("latin-1")
    assert names.check(text, "shop-1", _NOW) == _ISSUED, "a forged name is valid"
    assert text.isascii()


def parse_key(data: bytes) -> None:
    text = data.decode("latin-1")
    if operator_token.read_project(text) not in (None, "shop-1"):
        raise AssertionError("a forged token is valid")
    parts = keys.parse(text)
    assert keys.make(parts.key_id, parts.secret) == text


def read_page_token(data: bytes) -> None:
    """Read the token of a page, which becomes a condition of SQL."""
    key = read_mark(listing._page_mark({"pageToken": data.decode("latin-1")}))
    if key is None:
        raise NoPageToken
    weight, time, _ = key
    assert abs(weight) < 2**63
    assert to_datetime(time).year < 10_000


def check_signed_token(data: bytes) -> None:
    """Check a token of a key file; only tokens with the claims that were signed are valid."""
    text = data.decode("latin-1")
    file, row = _key_file()
    if not signed_tokens.is_token(text):
        raise signed_tokens.TokenRejected("another form")
    if text.startswith(signed_tokens.ACCESS_TOKEN_PREFIX):
        assert signed_tokens._file_of_access_token(text) == file["private_key_id"]
        return
    if signed_tokens._file_of_signed_token(text) != file["private_key_id"]:
        raise signed_tokens.TokenRejected("another key file")
    signed_tokens._verify(text, row)
    assert text.rpartition(".")[0] in {token.decode().rpartition(".")[0] for token in _signed()}


def read_token_request(data: bytes) -> None:
    """Read the form of a request for an access token."""
    fields = token_endpoint._fields(data)
    assert len(fields) <= token_endpoint._MOST_FIELDS
    signed_tokens.is_signed(fields.get("assertion", ""))


@cache
def _key_file() -> tuple[dict[str, str], signed_tokens._FileRow]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    file = {
        "private_key_id": "ab" * 20,
        "client_email": "fuzz@shop-1",
        "private_key": key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
    }
    return file, signed_tokens._FileRow(key.public_key(), file["client_email"], "a" * 10)


@cache
def _signed() -> tuple[bytes, ...]:
    file, _row = _key_file()
    return tuple(
        token.encode() for token in (signed(file), signed_by_java(file), signed(file, aud=None))
    )


def _signed_tokens() -> tuple[bytes, ...]:
    access_token = signed_tokens.issue_access_token(_signed()[0].decode())
    return (*_signed(), access_token.encode(), json.dumps(claims_of(_key_file()[0])).encode())


def _token_requests() -> tuple[bytes, ...]:
    fields = {"grant_type": token_endpoint.GRANT_TYPE, "assertion": "ey.ey.x"}
    return urlencode(fields).encode(), b"assertion=%00&grant_type=%ff", b"a=1;b=2&&c"


@cache
def _names() -> tuple[bytes, ...]:
    return tuple(names.issue(_ISSUED, project).encode() for project in ("shop-1", "other-2"))


def _keys() -> tuple[bytes, ...]:
    token = operator_token.make("shop-1")
    return keys.make("a" * 10, "b" * 32).encode(), token.encode(), b"fw_a_b"


def _tokens() -> tuple[bytes, ...]:
    texts = (
        "0~1795000000000000~name-1",
        "-5~0~é",
        "~1~",
        "9223372036854775807~253402300799999999~",
    )
    return tuple(listing._token(text).encode() for text in texts)


TARGETS = (
    FuzzTarget("profile-name", check_name, (NotFound,), _names, max_size=256),
    FuzzTarget("key", parse_key, (keys.MalformedKey,), _keys, (b"fw_", b"fwop_"), max_size=256),
    FuzzTarget(
        "signed-token",
        check_signed_token,
        (signed_tokens.TokenRejected,),
        _signed_tokens,
        (b"eyJhbGciOiJub25lIn0", b"fwt_", b"==."),
    ),
    FuzzTarget("token-request", read_token_request, (BadRequest,), _token_requests, (b"&", b"%")),
    FuzzTarget(
        "page-token",
        read_page_token,
        (BadField, InvalidQuery, NoPageToken),
        _tokens,
        (b"fg==", b"LTE"),
        max_size=256,
    ),
)

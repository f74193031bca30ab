"""Texts that anybody may send as a credential or as a place in a list."""

from functools import cache

from endpoints.errors import BadField, NotFound
from ingest.cloud_profiler import listing, names
from profiles.engine.timestamps import moment
from profiles.queries.reports.profile_page import read_mark
from profiles.queries.selection import InvalidQuery
from projects.credentials import keys, operator_token
from projects.profile_types import ProfileType
from tests.fuzz.fuzz_target import FuzzTarget

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
    if operator_token.project_of(text) not in (None, "shop-1"):
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
    assert moment(time).year < 10_000


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
        "page-token",
        read_page_token,
        (BadField, InvalidQuery, NoPageToken),
        _tokens,
        (b"fg==", b"LTE"),
        max_size=256,
    ),
)

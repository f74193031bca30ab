"""NUL in paths, query strings and JSON of the APIs."""

from typing import Any

import pytest

from endpoints.errors import BadField
from endpoints.json_message import parse, parse_upload
from endpoints.nul import require_no_nul
from tests.endpoints.test_api_key_urls import ADDRESSES, Address
from tests.ingest.client import DEPLOYMENT, HANDSHAKE, Client, assert_error_response

API = pytest.mark.django_db(transaction=True)
NUL_SAID = "may not have the character NUL"


@API
@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_a_path_with_nul_is_400(address: Address, agent: Client) -> None:
    path = f"{address.root}/a%00b{address.path}"
    response = agent.request(address.method, path, json=address.message)
    assert_error_response(response, 400, "INVALID_ARGUMENT", NUL_SAID)


@API
@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_a_query_with_nul_is_400(address: Address, agent: Client) -> None:
    separator = "&" if "?" in address.path else "?"
    path = f"{address.root}/-{address.path}{separator}zone=a%00b"
    response = agent.request(address.method, path, json=address.message)
    assert_error_response(response, 400, "INVALID_ARGUMENT", f"zone: {NUL_SAID}")


@API
@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("POST", "/v2/projects/-/profiles", HANDSHAKE | {"unknown": ["a", {"b": "c\0"}]}),
        ("POST", "/v2/projects/-/profiles:createOffline", {"deployment": DEPLOYMENT, "a\0": 1}),
        ("PATCH", "/v2/projects/-/profiles/name", {"profileBytes": "aGVsbG8=", "x": "\0"}),
        ("POST", "/api/v1/projects/-/capture", {"service": "a", "type": "CPU\0"}),
    ],
)
def test_json_with_nul_is_400(
    method: str, path: str, message: dict[str, Any], agent: Client
) -> None:
    if method == "PATCH":
        path = f"/v2/{agent.captured_request()['name']}"
    response = agent.request(method, path, json=message)
    assert_error_response(response, 400, "INVALID_ARGUMENT", NUL_SAID)


@API
def test_a_static_file_with_nul_is_400(agent: Client) -> None:
    assert agent.request("GET", "/static/a%00.css").status_code == 400


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"a": "\u0000"}', "a"),
        (rb'{"a": {"b": [1, "x\u0000"]}}', r"a\.b\[1\]"),
        (rb'{"a": {"b\u0000": 1}}', "a.b�"),
    ],
)
def test_error_names_the_field_with_nul(body: bytes, field: str) -> None:
    for read in (parse, parse_upload):
        with pytest.raises(BadField, match=f"^{field}: {NUL_SAID}$"):
            read(body)


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert parse(rb'{"a": "\\u0000"}') == {"a": r"\u0000"}


def test_deep_and_wide_json_is_searched_in_little_memory() -> None:
    deep = b'{"a":' + b"[" * 900 + rb'"\u0000"' + b"]" * 900 + b"}"
    wide = b'{"' + b"a" * 30_000 + b'": [' + b"1," * 15_000 + rb'"\u0000"]}'
    for body in (deep, wide):
        with pytest.raises(BadField) as bad:
            parse(body)
        assert len(bad.value.field) <= 100


def test_pairs_without_nul_are_accepted() -> None:
    require_no_nul([("name", "value"), ("", "")])
    with pytest.raises(BadField, match=r"^na�me: "):
        require_no_nul([("name", "value"), ("na\0me", "value")])

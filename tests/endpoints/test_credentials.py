"""API keys in headers and parameters."""

import base64

import pytest

from endpoints.credentials import key_text


def basic(text: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ({"authorization": "Bearer fw_a"}, {}, "fw_a"),
        ({"authorization": "bearer fw_a"}, {"key": "fw_b"}, "fw_a"),
        ({"x-goog-api-key": "fw_a"}, {"key": "fw_b"}, "fw_a"),
        ({}, {"key": "fw_b"}, "fw_b"),
        (basic("shop:fw_a"), {}, "fw_a"),
        (basic(":fw_a"), {"key": "fw_b"}, "fw_a"),
        (basic("fw_a:"), {}, ""),
        (basic("é:fw_é:x"), {}, "fw_é:x"),
        ({"authorization": "Basic ???"}, {"key": "fw_b"}, "fw_b"),
        ({}, {}, ""),
    ],
)
def test_key_is_found_in_headers_and_parameters_in_order(
    headers: dict[str, str], query: dict[str, str], expected: str
) -> None:
    assert key_text(headers, query) == expected


def test_the_password_of_a_proxy_is_no_key() -> None:
    assert key_text(basic("proxy:secret"), {"key": "fw_b"}) == "fw_b"
    assert key_text(basic("proxy:secret"), {}) == ""

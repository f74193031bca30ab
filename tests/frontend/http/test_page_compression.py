"""Pages compressed for clients that accept it, part by part if they are streamed."""

import gzip
import zlib
from collections.abc import Iterator
from typing import cast

import pytest
import zstandard
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory

from frontend.http.page_compression import PageCompressionMiddleware, compress_json

REQUEST = RequestFactory().get("/", headers={"accept-encoding": "gzip, br"})
PART = "<p>a part of a page</p>" * 100


def compress(response: HttpResponseBase) -> HttpResponseBase:
    """Pass a response through the middleware, for a client that accepts gzip."""
    return PageCompressionMiddleware(lambda _: response).process_response(REQUEST, response)


def test_streamed_part_is_complete_before_the_next_is_made() -> None:
    made: list[str] = []

    def make_parts() -> Iterator[str]:
        for name in ("first", "second"):
            made.append(name)
            yield f"{name}{PART}"

    response = compress(StreamingHttpResponse(make_parts()))
    assert isinstance(response, StreamingHttpResponse)
    assert response["Content-Encoding"] == "gzip"
    received = zlib.decompressobj(wbits=31)
    texts = []
    for part in cast("Iterator[bytes]", response.streaming_content):
        texts.append((received.decompress(part).decode(), list(made)))
    assert texts[0] == (f"first{PART}", ["first"])
    assert texts[1] == (f"second{PART}", ["first", "second"])
    assert received.eof


def test_downloads_are_not_compressed() -> None:
    download = HttpResponse(b"\0" * 10_000, "application/octet-stream")
    assert not compress(download).has_header("Content-Encoding")
    assert len(download.content) == 10_000


@pytest.mark.django_db
def test_page_is_compressed_only_if_the_client_accepts_it(client: Client) -> None:
    address = "/accounts/login/"
    compressed = client.get(address, headers={"accept-encoding": "gzip"})
    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert b"</html>" in gzip.decompress(compressed.content)
    plain = client.get(address)
    assert not plain.has_header("Content-Encoding")
    assert b"</html>" in plain.content
    assert len(compressed.content) < len(plain.content) / 2


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate", "gzip"),
        ("gzip, zstd;q=0", "gzip"),
        (None, "gzip"),
    ],
)
def test_json_is_compressed_with_zstd_for_clients_that_accept_it(
    accepted: str | None, coding: str
) -> None:
    headers = {} if accepted is None else {"accept-encoding": accepted}
    body = b'{"self": [1, 2, 3]}' * 100
    response = compress_json(RequestFactory().get("/", headers=headers), body)
    assert response["Content-Encoding"] == coding
    content = response.content
    sent = zstandard.decompress(content) if coding == "zstd" else gzip.decompress(content)
    assert sent == body
    assert len(response.content) < len(body) / 10

"""Static files as clients receive them, compressed by the encodings that they accept."""

import fnmatch
import gzip
from pathlib import Path
from typing import Any

import brotli
import pytest
from pytest_django import Settings

from profiler_site.static_files.handler import StaticHandler


@pytest.fixture
def collected(settings: Settings, collected_static_files: Path) -> dict[str, bytes]:
    """Return the collected static files by path."""
    settings.STATIC_ROOT = collected_static_files
    return {
        path.relative_to(collected_static_files).as_posix(): path.read_bytes()
        for path in collected_static_files.rglob("*")
        if path.is_file()
    }


async def receive(path: str, accepted: str) -> tuple[dict[bytes, bytes], bytes]:
    """Request a static file; return the headers and the body as sent."""
    headers = [(b"accept-encoding", accepted.encode())] if accepted else []
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/static/{path}",
        "query_string": b"",
        "headers": headers,
    }
    messages: list[dict[str, Any]] = []

    async def get_request() -> dict[str, object]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await StaticHandler()(scope, get_request, send)
    assert messages[0]["status"] == 200
    return dict(messages[0]["headers"]), b"".join(part.get("body", b"") for part in messages[1:])


@pytest.mark.parametrize("pattern", ["bundles/common.*.js", "flamewatch.*.css"])
async def test_file_is_received_compressed_by_accepted_encoding(
    collected: dict[str, bytes], pattern: str
) -> None:
    (path,) = fnmatch.filter(collected, pattern)
    text = collected[path]
    headers, by_brotli = await receive(path, "gzip, deflate, br, zstd")
    assert headers[b"Content-Encoding"] == b"br"
    assert headers[b"Vary"] == b"Accept-Encoding"
    assert brotli.decompress(by_brotli) == text
    headers, by_gzip = await receive(path, "gzip")
    assert headers[b"Content-Encoding"] == b"gzip"
    assert gzip.decompress(by_gzip) == text
    headers, plain = await receive(path, "")
    assert b"Content-Encoding" not in headers
    assert plain == text
    assert len(by_brotli) < len(by_gzip) < len(text) / 2.5

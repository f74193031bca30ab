"""Static files as clients receive them, compressed by the encodings that they accept."""

import fnmatch
import gzip
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.core.management import call_command
from pytest_django import Settings

from profiler_site.static_files.handler import StaticHandler


@pytest.fixture
def collected(settings: Settings, tmp_path: Path) -> dict[str, bytes]:
    """Collect the static files; return them by path."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "profiler_site.static_files.storage.BundlingStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    return {
        path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.rglob("*")
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

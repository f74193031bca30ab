"""BLOB_URL, and blob stores that do not answer."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiles.storage.blobs import BlobUnavailable, open_store, s3
from profiles.storage.blobs.address import BadAddress, Bucket, Folder, parse


def test_url_selects_the_blob_store() -> None:
    assert parse("file:///var/lib/blobs") == Folder(Path("/var/lib/blobs"))
    assert parse("s3://bucket") == Bucket("bucket")
    assert parse("s3://bucket/a/b?endpoint=https://s3.example&region=eu-1") == Bucket(
        "bucket", "a/b", "https://s3.example", "eu-1"
    )


@pytest.mark.parametrize(
    "url",
    ["", "blobs", "file:blobs", "file://host/x", "s3:///x", "s3://b?key=1", "s3://b?endpoint=x"],
)
def test_invalid_url_is_rejected_with_the_reason(url: str) -> None:
    with pytest.raises(BadAddress, match="BLOB_URL"):
        parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:hush@bucket",
        "s3://key:hu/sh@bucket",
        "s3://bucket?endpoint=https://key:hush@s3.example",
        "s3:key:hush@bucket",
        "hush",
        "https://key:hush@s3.example/bucket",
        "s3://key:[hush@bucket",
        "s3://key:hush℀@bucket",
    ],
)
def test_url_with_credentials_is_rejected_without_showing_them(url: str) -> None:
    with pytest.raises(BadAddress, match="BLOB_URL") as bad:
        parse(url)
    assert "hu" not in str(bad.value)
    assert bad.value.__suppress_context__ or bad.value.__context__ is None


@pytest.fixture
def silent() -> Iterator[str]:
    """Start a server that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"s3://bucket?endpoint=http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.slow
def test_a_store_that_never_responds_times_out(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    for name, seconds in (("REQUEST_SECONDS", 1), ("RETRY_SECONDS", 1)):
        monkeypatch.setattr(s3, name, seconds)
    with pytest.raises(BlobUnavailable, match="s3://bucket failed"):
        open_store.__wrapped__(silent).get("a")


def test_rejected_credentials_raise_with_the_reason_of_the_store(
    s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(BlobUnavailable, match=r"403|Forbidden|SignatureDoesNotMatch"):
        open_store.__wrapped__(s3_url).get("a", 0, 1)


def test_unwritable_folder_raises_blob_unavailable(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(BlobUnavailable, match="cannot be written"):
        open_store(f"file://{tmp_path}/blobs/below").put("a", b"")


def test_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    store = open_store(f"file://{tmp_path}")
    with pytest.raises(BlobUnavailable, match="No space left"):
        store.put("projects/1/a", b"bytes")
    assert list(store.list()) == []


@pytest.mark.slow
def test_file_store_does_not_import_the_s3_library() -> None:
    program = (
        "import django, sys; django.setup(); from profiles.storage.blobs import open_store;"
        "open_store('file:///tmp'); assert 'obstore' not in sys.modules"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)

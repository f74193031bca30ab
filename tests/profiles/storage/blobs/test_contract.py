"""Contract of all blob stores, tested on each of them."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from profiles.storage.blobs import BlobMissing, BlobStore, open_store

pytestmark = pytest.mark.real


@pytest.fixture(params=["files", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlobStore]:
    if request.param == "files":
        yield open_store(f"file://{tmp_path}/blobs")
    else:
        url: str = request.getfixturevalue("s3_url")
        yield open_store(url.replace("?", f"/{uuid.uuid4().hex}?"))


def test_stored_blob_is_read_back_equal(store: BlobStore) -> None:
    store.put("projects/1/a", b"some bytes")
    assert store.get("projects/1/a") == b"some bytes"
    assert store.get("projects/1/a", 5) == b"bytes"
    assert store.get("projects/1/a", 5, 3) == b"byt"
    assert store.get("projects/1/a", 0, 0) == b""


def test_range_of_a_large_blob_is_read(store: BlobStore) -> None:
    data = bytes(range(256)) * 80_000  # 20 MB
    store.put("large", data)
    assert store.get("large", 10_000_001, 300) == data[10_000_001:10_000_301]
    assert store.get("large") == data


def test_absent_blob_or_range_raises_blob_missing(store: BlobStore) -> None:
    with pytest.raises(BlobMissing, match=r"projects/1/a"):
        store.get("projects/1/a")
    store.put("projects/1/a", b"short")
    with pytest.raises(BlobMissing):
        store.get("projects/1/a", 3, 10)


def test_second_delete_of_a_blob_is_no_error(store: BlobStore) -> None:
    store.put("a", b"x")
    store.delete("a")
    store.delete("a")
    with pytest.raises(BlobMissing):
        store.get("a")


def test_blobs_are_listed_by_prefix(store: BlobStore) -> None:
    for key in ("projects/1/a", "projects/1/b", "projects/12/c", "other"):
        store.put(key, key.encode())
    found = {each.key: each for each in store.list("projects/1/")}
    assert set(found) == {"projects/1/a", "projects/1/b"}
    assert {each.key for each in store.list("projects/1")} == {*found, "projects/12/c"}
    assert len(list(store.list())) == 4
    assert found["projects/1/a"].size == len("projects/1/a")
    assert abs(found["projects/1/a"].modified - datetime.now(UTC)) < timedelta(minutes=5)


def test_an_empty_store_lists_nothing(store: BlobStore) -> None:
    assert list(store.list("projects/")) == []


@pytest.mark.parametrize("key", ["../a", "a/../b", "/a", "a//b", ".hidden", "", "a b", "a\0"])
def test_keys_never_leave_the_store(store: BlobStore, key: str) -> None:
    for attempt in (lambda: store.put(key, b""), lambda: store.get(key), lambda: store.delete(key)):
        with pytest.raises(ValueError, match="not a valid blob key"):
            attempt()

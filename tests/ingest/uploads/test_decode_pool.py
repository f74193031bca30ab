"""Choice of the thread that decodes a profile."""

import asyncio
import gzip
import threading
from datetime import UTC, datetime
from functools import partial

import pytest

from ingest.deployments import Target
from ingest.uploads import decode_pool, pipeline
from ingest.uploads.decode_pool import LARGE_BYTES, LARGE_RAW_BYTES, THREADS, is_large, start
from ingest.uploads.upload import RequestedUpload
from profiles.engine.errors import BadProfile
from profiles.engine.pprof import gunzip
from projects.profile_types import ProfileType

SECONDS = 30.0  # more than any test takes


def test_small_profiles_do_not_wait_for_large_ones() -> None:
    release, small = threading.Event(), threading.Event()
    for _ in range(THREADS + 1):
        start(1, lambda: release.wait(SECONDS) and None, large=True)
    start(1, small.set, large=False)
    assert small.wait(SECONDS)
    release.set()


def test_a_profile_is_large_by_its_body_or_by_its_raw_size() -> None:
    assert not is_large(LARGE_BYTES - 1, LARGE_RAW_BYTES)
    assert is_large(LARGE_BYTES)
    assert is_large(100, LARGE_RAW_BYTES + 1)


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        (gzip.compress(bytes(1000)), ["flamewatch-decode_"]),
        (gzip.compress(bytes(LARGE_RAW_BYTES + 1)), ["flamewatch-decode-large_"]),
        # The second member claims less than both unpack to.
        (
            gzip.compress(bytes(LARGE_RAW_BYTES)) + gzip.compress(bytes(1000)),
            ["flamewatch-decode_", "flamewatch-decode-large_"],
        ),
    ],
    ids=["small", "large", "false claim"],
)
async def test_body_with_a_true_size_in_its_trailer_is_unpacked_once(
    body: bytes, threads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list[str]()

    def gunzip_noted(body: bytes, max_raw: int) -> bytes:
        names.append(threading.current_thread().name.rstrip("0123456789"))
        return gunzip.gunzip(body, max_raw)

    monkeypatch.setattr(decode_pool, "gunzip", gunzip_noted)
    upload = RequestedUpload(
        target=Target(1, "shop-1", 2, "shop", {}),
        agent=None,
        type=ProfileType.CPU,
        pprof=body,
        labels={},
        duration_ns=None,
        name_id="name",
        requested_at=datetime.now(UTC),
    )
    with pytest.raises(BadProfile):  # zeros are no pprof
        async with asyncio.timeout(SECONDS):
            await pipeline._UploadJob(upload).run()
    assert names == threads


def test_large_profiles_have_one_thread() -> None:
    assert decode_pool._large.limits.threads == 1


async def test_profile_of_an_idle_project_is_decoded_before_the_backlog_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decode_pool, "_large", decode_pool._threads("decode-of-test", 1))
    busy, idle = 10**6, 10**6 + 1  # of no other test
    release, order = threading.Event(), list[int]()
    running = threading.Event()

    def wait() -> None:
        running.set()
        release.wait(SECONDS)

    start(busy, wait, large=True)
    assert running.wait(SECONDS)
    waiting = [
        asyncio.create_task(decode_pool.run(project, partial(order.append, project), LARGE_BYTES))
        for project in (busy, busy, idle)
    ]
    while decode_pool._large.waiting < len(waiting):  # noqa: ASYNC110  there is no event
        await asyncio.sleep(0)
    release.set()
    await asyncio.gather(*waiting)
    assert order == [idle, busy, busy]


def test_an_error_that_nobody_awaits_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("no such luck")

    ended = threading.Event()
    pool = decode_pool._threads("decode-of-test", 1)
    pool.start("A", fail)
    pool.start("A", ended.set)
    assert ended.wait(SECONDS)
    assert "no such luck" in caplog.text

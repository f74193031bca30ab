"""Choice of the thread or worker process that decodes a profile."""

import asyncio
import gzip
import threading
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from ingest.deployments import Target
from ingest.uploads import decode_pool, pipeline
from ingest.uploads.decode_job import decode_body
from ingest.uploads.decode_pool import (
    LARGE_MESSAGE_BYTES,
    THREAD_STACK_FRAMES,
    THREADS,
    WORKER_BYTES,
    WORKER_RAW_BYTES,
    WORKERS,
    NeedsWorker,
    needs_worker,
    start,
)
from ingest.uploads.upload import RequestedUpload
from profiles.engine.errors import BadProfile, TooLarge
from projects.profile_types import ProfileType
from tests.ingest.pprof import field, varint

SECONDS = 30.0  # more than any test takes


def test_small_profiles_do_not_wait_for_large_ones() -> None:
    release, small = threading.Event(), threading.Event()
    for _ in range(max(THREADS, WORKERS) + 1):
        start(1, lambda: release.wait(SECONDS) and None, in_worker=True)
    start(1, small.set, in_worker=False)
    assert small.wait(SECONDS)
    release.set()


def test_profile_needs_a_worker_by_its_body_or_by_its_raw_size() -> None:
    assert not needs_worker(bytes(WORKER_BYTES - 1))
    assert needs_worker(bytes(WORKER_BYTES))
    assert not needs_worker(gzip.compress(bytes(WORKER_RAW_BYTES)))
    assert needs_worker(gzip.compress(bytes(WORKER_RAW_BYTES + 1)))


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        (gzip.compress(bytes(1000)), ["flamewatch-decode_"]),
        (gzip.compress(bytes(WORKER_RAW_BYTES + 1)), ["flamewatch-decode-workers_"]),
        # The second member claims less than both unpack to.
        (
            gzip.compress(bytes(WORKER_RAW_BYTES)) + gzip.compress(bytes(1000)),
            ["flamewatch-decode_", "flamewatch-decode-workers_"],
        ),
    ],
    ids=["small", "large", "false claim"],
)
async def test_profile_that_unpacks_to_more_than_it_claims_starts_again_in_a_worker(
    body: bytes, threads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list[str]()

    def decode_noted(project: int, function: Any, *args: Any, in_worker: bool, **_: Any) -> object:
        names.append(threading.current_thread().name.rstrip("0123456789"))
        if in_worker:
            raise BadProfile("decoded by a worker")
        return decode(project, function, *args, in_worker=False)

    decode = decode_pool.decode
    monkeypatch.setattr(decode_pool, "decode", decode_noted)
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


def deep_samples() -> bytes:
    """Return a profile of 500 samples, each 9,000 frames deep: 4,500,000 frames in 90 kB."""
    text = field(6, b"") + b"".join(field(6, word) for word in (b"cpu", b"ns"))
    lines = field(4, field(1, 1)) * 8_999
    samples = b"".join(
        field(2, field(1, varint(n + 2) + varint(1)) + field(2, b"\x01")) for n in range(500)
    )
    return b"".join(
        [
            field(1, field(1, 1) + field(2, 2)),
            samples,
            field(4, field(1, 1) + lines),
            *(field(4, field(1, n + 2) + field(4, field(1, 1) + field(2, n))) for n in range(500)),
            field(5, field(1, 1) + field(2, 1)),
            text,
        ]
    )


def test_small_profile_of_costly_stacks_needs_a_worker() -> None:
    body = gzip.compress(deep_samples())
    assert not needs_worker(body)
    with pytest.raises(NeedsWorker):
        decode_pool.decode(1, decode_body, body, "CPU", (), in_worker=False)


def test_small_profile_above_a_limit_of_the_settings_is_rejected_in_its_thread(
    settings: Settings,
) -> None:
    settings.MAX_STACK_FRAMES = THREAD_STACK_FRAMES // 2
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_STACK_FRAMES"):
        decode_pool.decode(1, decode_body, deep_samples(), "CPU", (), in_worker=False)


def test_large_messages_have_one_thread() -> None:
    assert decode_pool._large_messages.limits.threads == 1


def test_project_leaves_a_worker_for_others() -> None:
    assert decode_pool._workers.limits.running_of_tenant == decode_pool._workers.limits.threads - 1


async def test_profile_of_an_idle_project_is_decoded_before_the_backlog_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = decode_pool._threads("decode-of-test", 1)
    monkeypatch.setattr(decode_pool, "_large_messages", one)
    monkeypatch.setattr(decode_pool, "_workers", one)
    busy, idle = 10**6, 10**6 + 1  # of no other test
    release, order = threading.Event(), list[int]()
    running = threading.Event()

    def wait() -> None:
        running.set()
        release.wait(SECONDS)

    start(busy, wait, in_worker=True)
    assert running.wait(SECONDS)
    size = LARGE_MESSAGE_BYTES
    waiting = [
        asyncio.create_task(decode_pool.run(project, partial(order.append, project), size))
        for project in (busy, busy, idle)
    ]
    while one.waiting < len(waiting):  # noqa: ASYNC110  there is no event
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

"""Repeated uploads, detected in the head and in blocks."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import httpx
import pytest
from django.utils import timezone

from ingest.cloud_profiler import names
from profiles.compaction.compactor import Compactor
from profiles.engine.blocks.sections.container import Source
from profiles.models import Block, Profile
from profiles.storage import deduplication, head
from profiles.storage.blob_store import BlockLocation, sources
from profiles.storage.new_profile import NewProfile
from profiles.storage.upload_future import UploadFuture
from projects.models import DayUsage, Project
from tests.connections import count_connections
from tests.ingest.client import Client, assert_error_response
from tests.ingest.pprof import SIMPLE, profile
from tests.profiles.compaction.long_heads import lower_row_counts
from tests.queries import count_queries
from tests.wake_ups import count_wakes

pytestmark = pytest.mark.django_db(transaction=True)


def test_repeated_upload_gets_the_same_response(agent: Client, name: str) -> None:
    first, second = agent.upload(name), agent.upload(name)
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert Profile.objects.count() == 1
    assert DayUsage.objects.get().profiles == 1


def test_repeated_upload_compressed_anew_gets_the_same_response(agent: Client, name: str) -> None:
    first, second = agent.upload(name), agent.upload(name, compressed_again(SIMPLE))
    assert second.status_code == 200
    assert first.content == second.content
    assert Profile.objects.count() == 1


def compressed_again(body: bytes) -> bytes:
    """Return another gzip of the same profile."""
    again = gzip.compress(gzip.decompress(body), compresslevel=1, mtime=1)
    assert again != body
    return again


def test_other_bytes_under_the_same_name_are_409(agent: Client, name: str) -> None:
    agent.upload(name)
    other = agent.upload(name, profile({("main",): (9, 9)}))
    assert_error_response(other, 409, "ALREADY_EXISTS", "different content")
    assert Profile.objects.get().weight == 40_000_000


def issued_before(name: str, project: Project, **ago: float) -> str:
    """Return the same name as if it had been issued earlier, by `ago` (as for `timedelta`)."""
    return issued_at(name, project, timezone.now() - timedelta(**ago))


def issued_at(name: str, project: Project, time: datetime) -> str:
    path, _, name_id = name.rpartition("/")
    issued = names.check(name_id, project.project_id, timezone.now().timestamp())
    then = replace(issued, issued=time.timestamp())
    return f"{path}/{names.issue(then, project.project_id)}"


@pytest.fixture
def packed(
    agent: Client, name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, httpx.Response]:
    """Return a name whose profile was compacted into a block, and the response to its upload."""
    name = issued_before(name, project, minutes=5)
    response = agent.upload(name)
    pack(project, monkeypatch)
    assert not Profile.objects.exists()
    return name, response


def pack(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compact the only profile as if it had been stored five minutes ago."""
    now = timezone.now()
    Profile.objects.update(stored_at=now - timedelta(minutes=5))
    with lower_row_counts(1, 1):
        assert Compactor(project.pk, now).build_level0() == 1


def test_repeated_upload_of_a_compacted_profile_gets_the_same_response(
    agent: Client, packed: tuple[str, httpx.Response]
) -> None:
    name, first = packed
    second = agent.upload(name)
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert not Profile.objects.exists()
    assert DayUsage.objects.get().profiles == 1


def test_other_bytes_under_a_name_in_a_block_are_409(
    agent: Client, packed: tuple[str, httpx.Response]
) -> None:
    other = agent.upload(packed[0], profile({("main",): (9, 9)}))
    assert_error_response(other, 409, "ALREADY_EXISTS", "different content")
    assert not Profile.objects.exists()


def test_a_profile_compacted_during_the_lookup_is_not_stored_twice(
    agent: Client, name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = issued_before(name, project, minutes=5)
    first = agent.upload(name)
    enter, in_the_head = head.enter, [name]

    def late(new: NewProfile, future: UploadFuture) -> None:
        if in_the_head:
            in_the_head.clear()
            pack(project, monkeypatch)
        enter(new, future)

    monkeypatch.setattr(head, "enter", late)
    assert agent.upload(name).content == first.content
    assert (Profile.objects.count(), Block.objects.get().profiles) == (0, 1)


def test_late_profile_needs_no_further_thread_or_connection(
    agent: Client, name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the writer looks for copies of late profiles itself, with its own connection."""
    agent.upload(issued_before(name, project, minutes=5))
    wakes = count_wakes(monkeypatch)
    with count_connections() as opened:
        assert agent.upload(issued_before(name, project, minutes=5)).status_code == 200
    assert (len(wakes), opened) == (1, [])
    assert Profile.objects.count() == 2


def test_the_names_of_a_block_are_read_once(
    agent: Client,
    name: str,
    project: Project,
    packed: tuple[str, httpx.Response],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[object] = []

    def noted(locations: Iterable[BlockLocation]) -> Iterator[Source]:
        reads.extend(locations)
        return sources(reads[-1:])  # type: ignore[arg-type]

    monkeypatch.setattr(deduplication, "sources", noted)
    time = Block.objects.get().first
    for _ in range(3):
        assert agent.upload(issued_at(name, project, time)).status_code == 200
    assert agent.upload(packed[0]).content == packed[1].content
    assert (len(reads), Profile.objects.count()) == (1, 3)


def test_late_profile_is_stored_beside_a_block_of_its_time(
    agent: Client, name: str, project: Project, packed: tuple[str, httpx.Response]
) -> None:
    agent.upload(issued_before(name, project, minutes=5))
    assert Profile.objects.count() == 1


def test_a_new_profile_is_not_looked_up_in_blocks(agent: Client, name: str) -> None:
    with count_queries() as statements:
        assert agent.upload(name).status_code == 200
    assert not [sql for sql in statements if "profiles_block" in sql]

"""Repeated uploads, detected in the head and in blocks."""

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from ingest.cloud_profiler import names
from profiles.compaction import level0, pending_series
from profiles.models import Block, Profile
from profiles.storage import deduplication
from profiles.storage.new_profile import NewProfile
from projects.models import DayUsage, Project
from tests.ingest.client import Client, assert_refused
from tests.ingest.pprof import profile
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_same_bytes_again_get_the_same_answer(agent: Client, name: str) -> None:
    first, second = agent.upload(name), agent.upload(name)
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert Profile.objects.count() == 1
    assert DayUsage.objects.get().profiles == 1


def test_other_bytes_under_the_same_name_are_409(agent: Client, name: str) -> None:
    agent.upload(name)
    other = agent.upload(name, profile({("main",): (9, 9)}))
    assert_refused(other, 409, "ALREADY_EXISTS", "different content")
    assert Profile.objects.get().weight == 40_000_000


def issued_before(name: str, project: Project, **ago: float) -> str:
    """Return the same name as if it had been issued earlier, by `ago` (as for `timedelta`)."""
    path, _, name_id = name.rpartition("/")
    now = timezone.now().timestamp()
    issued = names.check(name_id, project.project_id, now)
    then = replace(issued, issued=now - timedelta(**ago).total_seconds())
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
    for at in ((pending_series, "LONG"), (level0, "LONG"), (level0, "LEFT")):
        monkeypatch.setattr(*at, 1)
    assert level0.compact_long_heads(project.pk, now) == 1


def test_the_same_bytes_again_get_the_same_answer_from_a_block(
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
    assert_refused(other, 409, "ALREADY_EXISTS", "different content")
    assert not Profile.objects.exists()


def test_what_leaves_the_head_while_it_is_looked_for_is_not_stored_twice(
    agent: Client, name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = issued_before(name, project, minutes=5)
    first = agent.upload(name)
    look = deduplication.is_stored

    def slow(new: NewProfile) -> bool:
        found = look(new)
        pack(project, monkeypatch)
        return found

    monkeypatch.setattr(deduplication, "is_stored", slow)
    assert agent.upload(name).content == first.content
    assert (Profile.objects.count(), Block.objects.get().profiles) == (0, 1)


def test_a_late_one_is_stored_beside_a_block_of_its_time(
    agent: Client, name: str, project: Project, packed: tuple[str, httpx.Response]
) -> None:
    agent.upload(issued_before(name, project, minutes=5))
    assert Profile.objects.count() == 1


def test_what_was_just_captured_is_looked_for_in_no_block(agent: Client, name: str) -> None:
    with count_queries() as statements:
        assert agent.upload(name).status_code == 200
    assert not [sql for sql in statements if "profiles_block" in sql]

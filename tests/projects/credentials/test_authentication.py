"""Authentication by API key."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from common import write_behind
from common.cache import Cache
from projects.credentials import authentication, keys
from projects.credentials.authentication import KeyRejected, authenticate
from projects.models import ApiKey, Project
from tests.clock import Clock
from tests.examples import examples
from tests.queries import count_queries

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True, slots=True)
class Made:
    row: ApiKey
    text: str


@pytest.fixture
def key(project: Project) -> Made:
    return Made(*keys.create(project, "checkout", write=True, read=False))


def run(text: str) -> authentication.Access:
    return asyncio.run(authenticate(text))


def test_key_gives_access_to_its_project_with_its_scopes(key: Made, project: Project) -> None:
    access = run(key.text)
    assert (access.project, access.project_id) == (project.pk, "acme-shop")
    assert (access.key, access.prefix) == (key.row.pk, key.row.prefix)
    assert (access.may_write, access.may_read) == (True, False)


def test_a_cached_key_costs_no_query(key: Made) -> None:
    run(key.text)
    with count_queries() as queries:
        run(key.text)
    assert queries == []


def test_simultaneous_authentications_share_one_query(key: Made) -> None:
    async def many() -> None:
        await asyncio.gather(*(authenticate(key.text) for _ in range(50)))

    with count_queries() as queries:
        asyncio.run(many())
    assert len(queries) == 1


def test_every_rejection_has_the_same_text(key: Made) -> None:
    parts = keys.parse(key.text)
    wrong = [
        "",
        "Bearer",
        key.text[:-1],
        keys.make(parts.key_id, "x" * 32),
        keys.make("nobodyhere", parts.secret),
    ]
    said = set()
    for text in wrong:
        with pytest.raises(KeyRejected) as raised:
            run(text)
        said.add(str(raised.value))
    assert len(said) == 1
    assert parts.secret not in said.pop()


def test_an_unknown_key_is_looked_up_once(key: Made) -> None:
    unknown = keys.make("nobodyhere", "s" * 32)
    with count_queries() as queries:
        for _ in range(3):
            with pytest.raises(KeyRejected):
                run(unknown)
    assert len(queries) == 1


def test_a_wrong_secret_for_a_cached_key_costs_no_query(key: Made) -> None:
    run(key.text)
    with count_queries() as queries, pytest.raises(KeyRejected):
        run(keys.make(key.row.key_id, "x" * 32))
    assert queries == []


def test_a_revoked_key_is_rejected_at_once(key: Made) -> None:
    run(key.text)
    keys.revoke(key.row)
    with pytest.raises(KeyRejected):
        run(key.text)


def test_a_key_that_is_revoked_while_it_is_looked_up_is_not_remembered(
    key: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Revoke the key after the lookup has read its row, and before the lookup returns."""
    load = authentication._load

    def slow(key_id: str) -> object:
        found = load(key_id)
        keys.revoke(ApiKey.objects.get(key_id=key_id))
        return found

    monkeypatch.setattr(authentication._keys, "_load", slow)
    run(key.text)
    monkeypatch.setattr(authentication._keys, "_load", load)
    with pytest.raises(KeyRejected):
        run(key.text)


def test_another_processs_revocation_is_seen_after_a_while(
    key: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [0.0]
    cache = Cache(
        authentication._load,
        size=10,
        seconds=authentication.SECONDS_CACHED,
        clock=lambda: seconds[0],
    )
    monkeypatch.setattr(authentication, "_keys", cache)
    run(key.text)
    ApiKey.objects.filter(pk=key.row.pk).update(revoked="2026-01-01T00:00:00Z")
    assert run(key.text).key == key.row.pk
    seconds[0] = 15.1
    with pytest.raises(KeyRejected):
        run(key.text)


def test_cancelled_caller_does_not_end_the_shared_query(key: Made) -> None:
    async def both() -> authentication.Access:
        first = asyncio.create_task(authenticate(key.text))
        second = asyncio.create_task(authenticate(key.text))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(both()).key == key.row.pk


def test_last_use_of_a_key_is_written_behind(key: Made) -> None:
    run(key.text)
    key.row.refresh_from_db()
    assert key.row.last_used is None
    write_behind.write_now()
    key.row.refresh_from_db()
    assert key.row.last_used is not None


@settings(max_examples=examples(200))
@given(st.text(max_size=200) | st.text(alphabet="fw_abc019", max_size=80))
def test_malformed_key_is_rejected_without_a_query(text: str) -> None:
    with pytest.raises(KeyRejected):
        run(text)
    assert authentication._keys.count_missing() == 0


def test_expired_key_is_rejected_with_the_day(project: Project) -> None:
    expires = timezone.now() - timedelta(seconds=1)
    _row, text = keys.create(project, "old", expires=expires)
    with pytest.raises(KeyRejected, match=f"expired on {expires.date()}"):
        run(text)
    # Whoever has the wrong secret does not learn that the key existed.
    wrong = keys.make(keys.parse(text).key_id, "x" * 32)
    with pytest.raises(KeyRejected, match="mistyped, unknown or revoked"):
        run(wrong)


def test_cached_key_expires_without_a_query(project: Project, clock: Clock) -> None:
    _row, text = keys.create(project, "short", expires=timezone.now() + timedelta(seconds=5))
    run(text)
    clock.advance(seconds=6)
    with count_queries() as queries, pytest.raises(KeyRejected):
        run(text)
    assert queries == []


def test_last_use_has_time_and_address(key: Made) -> None:
    asyncio.run(authenticate(key.text, "203.0.113.7"))
    asyncio.run(write_behind.flush())
    key.row.refresh_from_db()
    assert key.row.last_address == "203.0.113.7"
    assert key.row.last_used is not None

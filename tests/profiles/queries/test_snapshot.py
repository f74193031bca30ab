"""Snapshots: a consistent view that does not block writers."""

import threading
from contextlib import closing

import pytest
from django.db import connection

from profiles.models import Profile
from profiles.queries.context import Snapshot
from profiles.queries.scan import stream_rows
from projects.models import Project
from tests.profiles import rows

pytestmark = pytest.mark.real


@pytest.mark.django_db(transaction=True)
def test_snapshot_does_not_see_later_rows(project: Project) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    with Snapshot():
        assert Profile.objects.count() == 1
        writer = threading.Thread(target=_store_another, args=[shop])
        writer.start()
        writer.join(60)
        assert not writer.is_alive()
        assert Profile.objects.count() == 1
    assert Profile.objects.count() == 2


def _store_another(shop: object) -> None:
    rows.stored(shop)  # type: ignore[arg-type]
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_stream_reads_the_same_state(project: Project) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    with Snapshot():
        with closing(stream_rows(Profile.objects.values_list("time", "pk"))) as stream:
            assert len(list(stream)) == 1
        writer = threading.Thread(target=_store_another, args=[shop])
        writer.start()
        writer.join(60)
        assert Profile.objects.count() == 1
    assert Profile.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_exception_inside_ends_the_snapshot(project: Project) -> None:
    with pytest.raises(ZeroDivisionError), Snapshot():
        raise ZeroDivisionError
    rows.stored(rows.deployment(project))
    assert Profile.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_once_runs_a_query_once_in_nested_snapshots(project: Project) -> None:
    values = iter(range(9))
    state = Snapshot()
    with state:
        assert state.once("how many", lambda: next(values)) == 0
        with state:
            assert state.once("how many", lambda: next(values)) == 0
            assert state.once("another", lambda: next(values)) == 1
        assert state.once("another", lambda: next(values)) == 1
    with state:
        assert state.once("how many", lambda: next(values)) == 2


def test_once_outside_a_snapshot_runs_each_time() -> None:
    values, state = iter(range(9)), Snapshot()
    assert [state.once("how many", lambda: next(values)) for _ in range(2)] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_two_snapshots_do_not_share_results(project: Project) -> None:
    with Snapshot() as state:
        state.once("how many", lambda: 1)
        assert Snapshot().once("how many", lambda: 2) == 2
        assert state.once("how many", lambda: 3) == 1

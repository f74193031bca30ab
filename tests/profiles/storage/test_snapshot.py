"""Snapshots: a consistent view that does not block writers."""

import threading
from contextlib import closing

import pytest
from django.db import DatabaseError, connection

from profiles.models import Profile
from profiles.storage.snapshot import Rows, SelectStatement, Snapshot
from projects.models import Project
from tests.profiles import rows
from tests.queries import count_queries

pytestmark = pytest.mark.real


@pytest.mark.django_db(transaction=True)
def test_it_sees_nothing_that_came_later(project: Project) -> None:
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
@pytest.mark.parametrize("first", ["a query", "a stream"])
def test_it_begins_with_whatever_is_sent_first(project: Project, first: str) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    how_many = SelectStatement(
        "how many", f"SELECT count(*) FROM {Profile._meta.db_table}", (), _number
    )
    with Snapshot() as state:
        if first == "a query":
            assert state.select(how_many) == 1
        else:
            with closing(state.stream(Profile.objects.values_list("time", "pk"))) as stream:
                assert len(list(stream)) == 1
        writer = threading.Thread(target=_store_another, args=[shop])
        writer.start()
        writer.join(60)
        assert Profile.objects.count() == 1
        assert state.select(how_many) == 1
    assert state.select(how_many) == 2


def _number(found: Rows) -> int:
    return int(found[0][0])


@pytest.mark.django_db(transaction=True)
def test_values_of_a_statement_are_bound(project: Project) -> None:
    statement = SelectStatement("text", "SELECT %s, %s", (1, "50%s"), lambda found: found[0])
    with count_queries() as sent, Snapshot() as state:
        assert [state.select(statement) for _ in range(2)] == [(1, "50%s")] * 2
    assert len(sent) == 3  # with the beginning and the end
    broken = SelectStatement("no", "SELECT nothing", (), _number)
    with pytest.raises(DatabaseError), Snapshot() as state:
        state.select(broken)
    assert state.select(statement) == (1, "50%s")


@pytest.mark.django_db(transaction=True)
def test_an_error_inside_ends_it(project: Project) -> None:
    with pytest.raises(ZeroDivisionError), Snapshot():
        raise ZeroDivisionError
    rows.stored(rows.deployment(project))
    assert Profile.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_query_runs_once_in_it_and_in_nested_ones(project: Project) -> None:
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


def test_outside_every_query_runs() -> None:
    values, state = iter(range(9)), Snapshot()
    assert [state.once("how many", lambda: next(values)) for _ in range(2)] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_another_one_has_its_own_results(project: Project) -> None:
    with Snapshot() as state:
        state.once("how many", lambda: 1)
        assert Snapshot().once("how many", lambda: 2) == 2
        assert state.once("how many", lambda: 3) == 1

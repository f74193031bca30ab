"""A snapshot sees one moment, and writers need not wait for it."""

import threading

import pytest
from django.db import connection

from profiles.models import Profile
from profiles.store.snapshot import once, snapshot
from projects.models import Project
from tests.profiles import rows

pytestmark = pytest.mark.real


@pytest.mark.django_db(transaction=True)
def test_it_sees_nothing_that_came_later(project: Project) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    with snapshot():
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
def test_an_error_inside_ends_it(project: Project) -> None:
    with pytest.raises(ZeroDivisionError), snapshot():
        raise ZeroDivisionError
    rows.stored(rows.deployment(project))
    assert Profile.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_question_is_asked_once_in_it_and_in_those_inside(project: Project) -> None:
    answers = iter(range(9))
    with snapshot():
        assert once("how many", lambda: next(answers)) == 0
        with snapshot():
            assert once("how many", lambda: next(answers)) == 0
            assert once("another", lambda: next(answers)) == 1
        assert once("another", lambda: next(answers)) == 1
    with snapshot():
        assert once("how many", lambda: next(answers)) == 2


def test_outside_every_question_is_asked() -> None:
    answers = iter(range(9))
    assert [once("how many", lambda: next(answers)) for _ in range(2)] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_another_thread_has_its_own(project: Project) -> None:
    found: list[int] = []
    with snapshot():
        once("how many", lambda: 1)
        other = threading.Thread(target=lambda: found.append(once("how many", lambda: 2)))
        other.start()
        other.join(60)
    assert found == [2]

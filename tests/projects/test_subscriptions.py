"""E-mails by kind: defaults of roles, and the choices of members."""

import pytest

from projects.models import EventKind, Member, Project, Role, User
from projects.subscriptions import KINDS, change_subscriptions, find_subscribers

pytestmark = pytest.mark.django_db


def get_member(project: Project, user: User) -> Member:
    return Member.objects.get(project=project, user=user)


def test_owners_and_admins_get_all_kinds_until_they_choose(
    project: Project, alice: User, bob: User
) -> None:
    for kind in KINDS:
        assert find_subscribers(project, kind) == [alice.pk]
    change_subscriptions(get_member(project, alice), [EventKind.ALERT])
    change_subscriptions(get_member(project, bob), [EventKind.FINDING, EventKind.ALERT])
    assert find_subscribers(project, EventKind.ALERT) == [alice.pk, bob.pk]
    assert find_subscribers(project, EventKind.FINDING) == [bob.pk]
    assert find_subscribers(project, EventKind.QUOTA) == []


def test_choice_outlives_a_change_of_role(project: Project, bob: User) -> None:
    member = get_member(project, bob)
    change_subscriptions(member, [EventKind.FINDING])
    member.role = Role.OWNER
    member.save()
    assert bob.pk in find_subscribers(project, EventKind.FINDING)
    assert bob.pk not in find_subscribers(project, EventKind.QUOTA)


def test_subscriptions_are_those_of_one_project(
    project: Project, other_project: Project, alice: User
) -> None:
    Member.objects.create(project=other_project, user=alice, role=Role.OWNER)
    change_subscriptions(get_member(project, alice), [])
    assert find_subscribers(project, EventKind.ALERT) == []
    assert alice.pk in find_subscribers(other_project, EventKind.ALERT)

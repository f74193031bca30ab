"""Permissions in a project."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from projects.access import list_projects, may_capture, may_manage_keys, membership, project_for
from projects.credentials import keys
from projects.models import ApiKey, AuditEntry, Member, Project, Role, User
from projects.project_ids import create_project

pytestmark = pytest.mark.django_db


def test_members_have_access_to_their_project(project: Project, alice: User, bob: User) -> None:
    assert project_for(alice, "acme-shop") == project
    assert membership(bob, "acme-shop").role == Role.MEMBER


def test_project_of_another_tenant_is_404_like_a_missing_one(
    project: Project, charlie: User
) -> None:
    create_project("Other Shop", charlie)
    for user in (charlie, AnonymousUser()):
        said = set()
        for project_id in ("acme-shop", "no-such-project"):
            with pytest.raises(Http404) as not_there:
                membership(user, project_id)
            said.add(str(not_there.value))
        assert len(said) == 1


def test_project_list_has_only_projects_of_the_user(
    project: Project, alice: User, charlie: User
) -> None:
    others = create_project("Other Shop", charlie)
    assert list_projects(alice) == [project]
    assert list_projects(charlie) == [others]


@pytest.mark.parametrize(
    ("role", "changes", "captures"),
    [
        (Role.OWNER, True, True),
        (Role.ADMIN, True, True),
        (Role.MEMBER, False, True),
        (Role.VIEWER, False, False),
    ],
)
def test_each_role_has_its_permissions(role: Role, changes: bool, captures: bool) -> None:
    member = Member(role=role)
    assert (may_manage_keys(member), may_capture(member)) == (changes, captures)


def test_keys_of_a_project_are_listed_with_active_ones_first(
    project: Project, alice: User, charlie: User
) -> None:
    keys.create(create_project("Other Shop", charlie), "theirs")
    old, used, new = (keys.create(project, name)[0] for name in ("old", "used", "new"))
    keys.revoke(old, actor=alice)
    assert keys.list_keys(project) == [new, used, old]


def test_making_and_revoking_a_key_is_audited_without_its_secret(
    project: Project, alice: User
) -> None:
    row, text = keys.create(project, "checkout", actor=alice)
    keys.revoke(row, actor=alice)
    keys.revoke(row, actor=alice)
    entries = AuditEntry.objects.filter(action__startswith="key.").order_by("pk")
    assert [entry.action for entry in entries] == ["key.create", "key.revoke"]
    assert {entry.actor for entry in entries} == {alice}
    named = {"key": row.prefix, "name": "checkout"}
    created = {"write": True, "read": False, "services": [], "expires": None}
    assert [entry.detail for entry in entries] == [named | created, named]
    assert keys.parse(text).secret not in str([entry.detail for entry in entries])


def test_a_revoked_key_stays_as_a_row(project: Project) -> None:
    row, _text = keys.create(project, "checkout")
    keys.revoke(row)
    assert ApiKey.objects.get().revoked is not None

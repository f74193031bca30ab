"""Changes of roles and members, with the protection of the last owner."""

from collections.abc import Callable

import pytest
from django.db import transaction
from pytest_django import Settings

from projects import invitations, members
from projects.account_limits import LimitReached
from projects.members import LastOwner, MemberChanged, PermissionNeeded
from projects.models import AuditEntry, Invitation, Member, Project, Role, User
from projects.permissions import ROLES, Permission
from projects.project_ids import create_project
from tests.projects.test_account_limits import Concurrent

pytestmark = pytest.mark.django_db


@pytest.fixture
def join(project: Project) -> Callable[[str, Role], Member]:
    def add(name: str, role: Role) -> Member:
        user = User.objects.create_user(f"{name}@example.org", "a sentence works well")
        return Member.objects.create(project=project, user=user, role=role)

    return add


@pytest.fixture
def owner(project: Project, alice: User) -> Member:
    return Member.objects.get(project=project, user=alice)


def get_role(member: Member) -> str:
    return Member.objects.get(pk=member.pk).role


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("before", ROLES)
@pytest.mark.parametrize("after", ROLES)
def test_each_role_gives_only_roles_that_it_may(
    join: Callable[[str, Role], Member], owner: Member, role: Role, before: Role, after: Role
) -> None:
    actor, target = join("actor", role), join("target", before)
    highest = {Role.OWNER: ROLES, Role.ADMIN: ROLES[:3]}.get(role, ())
    if before in highest and after in highest:
        members.change_role(actor, target, after)
        assert get_role(target) == after
    else:
        with pytest.raises(PermissionNeeded):
            members.change_role(actor, target, after)
        assert get_role(target) == before
    assert members.assignable_roles(actor, target) == (highest if before in highest else ())


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER, Role.ADMIN])
def test_nobody_raises_oneself(join: Callable[[str, Role], Member], role: Role) -> None:
    member = join("m", role)
    for higher in ROLES[ROLES.index(role) + 1 :]:
        with pytest.raises(PermissionNeeded):
            members.change_role(member, member, higher)
    assert get_role(member) == role


@pytest.mark.parametrize(
    ("role", "target", "is_allowed"),
    [
        (Role.ADMIN, Role.OWNER, False),
        (Role.ADMIN, Role.ADMIN, True),
        (Role.MEMBER, Role.VIEWER, False),
        (Role.OWNER, Role.OWNER, True),
    ],
)
def test_removing_needs_a_role(
    join: Callable[[str, Role], Member],
    owner: Member,
    role: Role,
    target: Role,
    is_allowed: bool,
) -> None:
    actor, other = join("actor", role), join("other", target)
    if is_allowed:
        members.remove(actor, other)
    else:
        with pytest.raises(PermissionNeeded):
            members.remove(actor, other)
    assert Member.objects.filter(pk=other.pk).exists() is not is_allowed


def test_last_owner_stays(join: Callable[[str, Role], Member], owner: Member) -> None:
    change: Callable[[], object]
    for change in (
        lambda: members.leave(owner),
        lambda: members.remove(owner, owner),
        lambda: members.change_role(owner, owner, Role.ADMIN),
    ):
        with pytest.raises(LastOwner, match="Acme Shop would have no owner"):
            change()
    second = join("second", Role.OWNER)
    members.leave(owner)
    with pytest.raises(LastOwner):
        members.leave(second)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["leave", "remove", "demote"])
def test_two_owners_at_once_leave_one(
    kind: str, join: Callable[[str, Role], Member], owner: Member, project: Project
) -> None:
    second = join("second", Role.OWNER)

    def go(member: Member, other: Member) -> None:
        if kind == "leave":
            members.leave(member)
        elif kind == "remove":
            members.remove(member, other)
        else:
            members.change_role(member, member, Role.ADMIN)

    with transaction.atomic():
        go(owner, second)
        # It cannot see the uncommitted change: without a lock it would end here, without an owner.
        other = Concurrent(lambda: go(second, owner))
        other.join(0.5)
    assert other.join()
    assert isinstance(other.error, LastOwner | MemberChanged)
    assert Member.objects.filter(project=project, role=Role.OWNER).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_person_whose_role_was_just_taken_changes_nothing(
    join: Callable[[str, Role], Member], owner: Member
) -> None:
    admin, target = join("admin", Role.ADMIN), join("target", Role.VIEWER)
    with transaction.atomic():
        members.change_role(owner, admin, Role.VIEWER)
        other = Concurrent(lambda: members.change_role(admin, target, Role.ADMIN))
        other.join(0.5)
    assert other.join()
    assert isinstance(other.error, PermissionNeeded)
    assert get_role(target) == Role.VIEWER


def test_transfer_makes_the_other_owner_and_oneself_admin(
    join: Callable[[str, Role], Member], owner: Member
) -> None:
    other = join("other", Role.MEMBER)
    members.transfer(owner, other)
    assert (get_role(owner), get_role(other)) == (Role.ADMIN, Role.OWNER)
    entries = AuditEntry.objects.filter(action="project.transfer")
    assert [entry.target for entry in entries] == ["other@example.org"]
    with pytest.raises(PermissionNeeded) as needed:
        members.transfer(owner, other)
    assert needed.value.permission is Permission.MANAGE_OWNERS


def test_transfer_to_oneself_is_no_way_to_lose_the_owner(owner: Member) -> None:
    with pytest.raises(MemberChanged):
        members.transfer(owner, owner)
    assert get_role(owner) == Role.OWNER


def test_new_owner_is_within_the_limit_of_the_account(
    join: Callable[[str, Role], Member], owner: Member, settings: Settings
) -> None:
    settings.MAX_PROJECTS_PER_ACCOUNT = 1
    busy = join("busy", Role.MEMBER)
    create_project("Elsewhere", busy.user)
    change: Callable[[], object]
    for change in (
        lambda: members.change_role(owner, busy, Role.OWNER),
        lambda: members.transfer(owner, busy),
    ):
        with pytest.raises(LimitReached):
            change()
    assert (get_role(owner), get_role(busy)) == (Role.OWNER, Role.MEMBER)


def test_member_of_another_project_is_no_target(
    owner: Member, other_project: Project, charlie: User
) -> None:
    stranger = Member.objects.get(project=other_project, user=charlie)
    change: Callable[[], object]
    for change in (
        lambda: members.remove(owner, stranger),
        lambda: members.transfer(owner, stranger),
        lambda: members.change_role(owner, stranger, Role.VIEWER),
    ):
        with pytest.raises(MemberChanged):
            change()
    assert get_role(stranger) == Role.OWNER


@pytest.mark.parametrize("kind", ["remove", "demote", "leave"])
def test_invitations_of_an_admin_end_with_the_role(
    kind: str, join: Callable[[str, Role], Member], owner: Member, project: Project
) -> None:
    admin = join("admin", Role.ADMIN)
    (mine,) = invitations.create(project, [], Role.ADMIN, actor=admin.user)
    (theirs,) = invitations.create(project, [], Role.ADMIN, actor=owner.user)
    if kind == "remove":
        members.remove(owner, admin)
    elif kind == "leave":
        members.leave(admin)
    else:
        members.change_role(owner, admin, Role.MEMBER)
    open_ = Invitation.objects.filter(revoked=None)
    assert [row.pk for row in open_] == [theirs.pk]
    entry = AuditEntry.objects.get(action="invitation.revoke")
    assert entry.detail["invitation"] == mine.pk


def test_each_change_is_audited_with_actor_and_person(
    join: Callable[[str, Role], Member], owner: Member, alice: User
) -> None:
    target, leaver = join("target", Role.VIEWER), join("leaver", Role.VIEWER)
    members.change_role(owner, target, Role.ADMIN)
    members.change_role(owner, target, Role.ADMIN)
    members.remove(owner, target)
    members.leave(leaver)
    entries = list(AuditEntry.objects.filter(action__startswith="member.").order_by("pk"))
    assert [entry.action for entry in entries] == ["member.role", "member.remove", "member.leave"]
    assert [entry.actor for entry in entries] == [alice, alice, leaver.user]
    assert entries[0].target == "target@example.org"
    assert entries[0].detail == {"role": "admin", "before": "viewer"}


def test_a_change_that_is_not_audited_is_not_made(
    join: Callable[[str, Role], Member], owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = join("target", Role.VIEWER)

    def fail(*_args: object, **_detail: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("projects.audit.record", fail)
    change: Callable[[], object]
    for change in (
        lambda: members.change_role(owner, target, Role.ADMIN),
        lambda: members.remove(owner, target),
        lambda: members.leave(target),
        lambda: invitations.create(owner.project, [], Role.VIEWER, actor=owner.user),
    ):
        with pytest.raises(RuntimeError):
            change()
    assert get_role(target) == Role.VIEWER
    assert not Invitation.objects.exists()

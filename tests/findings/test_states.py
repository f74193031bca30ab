"""States of findings: transitions, history, audit log and votes."""

from collections.abc import Callable

import pytest

from findings import states
from findings.listing import count_states, count_votes
from findings.models import Direction, Finding, FindingMute, FindingState
from findings.new_findings import count_new
from projects.audit import NO_CLIENT
from projects.models import AuditEntry, Project, User
from tests.findings.factory import add_finding

pytestmark = pytest.mark.django_db

Transition = Callable[..., None]


def test_acknowledged_finding_has_a_person_history_and_audit_entry(
    project: Project, alice: User
) -> None:
    finding = add_finding(project)
    states.acknowledge(finding, actor=alice, origin=NO_CLIENT, note="known")
    finding.refresh_from_db()
    assert (finding.state, finding.assignee) == (FindingState.ACKNOWLEDGED, alice)
    events = list(finding.events.order_by("pk").values_list("kind", "actor", "note"))
    assert events == [("found", None, ""), ("acknowledged", alice.pk, "known")]
    entry = AuditEntry.objects.get(action="finding.acknowledged")
    assert (entry.target, entry.detail["finding"]) == ("shop.price", finding.finding_id)


@pytest.mark.parametrize(
    ("transition", "state"),
    [
        (states.acknowledge, FindingState.ACKNOWLEDGED),
        (states.acknowledge, FindingState.RESOLVED),
        (states.acknowledge, FindingState.MUTED),
        (states.resolve, FindingState.RESOLVED),
        (states.resolve, FindingState.MUTED),
        (states.reopen, FindingState.NEW),
        (states.reopen, FindingState.ACKNOWLEDGED),
        (states.mute, FindingState.MUTED),
    ],
)
def test_transition_that_the_state_forbids_changes_nothing(
    project: Project, alice: User, transition: Transition, state: FindingState
) -> None:
    finding = add_finding(project, state=state)
    with pytest.raises(states.FindingChanged, match=state.label.lower()):
        transition(finding, actor=alice, origin=NO_CLIENT)
    assert Finding.objects.get().state == state
    assert finding.events.count() == 1
    assert not AuditEntry.objects.filter(action__startswith="finding.").exists()


def test_reopened_finding_ends_the_mutes_that_cover_it(project: Project, alice: User) -> None:
    finding = add_finding(project)
    states.mute(finding, actor=alice, origin=NO_CLIENT, is_service=True)
    FindingMute.objects.create(project=project, service="shop", function="other")
    FindingMute.objects.create(project=project, service="till")
    states.reopen(finding, actor=alice, origin=NO_CLIENT)
    finding.refresh_from_db()
    assert (finding.state, finding.ended) == (FindingState.ACKNOWLEDGED, None)
    assert FindingMute.objects.count() == 2


def test_mute_until_another_version_needs_a_version(project: Project, alice: User) -> None:
    finding = add_finding(project, version="")
    with pytest.raises(states.FindingChanged, match="no version"):
        states.mute(finding, actor=alice, origin=NO_CLIENT, is_version=True)
    assert Finding.objects.get().state == FindingState.NEW


def test_only_members_can_be_assigned(project: Project, alice: User, charlie: User) -> None:
    finding = add_finding(project)
    with pytest.raises(states.FindingChanged):
        states.assign(finding, charlie, actor=alice, origin=NO_CLIENT)
    states.assign(finding, alice, actor=alice, origin=NO_CLIENT)
    assert Finding.objects.get().assignee == alice


def test_a_person_has_one_vote(project: Project, alice: User, bob: User) -> None:
    finding = add_finding(project)
    for is_true in (True, False):
        states.vote(finding, actor=alice, is_true=is_true)
    states.vote(finding, actor=bob, is_true=True)
    assert count_votes(finding) == (1, 1)


def test_counts_are_those_of_the_project(project: Project, other_project: Project) -> None:
    add_finding(project)
    add_finding(project, state=FindingState.MUTED)
    add_finding(project, direction=Direction.IMPROVEMENT)
    add_finding(other_project)
    assert count_new(project.pk) == 1
    assert count_states(project.pk, Direction.REGRESSION) == {
        FindingState.NEW: 1,
        FindingState.ACKNOWLEDGED: 0,
        FindingState.RESOLVED: 0,
        FindingState.MUTED: 1,
    }

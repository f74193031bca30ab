"""Deletion of a selection of profiles: exactly these are gone, in every form of storage."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from profiles.compaction import build_workers
from profiles.compaction.compactor import Compactor
from profiles.deletion import jobs, runner
from profiles.deletion.jobs import DeletionSelection
from profiles.models import Block, BlockLevel, DeletionState, Profile, Resolution
from profiles.query import ProfileSelection, View, run_tree
from profiles.storage.blob_store import blobs, get_location, read
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context
from tests.profiles.deletion.run_jobs import run_pass, run_to_end
from tests.profiles.queries.compaction_stages import STAGES, compact_to
from tests.profiles.queries.labelled_profiles import DAY, LabelledProfile, fill, whole

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
START, END = rows.NOON + timedelta(hours=3, minutes=7), rows.NOON + timedelta(hours=26, minutes=33)
SELECTIONS = {
    "time": DeletionSelection(start=START, end=END),
    "time of a service": DeletionSelection("shop", "CPU", start=START, end=END),
    "zone": DeletionSelection("shop", zone="eu"),
    "no version": DeletionSelection(version=""),
    "version in a zone for some time": DeletionSelection("shop", "", "us", "2", START, END),
    "service": DeletionSelection("shop"),
    "other type": DeletionSelection("shop", "HEAP"),
    "other service": DeletionSelection("shop2"),
}


def is_selected(sent: LabelledProfile, selection: DeletionSelection) -> bool:
    return (
        selection.service in ("", "shop")
        and selection.type in ("", "CPU")
        and selection.zone in (None, sent.zone)
        and selection.version in (None, sent.version)
        and (selection.start is None or selection.start <= sent.time)
        and (selection.end is None or sent.time < selection.end)
    )


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_exactly_the_selected_profiles_are_gone(
    project: Project, stage: str, selection: DeletionSelection
) -> None:
    sent = fill(project)
    compact_to(project, stage)
    before = really_stored_bytes(project)
    expected = {f"p{n:03}" for n, each in enumerate(sent) if not is_selected(each, selection)}
    job = jobs.request_deletion(project, selection, actor=None)
    run_to_end(job)
    assert {name for name, _ in stock(project)} == expected
    assert set(stock(project).values()) <= {1}
    assert job.profiles == len(sent) - len(expected)
    assert job.bytes == before - really_stored_bytes(project)
    if stage not in {"half", "parts"}:  # which change the days of arrival
        assert counted_bytes(project) == really_stored_bytes(project)
    every = whole(project)
    result = run_tree(query_context(every), every, View()) if expected else None
    assert (result.coverage.profiles if result else 0) == len(expected)


def test_day_block_is_summed_again_without_the_deleted_profiles(project: Project) -> None:
    sent = fill(project)
    compact_to(project, "days")
    selection = DeletionSelection("shop", zone="eu")
    run_to_end(jobs.request_deletion(project, selection, actor=None))
    assert not Block.objects.filter(resolution=Resolution.DAY).exists()
    sum_days(project.pk, rows.days_later(5))
    days = Block.objects.filter(resolution=Resolution.DAY)
    assert sum(day.profiles for day in days) == sum(each.zone == "us" for each in sent)


def test_profile_that_is_uploaded_again_during_the_deletion_is_deleted_too(
    project: Project,
) -> None:
    shop = rows.deployment(project)
    made = rows.stored(shop, name_id="again")
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    run_pass(job)
    assert job.state == DeletionState.ERASING
    assert not Profile.objects.exists()
    shop = rows.deployment(project)
    rows.stored(shop, name_id=made.name_id)
    run_to_end(job)
    assert not Profile.objects.exists()
    assert job.profiles == 2


def test_profile_captured_after_the_first_pass_stays(project: Project) -> None:
    rows.stored(rows.deployment(project))
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    run_pass(job)
    rows.stored(rows.deployment(project), name_id="new")
    Profile.objects.update(time=timezone.now() + timedelta(seconds=1))
    run_to_end(job)
    assert [row.name_id for row in Profile.objects.all()] == ["new"]


def test_compaction_that_has_read_deleted_rows_does_not_store_them(project: Project) -> None:
    for number in range(4):
        rows.stored(rows.deployment(project), minutes=number)
    compactor = Compactor(project.pk, rows.days_later(5))
    for step in [*compactor.plan(BlockLevel.LEVEL_1)]:
        compactor.build(step)
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    run_pass(job)
    assert compactor.replace() == []
    run_to_end(job)
    assert stock(project) == Counter()


def test_deletion_that_has_read_a_replaced_block_is_repeated(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compact between the read of a block and its replacement."""
    for zone in ("eu", "us"):
        rows.stored(rows.deployment(project, zone=zone), name_id=zone)
    later = rows.days_later(5)
    Compactor(project.pk, later).build_level1()
    real = build_workers.build
    calls: list[int] = []

    def build_late(*args: object) -> object:
        built = real(*args)  # type: ignore[arg-type]
        if not calls:
            calls.append(1)
            assert sum_days(project.pk, later) == 1
        return built

    monkeypatch.setattr(runner, "build", build_late)
    run_to_end(jobs.request_deletion(project, DeletionSelection("shop", zone="eu"), actor=None))
    assert {name for name, _ in stock(project)} == {"us"}
    assert not Block.objects.filter(resolution=Resolution.DAY).exists()


def test_other_project_is_untouched(project: Project, shop_of_bob: Deployment) -> None:
    rows.stored(rows.deployment(project))
    rows.stored(shop_of_bob, name_id="other")
    run_to_end(jobs.request_deletion(project, DeletionSelection("shop"), actor=None))
    assert [row.project_id for row in Profile.objects.all()] == [shop_of_bob.project_id]
    assert Deployment.objects.get() == shop_of_bob


def test_damaged_block_with_selected_profiles_is_deleted_as_a_whole(project: Project) -> None:
    for zone in ("eu", "us"):
        rows.stored(rows.deployment(project, zone=zone), name_id=zone)
    Compactor(project.pk, rows.days_later(5)).build_level1()
    blob = Block.objects.select_related("blob").get().blob
    blobs().put(blob.key, b"x" * blob.size)
    run_to_end(jobs.request_deletion(project, DeletionSelection(zone="eu"), actor=None))
    assert not Block.objects.exists()


def test_interrupted_pass_goes_on_where_it_ended(project: Project) -> None:
    """Let every run end after one step."""
    sent = fill(project)
    compact_to(project, "hours")
    job = jobs.request_deletion(project, DeletionSelection("shop", zone="eu"), actor=None)
    run_pass(job, seconds=0.0)
    run_to_end(job)
    assert job.profiles == sum(each.zone == "eu" for each in sent)
    assert len(stock(project)) == sum(each.zone == "us" for each in sent)


def test_count_before_the_deletion_is_that_of_the_deletion(project: Project) -> None:
    fill(project)
    compact_to(project, "parts")
    selection = DeletionSelection("shop", version="2")
    expected = jobs.count_profiles(project, selection)
    job = jobs.request_deletion(project, selection, actor=None)
    run_to_end(job)
    assert (job.profiles, job.expected_profiles) == (expected, expected)


def test_query_planned_before_still_reads_its_blobs(project: Project) -> None:
    """Check that a blob is not deleted while a query may still read it."""
    rows.stored(rows.deployment(project))
    later = rows.days_later(5)
    Compactor(project.pk, later).build_level1()
    location = get_location(Block.objects.select_related("blob").get())
    job = jobs.request_deletion(project, DeletionSelection("shop"), actor=None)
    run_pass(job)
    assert not Block.objects.exists()
    assert read(location)
    selection = ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON - DAY, rows.NOON + DAY
    )
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 0

"""Picker options: menus, services."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.queries.deployments import matching_deployments
from profiles.query import (
    MenuChoice,
    ProfileSelection,
    ServiceName,
    run_options,
    run_service_names,
    run_service_search,
    run_services,
)
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
HOUR = (rows.NOON, rows.NOON + timedelta(hours=1))


def test_menus_list_the_zones_versions_and_labels_in_the_range(
    project: Project, charlie: User
) -> None:
    for version in ("1", "2", "2"):
        rows.stored(rows.deployment(project, version=version), labels={"instance": version})
    rows.stored(rows.deployment(project, zone="us"), type=ProfileType.WALL)
    rows.stored(rows.deployment(project, service="other"))
    rows.stored(rows.deployment(project, service="later"), minutes=99)
    rows.stored(rows.deployment(create_project("Theirs", charlie), service="theirs"))
    options = run_options(query_context(project.pk), "shop", ProfileType.CPU, *HOUR)
    assert options.zones == (MenuChoice("eu-1", 3),)
    assert options.versions == (MenuChoice("1", 1), MenuChoice("2", 2))
    assert options.labels == {"instance": (MenuChoice("2", 2), MenuChoice("1", 1))}
    assert options.metrics == (("cpu", "nanoseconds"),)


def test_menus_are_the_same_after_other_queries_of_a_snapshot(project: Project) -> None:
    """Check that queries of one snapshot do not share rows of different selections."""
    rows.stored(rows.deployment(project))
    rows.stored(rows.deployment(project, service="other", version="2", zone="us"))
    context = query_context(project.pk)
    with context.snapshot:
        run_service_names(context)
        options = run_options(context, "shop", ProfileType.CPU, *HOUR)
    assert (options.zones, options.versions) == ((MenuChoice("eu-1", 1),), (MenuChoice("1", 1),))


def test_weight_options_have_number_and_range_of_their_profiles(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for weight in range(1, 21):
        rows.stored(shop, {"main": weight})
    weights = run_options(query_context(shop.project_id), "shop", ProfileType.CPU, *HOUR).weights
    assert [(w.percent, w.profiles, w.lowest, w.highest) for w in weights] == [
        (50, 10, 11_000, 20_000),
        (25, 5, 16_000, 20_000),
        (10, 2, 19_000, 20_000),
        (5, 1, 20_000, 20_000),
        (1, 1, 20_000, 20_000),
    ]


def test_menus_without_profiles_are_empty(project: Project) -> None:
    options = run_options(query_context(project.pk), "shop", ProfileType.CPU, *HOUR)
    assert (options.zones, options.weights, options.labels) == ((), (), {})


def test_a_menu_of_services_takes_one_statement(project: Project, charlie: User) -> None:
    rows.stored(rows.deployment(project, "shop"), type=ProfileType.WALL)
    rows.stored(rows.deployment(project, "shop", version="2"))
    rows.deployment(project, "silent")
    rows.stored(rows.deployment(create_project("Theirs", charlie), service="theirs"))
    newest = Deployment.objects.get(project=project, version="2")
    newest.last_seen += timedelta(minutes=5)
    newest.save()
    with count_queries() as statements:
        shop, silent = run_service_names(query_context(project.pk))
    assert shop == ServiceName("shop", (ProfileType.CPU, ProfileType.WALL), newest.last_seen)
    assert (silent.service, silent.types) == ("silent", ())
    assert len(statements) == 1


@pytest.mark.parametrize(
    ("words", "names", "found"),
    [
        (["0449"], ("svc-0449",), 1),
        (["SVC", "1399"], ("svc-1399",), 1),
        (["99"], ("svc-1499", "svc-1399", "svc-1299"), 24),
        ([], ("svc-1499", "svc-1498", "svc-1497"), 1500),
        (["theirs"], (), 0),
        (["_"], (), 0),
    ],
)
def test_a_search_finds_any_of_1500_services_and_counts_the_others(
    project: Project, charlie: User, words: list[str], names: tuple[str, ...], found: int
) -> None:
    rows.deployment(create_project("Theirs", charlie), service="theirs")
    Deployment.objects.bulk_create(
        Deployment(
            project=project,
            service=f"svc-{n:04}",
            version=version,
            profiled=["CPU"],
            first_seen=rows.NOON,
            last_seen=rows.NOON + timedelta(seconds=n),
        )
        for n in range(1500)
        for version in ("1", "2")
    )
    with count_queries() as statements:
        result = run_service_search(query_context(project.pk), words, 3)
    assert (result.names, result.found) == (names, found)
    assert sum("deployment" in each for each in statements) <= 2


def test_a_search_lists_services_without_profiles_last(project: Project) -> None:
    rows.stored(rows.deployment(project, "shop"))
    rows.deployment(project, "shop-new")
    Deployment.objects.filter(service="shop-new").update(
        last_seen=timezone.now() + timedelta(hours=1)
    )
    result = run_service_search(query_context(project.pk), ["shop"], 10)
    assert result.names == ("shop", "shop-new")


def test_versions_are_taken_from_deployments_that_were_read(
    project: Project, selection: ProfileSelection
) -> None:
    for version, zone in (("1", "eu-1"), ("2", "eu-1"), ("2", "us")):
        rows.stored(rows.deployment(project, version=version, zone=zone))
    rows.stored(rows.deployment(project, service="other", version="2"))
    narrowed = replace(selection, versions=("2",), zones=("us",))
    context = query_context(project.pk)
    alone = matching_deployments(context, narrowed)
    with context.snapshot:
        run_service_names(context)
        with count_queries() as statements:
            beside = matching_deployments(context, narrowed)
    assert beside.tolist() == alone.tolist()
    assert (len(alone), statements) == (1, [])


def test_services_are_listed_with_or_without_profiles(project: Project, charlie: User) -> None:
    rows.stored(rows.deployment(project, version="1"), minutes=3)
    rows.stored(rows.deployment(project, version="2"), minutes=90, type=ProfileType.WALL)
    rows.deployment(project, service="quiet")
    rows.stored(rows.deployment(create_project("Theirs", charlie), service="theirs"))
    quiet, shop = run_services(query_context(project.pk), *HOUR).rows
    assert (quiet.service, quiet.profiles, quiet.types, quiet.last_profile) == (
        "quiet",
        0,
        (),
        None,
    )
    assert (shop.service, shop.profiles, shop.versions) == ("shop", 1, ("2", "1"))
    assert shop.types == (ProfileType.CPU, ProfileType.WALL)
    assert shop.last_profile == rows.NOON + timedelta(minutes=90)


def test_a_service_that_has_long_been_quiet_keeps_its_last_profile(project: Project) -> None:
    days = 24 * 60
    for service, minutes in (("busy", 0), ("busy", -9 * days), ("old", -9 * days), ("new", 5)):
        rows.stored(rows.deployment(project, service=service), minutes=minutes)
    rows.deployment(project, service="silent")

    def last() -> dict[str, datetime | None]:
        return {
            row.service: row.last_profile
            for row in run_services(query_context(project.pk), *HOUR).rows
        }

    expected = {
        "busy": rows.NOON,
        "new": rows.NOON + timedelta(minutes=5),
        "old": rows.NOON - timedelta(days=9),
        "silent": None,
    }
    assert last() == expected
    Compactor(project.pk, timezone.now() + timedelta(days=1)).build_level1()
    assert last() == expected

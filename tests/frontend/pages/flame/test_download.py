"""`/p/<project>/flame/download/<format>`: content, file name and access control."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from frontend.components.results.downloads import download_name
from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from profiles.query import ProfileSelection, View, run_tree
from projects.models import Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.profiles.contexts import query_context

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUERY = "?service=checkout&type=CPU&from=2026-11-20T11:00:00Z&to=2026-11-20T13:00:00Z"
TOTAL = 2 * 1000 * sum(shop.STACKS.values())  # nanoseconds, of two profiles


def selected(project: int) -> ProfileSelection:
    return ProfileSelection(
        project, "checkout", ProfileType.CPU, NOON.replace(hour=11), NOON.replace(hour=13)
    )


@pytest.fixture(autouse=True)
def profiles(project: Project) -> None:
    shop.send(shop.deployment(project), [NOON, NOON.replace(minute=1)])


def url(project: Project, form: str) -> str:
    return reverse("flame_download", args=[project.project_id, form])


def test_pprof_file_has_the_total_and_a_descriptive_name(
    client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    response = client.get(url(project, "pprof") + QUERY)
    assert response.headers["Content-Disposition"] == (
        'attachment; filename="profiler_checkout_CPU_20261120T110000Z_20261120T130000Z'
        '_all_all.pb.gz"'
    )
    digested = decode_profile(gunzip(response.content, 2**20), "CPU", DecodeLimits())
    assert digested.weight == TOTAL
    assert digested.time_ns == round(NOON.timestamp()) * 10**9
    assert 0 not in digested.tree.frames.line.tolist()


def test_folded_file_has_every_stack(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    lines = client.get(url(project, "folded") + QUERY).content.decode().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == TOTAL
    assert len(lines) == len(shop.STACKS)


def test_speedscope_file_has_the_total(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    document = json.loads(client.get(url(project, "speedscope") + QUERY).content)
    assert document["profiles"][0]["endValue"] == TOTAL


def test_csv_file_has_the_function_list(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    response = client.get(url(project, "csv") + QUERY)
    assert '_all_all.csv"' in response.headers["Content-Disposition"]
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert rows[0][2] == "self (nanoseconds, sum of 2 profiles)"
    assert sum(int(row[2]) for row in rows[1:]) == TOTAL


def test_the_download_has_the_root_of_the_page(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    tree = run_tree(query_context(selected(project.pk)), selected(project.pk), View()).tree
    quote = next(
        i
        for i, frame in enumerate(tree.frame.tolist())
        if tree.frames.strings[tree.frames.name[frame]] == "pricing.quote"
    )
    opened = f"{QUERY}&root={int(tree.id[quote]):016x}"
    lines = client.get(url(project, "folded") + opened).content.decode().splitlines()
    inside = {stack: n for stack, n in shop.STACKS.items() if shop.QUOTE in stack}
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 2 * 1000 * sum(inside.values())
    assert all(line.startswith("pricing.quote") for line in lines)
    rows = list(csv.reader(io.StringIO(client.get(url(project, "csv") + opened).content.decode())))
    assert sum(int(row[2]) for row in rows[1:]) == TOTAL, "the list beside the graph is whole"


def test_the_page_links_to_what_it_shows(client: Client, bob: User, project: Project) -> None:
    client.force_login(bob)
    page = client.get(reverse("flame", args=[project.project_id]) + QUERY).content.decode()
    for form in ("pprof", "folded", "speedscope", "csv"):
        assert f'href="{url(project, form)}?service=checkout&amp;type=CPU&amp;' in page


def test_a_download_without_a_selection_or_known_format_is_rejected(
    client: Client, bob: User, project: Project
) -> None:
    client.force_login(bob)
    assert client.get(url(project, "pprof")).status_code == 400
    assert client.get(url(project, "svg") + QUERY).status_code == 404


def test_download_of_another_tenant_is_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get(url(project, "pprof") + QUERY).status_code == 404


def test_file_name_has_no_characters_that_headers_or_file_systems_reject(project: Project) -> None:
    selection = ProfileSelection(
        project.pk,
        'a/b"\r\nX: y',
        ProfileType.HEAP,
        NOON,
        NOON.replace(hour=13),
        ("eu-1", "eu-2"),
        ("v_1.2",),
    )
    assert download_name(selection, "folded") == (
        "profiler_a-b-X-y_HEAP_20261120T120000Z_20261120T130000Z_eu-1-eu-2_v-1.2.folded.txt"
    )

"""Search in all services: shares by version and step, compared with the stacks; files, limits."""

from datetime import timedelta

import pytest

from insights.function_search import FoundFunctions, search_functions
from profiles.query import BadFilterPattern, ProfileSelection
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db(transaction=True)
START, END = rows.NOON, rows.NOON + timedelta(hours=1)


def search(project: Project, find: str) -> list[FoundFunctions]:
    selection = ProfileSelection(project.pk, "", ProfileType.CPU, START, END)
    return list(search_functions(query_context(selection), find, START, END).found)


def test_versions_and_steps_have_their_own_shares(project: Project) -> None:
    old, new = rows.deployment(project, version="1"), rows.deployment(project, version="2")
    rows.stored(old, {"main;json.dumps": 10, "main;work": 90}, minutes=0)
    rows.stored(old, {"main;json.dumps": 30, "main;work": 70}, minutes=2)
    rows.stored(new, {"main;json.dumps;json.dumps": 60, "main;work": 140}, minutes=40)
    [found] = search(project, "json.")
    assert found.share == pytest.approx(100 / 400)
    assert [(each.version, each.profiles) for each in found.versions] == [("2", 1), ("1", 2)]
    assert [each.share for each in found.versions] == pytest.approx([0.3, 0.2])
    means = [each.mean for each in found.versions]
    assert means == pytest.approx([60_000, 20_000])  # ns
    by_step = dict(zip(found.steps, found.shares, strict=True))
    assert {time: share for time, share in by_step.items() if share is not None} == pytest.approx(
        {
            START: 0.1,
            START + timedelta(minutes=2): 0.3,
            START + timedelta(minutes=40): 0.3,
        }
    )


def test_steps_and_versions_add_up_to_the_whole(project: Project) -> None:
    for number in range(8):
        rows.stored(
            rows.deployment(project, version=str(number % 3)),
            {"main;a.f": 7 * number + 1, "main;b.g;a.f": number, "main;b.g": 5},
            minutes=7 * number,
        )
    [found] = search(project, "/^a\\./")
    by_version = sum(each.mean * each.profiles for each in found.versions)
    assert by_version == pytest.approx(found.cost.total)


def test_files_are_searched_too(project: Project) -> None:
    rows.stored(rows.deployment(project), {"main;run": 1})
    [found] = search(project, "app.py")
    assert found.share == 1
    assert found.versions[0].share == 1
    assert search(project, "other.py") == []


def test_types_without_cpu_time_and_other_projects_are_left_out(
    project: Project, other_project: Project
) -> None:
    rows.stored(rows.deployment(project), {"main;f": 1}, type=ProfileType.WALL)
    rows.stored(rows.deployment(other_project), {"main;f": 1})
    assert search(project, "main") == []


def test_invalid_expression_is_an_error(project: Project) -> None:
    with pytest.raises(BadFilterPattern):
        search(project, "/(/")

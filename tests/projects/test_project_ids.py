"""Project ids."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.models import User
from projects.models.project import PROJECT_ID
from projects.project_ids import create_project, suggest


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Acme Shop", "acme-shop"), ("x", "x-project"), ("3 Großes", "gro-es"), ("!", "project")],
)
def test_project_id_is_derived_from_the_name(name: str, expected: str) -> None:
    assert suggest(name) == expected


@given(st.text())
def test_project_id_of_any_name_has_the_syntax_of_cloud_profiler(name: str) -> None:
    assert re.match(PROJECT_ID, suggest(name))


@pytest.mark.django_db
def test_a_taken_id_gets_a_suffix() -> None:
    alice = User.objects.create_user("alice@example.org")
    first, second = create_project("Acme Shop", alice), create_project("Acme Shop", alice)
    assert first.project_id == "acme-shop"
    assert re.fullmatch(r"acme-shop-[0-9a-f]{6}", second.project_id)
    assert first.members.get().user == alice

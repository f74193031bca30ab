"""Times of the first and last stored profile of a project."""

from datetime import timedelta

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.query import run_stored_times
from projects.models import Project
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db(transaction=True)
MINUTES = (1, 4, 0, 5, 2)


@pytest.mark.parametrize(
    "minutes", [MINUTES, MINUTES[::-1], sorted(MINUTES), sorted(MINUTES)[::-1]]
)
def test_stored_times_include_every_block_of_one_hour(
    project: Project, minutes: tuple[int, ...]
) -> None:
    for number, minute in enumerate(minutes):
        rows.stored(rows.deployment(project, service=f"service-{number}"), minutes=minute)
    before = run_stored_times(query_context(project.pk))
    assert before == (rows.NOON, rows.NOON + timedelta(minutes=5))
    Compactor(project.pk, max(rows.NOON, timezone.now()) + timedelta(days=1)).build_level1()
    assert run_stored_times(query_context(project.pk)) == before

"""The same responses whether profiles are rows, hour blocks or day blocks."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from projects.models import Project
from tests.api.pyroscope.conftest import CPU, NOON_MS, Call
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days

pytestmark = pytest.mark.django_db(transaction=True)
HOUR_MS = 3_600_000
DAY = {"start": NOON_MS - 12 * HOUR_MS, "end": NOON_MS + 12 * HOUR_MS}
CPU_FIELDS: dict[str, Any] = {"profile_typeID": CPU, "step": 60, **DAY}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("ProfileTypes", DAY),
    ("Series", {**DAY, "labelNames": ["service_name", "__profile_type__"]}),
    ("LabelNames", DAY),
    ("LabelValues", {**DAY, "name": "instance", "matchers": ['{instance!="a"}']}),
    ("SelectSeries", {**CPU_FIELDS, "group_by": ["service_name", "instance", "version"]}),
    ("SelectSeries", {**CPU_FIELDS, "label_selector": '{instance=""}'}),
    ("SelectHeatmap", CPU_FIELDS),
    ("SelectMergeStacktraces", CPU_FIELDS),
    ("SelectMergeStacktraces", {**CPU_FIELDS, "label_selector": '{instance!="a"}'}),
    ("SelectMergeStacktraces", {**CPU_FIELDS, "label_selector": '{zone="us-1"}'}),
    ("GetProfileStats", {}),
]


def test_responses_do_not_depend_on_the_form_of_storage(call: Call, project: Project) -> None:
    of_head = [call(name, **message).json() for name, message in CALLS]
    assert all(of_head)
    later = max(rows.NOON, timezone.now()) + timedelta(days=4)
    Compactor(project.pk, later).build_level1()
    assert [call(name, **message).json() for name, message in CALLS] == of_head
    sum_days(project.pk, later)
    assert [call(name, **message).json() for name, message in CALLS] == of_head

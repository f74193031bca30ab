"""Cost of a query, for the tooltip of Grafana's profiles app."""

from datetime import timedelta

import pytest
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.models import Block, Profile
from projects.models import Project
from tests.api.pyroscope.conftest import CPU, Call
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_head_has_its_profiles_samples_and_bytes(call: Call) -> None:
    found = call("AnalyzeQuery", query=f'{CPU}{{service_name="shop"}}').json()
    head, blocks = found["queryScopes"]
    stored = Profile.objects.filter(service="shop", type="CPU").aggregate(
        Sum("samples"), bytes=Sum(Length("tree"))
    )
    assert head == {
        "componentType": "Short term storage",
        "componentCount": "1",
        "seriesCount": "1",
        "profileCount": "3",
        "sampleCount": str(stored["samples__sum"]),
        "profileBytes": str(stored["bytes"]),
    }
    assert blocks == {"componentType": "Long term storage", "componentCount": "1"}
    impact = {"totalBytesInTimeRange": str(stored["bytes"]), "totalQueriedSeries": "1"}
    assert found["queryImpact"] == impact


def test_blocks_have_their_number_profiles_and_bytes(call: Call, project: Project) -> None:
    Compactor(project.pk, max(rows.NOON, timezone.now()) + timedelta(days=1)).build_level1()
    found = call("AnalyzeQuery", query="{}").json()
    head, blocks = found["queryScopes"]
    assert "profileCount" not in head
    assert (blocks["blockCount"], blocks["profileCount"]) == ("3", "5")
    size = Block.objects.aggregate(size=Sum("length"))["size"]
    assert blocks["profileBytes"] == found["queryImpact"]["totalBytesInTimeRange"] == str(size)
    assert found["queryImpact"]["totalQueriedSeries"] == "4"  # the heap has two types

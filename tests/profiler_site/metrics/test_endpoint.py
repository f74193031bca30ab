"""Metrics at /metrics, for holders of the token."""

import re
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.db.utils import OperationalError
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from common import heartbeats
from common.database_pool import with_usable_connection
from common.heartbeats import Heartbeat
from profiler_site.asgi import application
from profiler_site.metrics import installation
from profiles.models import Profile
from profiles.queries.cache import result_cache
from profiles.storage import head_state
from projects.models import Project
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


async def get(*headers: tuple[bytes, bytes]) -> tuple[int, str]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/metrics", "headers": headers}
    await application(scope, receive, send)  # type: ignore[arg-type]
    return sent[0]["status"], sent[1]["body"].decode()


async def scrape(settings: Settings) -> dict[str, Metric]:
    """Return the families of /metrics, as Prometheus reads them."""
    settings.METRICS_TOKEN = "a-token"
    status, text = await get((b"authorization", b"Bearer a-token"))
    assert status == 200
    return {family.name: family for family in text_string_to_metric_families(text)}


def add_profiles(project: Project, ages: Sequence[int]) -> None:
    """Add profiles that were stored so many seconds ago; the first one is quarantined."""
    deployment = rows.deployment(project, "checkout")
    for nth, age in enumerate(ages):
        stored = rows.stored(deployment, {"main": [1000]})
        stored_at = timezone.now() - timedelta(seconds=age)
        Profile.objects.filter(name_id=stored.name_id).update(
            stored_at=stored_at, quarantined=nth == 0
        )


def value(family: Metric, name: str, **labels: str) -> float:
    (found,) = (
        sample.value
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )
    return found


async def test_every_family_follows_the_conventions(settings: Settings) -> None:
    families = await scrape(settings)
    for name, family in families.items():
        assert re.fullmatch("(flamewatch|process)_[a-z_]+", name)
        assert family.documentation
        assert family.type in {"counter", "gauge", "histogram"}
        for sample in family.samples:
            assert not sample.labels.keys() & {"project", "service", "agent", "path"}
            if family.type == "counter":
                assert sample.name == f"{name}_total"
            if family.type == "histogram":
                assert sample.name in {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    assert {
        "flamewatch_uploads",
        "flamewatch_upload_duration_seconds",
        "flamewatch_queries",
        "flamewatch_query_duration_seconds",
        "flamewatch_dependency_errors",
        "flamewatch_pool_queued_jobs",
        "flamewatch_pool_wait_seconds",
        "flamewatch_rejections",
        "flamewatch_cache_hits",
        "flamewatch_head_profiles",
        "flamewatch_compaction_lag_seconds",
        "flamewatch_quarantined",
        "flamewatch_parked_agents",
        "flamewatch_capture_requests_made",
        "flamewatch_capture_requests_claimed",
        "flamewatch_capture_requests_expired",
        "flamewatch_disk_free_bytes",
        "process_resident_memory_bytes",
    } <= families.keys()


async def test_metrics_have_head_profiles_compaction_lag_and_quarantined_rows(
    settings: Settings, project: Project
) -> None:
    await sync_to_async(add_profiles)(project, (4000, 3000, 2000))
    families = await scrape(settings)
    assert value(families["flamewatch_head_profiles"], "flamewatch_head_profiles") == 3
    lag = value(families["flamewatch_compaction_lag_seconds"], "flamewatch_compaction_lag_seconds")
    assert 3000 <= lag < 3900
    quarantined = families["flamewatch_quarantined"]
    assert value(quarantined, "flamewatch_quarantined", kind="profile") == 1
    assert value(quarantined, "flamewatch_quarantined", kind="block") == 0


async def test_scrapes_share_a_fixed_number_of_statements(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []

    def counted(function: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        return function(sql, *arguments)

    def with_count(work: Any) -> Any:
        with connection.execute_wrapper(counted):
            return with_usable_connection(work)

    monkeypatch.setattr(installation, "with_usable_connection", with_count)
    for _ in range(5):
        await scrape(settings)
    assert len([sql for sql in statements if sql.startswith("SELECT")]) == 4


async def test_a_database_that_is_away_leaves_its_metrics_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("no route to host")

    monkeypatch.setattr(head_state, "read_head_state", away)
    before = value(
        (await scrape(settings))["flamewatch_dependency_errors"],
        "flamewatch_dependency_errors_total",
        dependency="database",
    )
    installation.installation_metrics.forget()
    families = await scrape(settings)
    assert "flamewatch_head_profiles" not in families
    assert "flamewatch_parked_agents" in families
    errors = families["flamewatch_dependency_errors"]
    assert value(errors, "flamewatch_dependency_errors_total", dependency="database") == before + 1


async def test_metrics_have_the_last_run_of_background_processes(settings: Settings) -> None:
    now = time.time()
    heartbeats.note(Heartbeat.BEAT)
    heartbeats.note(Heartbeat.WORKER)
    heartbeats.note(Heartbeat.PLAN)
    families = await scrape(settings)
    for name in ("beat", "worker"):
        metric = f"flamewatch_{name}_last_run_timestamp_seconds"
        assert now <= value(families[metric], metric) <= time.time()
    assert value(families["flamewatch_plan_lag_seconds"], "flamewatch_plan_lag_seconds") == 0


async def test_metrics_have_hits_of_the_caches(settings: Settings) -> None:
    settings.METRICS_TOKEN = "a-token"
    results = result_cache()
    before = results.stats()
    results.get("nothing")
    results.put("something", 1, 7, 60.0)
    results.get("something")
    status, text = await get((b"authorization", b"Bearer a-token"))
    assert status == 200
    lines = text.splitlines()
    assert f'flamewatch_cache_hits_total{{cache="result"}} {before.hits + 1}.0' in lines
    assert f'flamewatch_cache_misses_total{{cache="result"}} {before.misses + 1}.0' in lines
    assert 'flamewatch_cache_bytes{cache="result"} 7.0' in lines
    assert "# TYPE flamewatch_cache_evictions_total counter" in lines
    assert any(line.startswith('flamewatch_cache_bytes{cache="block"} ') for line in lines)


async def test_rejections_are_counted_by_reason_and_not_by_project(settings: Settings) -> None:
    settings.METRICS_TOKEN = "a-token"
    before = rejections.totals()[RejectionReason.UPLOAD_MEMORY]
    rejections.note(7, RejectionReason.UPLOAD_MEMORY)
    rejections.note(8, RejectionReason.UPLOAD_MEMORY)
    _status, text = await get((b"authorization", b"Bearer a-token"))
    lines = [line for line in text.splitlines() if line.startswith("flamewatch_rejections_total{")]
    assert f'flamewatch_rejections_total{{reason="upload_memory"}} {before + 2}.0' in lines
    assert len(lines) == len(RejectionReason)
    assert "# TYPE flamewatch_rejections_total counter" in text.splitlines()


@pytest.mark.parametrize(
    ("token", "header", "status"),
    [("", b"Bearer ", 404), ("a-token", b"Bearer another", 401), ("a-token", b"", 401)],
)
async def test_request_without_the_metrics_token_is_rejected(
    token: str, header: bytes, status: int, settings: Settings
) -> None:
    settings.METRICS_TOKEN = token
    found, text = await get((b"authorization", header))
    assert found == status
    assert "flamewatch_cache" not in text

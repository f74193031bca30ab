"""Pages and the query API with worker processes that read the database of the tests."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from prometheus_client import generate_latest

from alerts.readings import PointRange, load_points, read_sums
from api.requests import ApiRequestFields
from api.view import run_resource
from common.metrics import REGISTRY
from common.worker_processes.workers import JobCrashed, Outcome, WorkerLost, Workers
from profiler_site.process.query_program import query_program
from profiles.queries import query_workers
from profiles.queries.context import QueryContext
from profiles.queries.query_record import QueryFacts, QueryRecord
from profiles.query import DeadlinePassed, InvalidQuery, QueryJob
from projects.models import AuditEntry, Project, User
from projects.profile_types import ProfileType
from tests.frontend.page_browser import Browser, signed_in
from tests.leftovers import unchanged_subreaper
from tests.processes import is_running
from tests.profiler_site.process import query_jobs
from tests.profiles import rows
from tests.server import prepared_data
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(180),
]
SECONDS = 60.0


def database_url() -> str:
    """Return the URL of the database of the tests."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    account = f"{database['USER']}:{database['PASSWORD']}@" if database["USER"] else ""
    return (
        f"postgresql://{account}{database['HOST'] or 'localhost'}:{database['PORT'] or 5432}"
        f"/{database['NAME']}"
    )


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    monkeypatch.setenv("DATABASE_URL", database_url())
    monkeypatch.setenv("FLAMEWATCH_DATA_DIR", str(prepared_data()))  # has the static files
    monkeypatch.setenv("FLAMEWATCH_SECRET_KEY", settings.SECRET_KEY)
    monkeypatch.setenv("BLOB_URL", settings.BLOB_URL)
    with unchanged_subreaper():
        query_workers.start(query_program(), 1)
        running = query_workers.running_workers()
        assert running is not None
        yield running
        query_workers.stop()


def context(project: Project, **more: Any) -> QueryContext:
    return QueryContext(
        project.pk,
        project.project_id,
        record=QueryRecord("test", QueryFacts(project_id=project.project_id)),
        **more,
    )


def fields(project: Project, query: str) -> ApiRequestFields:
    return ApiRequestFields(project.pk, project.project_id, query, timezone.now(), None)


def store_profiles(project: Project) -> str:
    """Store five profiles, and return the parameters of a query that selects them."""
    shop = rows.deployment(project)
    for minute in range(5):
        rows.stored(shop, minutes=minute)
    start, end = rows.NOON.isoformat(), rows.NOON.replace(hour=13).isoformat()
    return f"service=shop&type=CPU&start={start}&end={end}".replace("+00:00", "Z")


def test_a_worker_and_the_server_respond_alike(project: Project, workers: Workers) -> None:
    query = store_profiles(project)
    for resource in ("tree", "top", "history", "services", "profiles"):
        job = QueryJob(run_resource, (resource, fields(project, query), False))
        called, here = context(project), context(project)
        body = job(called)
        assert body == job.run_here(here)
        assert json.loads(body.data)
        assert called.record.facts == here.record.facts
        assert called.record.cpu_seconds > 0
    assert workers.statistics.jobs[Outcome.DONE] == 5


def test_points_of_alerts_are_those_of_the_server(project: Project, workers: Workers) -> None:
    store_profiles(project)
    steps = PointRange(
        *("shop", ProfileType.CPU, rows.NOON, rows.NOON.replace(minute=5), timedelta(minutes=1))
    )
    for functions in ([""], ["", "main"]):
        found = load_points(context(project), steps, functions)
        job = QueryJob(read_sums, (steps, tuple(functions)))
        here = job.run_here(context(project))
        assert [point.value for point in found[""]] == [row[2] for row in here[""]]
        assert all(point.profiles == 1 for point in found[functions[-1]])
    assert workers.statistics.jobs[Outcome.DONE] == 2


def test_a_page_is_the_same_from_a_worker_and_from_the_server(
    project: Project, alice: User, workers: Workers
) -> None:
    query = store_profiles(project)
    for path in ("flame", "flame/tree", "services", "history", "profiles"):
        remote = request_page(f"/p/{project.project_id}/{path}", query, alice)
        used = workers.statistics.jobs[Outcome.DONE]
        assert used
        # The progress of a capture is known to the server alone, so that it responds itself.
        own = request_page(f"/p/{project.project_id}/{path}", f"{query}&capture=", alice)
        assert workers.statistics.jobs[Outcome.DONE] == used
        assert (remote.status, own.status) == (200, 200)
        assert remote.headers[b"content-type"] == own.headers[b"content-type"]
        if path.endswith("tree"):
            assert remote.body == own.body


def test_server_records_the_download_that_a_worker_has_made(
    project: Project, alice: User, workers: Workers
) -> None:
    query = store_profiles(project)
    path = f"/p/{project.project_id}/flame/download/folded"
    assert request_page(path, query, alice).status == 200
    assert workers.statistics.jobs[Outcome.DONE] == 1
    entry = AuditEntry.objects.get(action="profiles.download")
    assert (entry.actor, entry.target, entry.detail["profiles"]) == (alice, "shop", 5)


def test_a_page_that_changes_the_database_is_made_by_the_server(
    project: Project, alice: User, workers: Workers
) -> None:
    path = f"/p/{project.project_id}/flame"
    assert request_page(path, "", alice, method="POST").status in {403, 405}
    assert not workers.statistics.jobs


def test_a_worker_cannot_write_to_the_database(project: Project, workers: Workers) -> None:
    with pytest.raises(DatabaseError, match=r"read-?only"):
        QueryJob(query_jobs.rename_project, (project.pk,))(context(project))
    assert Project.objects.get(pk=project.pk).name == project.name


def test_errors_of_a_query_are_those_of_the_server(project: Project, workers: Workers) -> None:
    query = f"{store_profiles(project)}&metric=lost:bytes"
    job = QueryJob(run_resource, ("tree", fields(project, query), False))
    with pytest.raises(InvalidQuery) as here:
        job.run_here(context(project))
    with pytest.raises(type(here.value)) as remote:
        job(context(project))
    assert str(remote.value) == str(here.value)
    with pytest.raises(DeadlinePassed):
        QueryJob(run_resource, ("tree", fields(project, store_profiles(project)), False))(
            context(project, deadline=0.0)
        )


def test_a_query_whose_client_has_left_ends_in_its_worker(
    project: Project, workers: Workers
) -> None:
    left = context(project)
    job = QueryJob(query_jobs.check_until_cancelled, (), on_part=lambda _: left.cancelled.set())
    with pytest.raises(DeadlinePassed):
        job(left)
    [worker] = workers.process_ids()
    assert QueryJob(query_jobs.process_id, ())(context(project)) == worker


def test_a_query_that_crashes_its_workers_fails_alone(project: Project, workers: Workers) -> None:
    with pytest.raises(JobCrashed):
        QueryJob(query_jobs.crash, ())(context(project))
    assert QueryJob(query_jobs.process_id, ())(context(project)) != os.getpid()


def test_a_query_is_repeated_if_its_worker_was_killed(project: Project, workers: Workers) -> None:
    first = QueryJob(query_jobs.process_id, ())(context(project))
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_running(first), SECONDS, "the end of the worker")
    second = QueryJob(query_jobs.process_id, ())(context(project))
    assert second != first


def test_a_query_whose_workers_were_killed_twice_may_be_sent_again(
    project: Project, workers: Workers
) -> None:
    with pytest.raises(WorkerLost):
        QueryJob(query_jobs.kill_itself, ())(context(project))


def test_a_query_beyond_its_memory_is_told_the_limit(
    project: Project, workers: Workers, settings: Any
) -> None:
    settings.QUERY_MEMORY_BYTES = 64 * 2**20
    with pytest.raises(InvalidQuery, match="FLAMEWATCH_QUERY_MEMORY_BYTES allows 67,108,864"):
        QueryJob(query_jobs.allocate, ())(context(project))


def test_a_query_that_ignores_its_deadline_is_killed(
    project: Project, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_workers, "_GRACE_SECONDS", 0.2)
    first = QueryJob(query_jobs.process_id, ())(context(project))
    with pytest.raises(DeadlinePassed):
        QueryJob(query_jobs.sleep, ())(context(project, deadline=0.0))
    assert not is_running(first)


def test_jobs_of_query_workers_are_metrics(project: Project, workers: Workers) -> None:
    QueryJob(query_jobs.process_id, ())(context(project))
    text = generate_latest(REGISTRY).decode()
    assert 'flamewatch_worker_jobs_total{outcome="done",pool="query"} 1.0' in text


def request_page(path: str, query: str, user: User, method: str = "GET") -> Browser:
    return asyncio.run(Browser(path, signed_in(user), query=query, method=method).get())

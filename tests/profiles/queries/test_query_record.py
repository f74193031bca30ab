"""Counts of queries by kind and outcome, and the log of slow ones."""

import asyncio

import pytest
from pytest_django import Settings

from endpoints.errors import QueryTooSlow
from endpoints.query_execution import execute
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext, run_query
from projects.credentials.authentication import Access
from tests.api.conftest import Ask, ask, shop
from tests.metric_values import metric_value

__all__ = ["ask", "shop"]

pytestmark = pytest.mark.django_db(transaction=True)


def queries(kind: str, status: str) -> float:
    return metric_value("flamewatch_queries_total", kind=kind, status=status)


def test_query_of_the_api_is_counted_and_timed(ask: Ask) -> None:
    before = queries("api_tree", "ok")
    times = metric_value("flamewatch_query_duration_seconds_count", kind="api_tree")
    assert ask("tree").status_code == 200
    assert queries("api_tree", "ok") == before + 1
    assert metric_value("flamewatch_query_duration_seconds_count", kind="api_tree") == times + 1


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DeadlinePassed(), "timeout"),
        (InvalidQuery("no such metric"), "invalid"),
        (ZeroDivisionError(), "error"),
    ],
)
async def test_outcome_is_that_of_the_exception(error: Exception, status: str) -> None:
    before = queries("other", status)
    with pytest.raises(type(error)):
        await run_query(1, "client", lambda _context: fail(error))
    assert queries("other", status) == before + 1


async def test_query_whose_client_left_is_cancelled() -> None:
    begun, before = asyncio.Event(), queries("other", "cancelled")
    loop = asyncio.get_running_loop()

    def work(context: QueryContext) -> None:
        loop.call_soon_threadsafe(begun.set)
        context.cancelled.wait(60)

    task = asyncio.create_task(run_query(1, "client", work))
    await begun.wait()
    task.cancel()
    await asyncio.wait({task})
    assert queries("other", "cancelled") == before + 1


@pytest.mark.parametrize("early", [0, 0.01])  # uvloop's timers are early by up to 1 ms
async def test_query_beyond_its_deadline_is_a_timeout(
    early: float, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    call_at = loop.call_at
    monkeypatch.setattr(
        loop, "call_at", lambda time, *call, **options: call_at(time - early, *call, **options)
    )
    settings.QUERY_SECONDS = 0.2
    before = queries("api_tree", "timeout")
    access = Access(1, "acme-shop", 1, "key", may_write=False, may_read=True)
    with pytest.raises(QueryTooSlow):
        await execute(access, lambda context: context.cancelled.wait(60), kind="api_tree")
    assert queries("api_tree", "timeout") == before + 1


def test_slow_query_is_logged_with_its_range_and_costs_and_without_filters(
    ask: Ask, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SLOW_QUERY_SECONDS = 1e-9
    assert ask("tree", f="hide:secret-name", zone="eu-1").status_code == 200
    (line,) = (each for each in caplog.messages if each.startswith("Slow query"))
    assert line.startswith(
        "Slow query: project=acme-shop kind=api_tree status=ok service='shop' type='CPU' "
    )
    assert "start=2026-11-20T12:00:00+00:00 end=2026-11-20T13:00:00+00:00 profiles=2 " in line
    assert " wall=" in line
    assert " cpu=" in line
    assert "secret-name" not in caplog.text
    assert "eu-1" not in line


def test_no_query_is_logged_without_a_threshold(
    ask: Ask, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SLOW_QUERY_SECONDS = 0.0
    assert ask("tree").status_code == 200
    assert "Slow query" not in caplog.text

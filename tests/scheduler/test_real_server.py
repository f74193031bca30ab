"""Ten agents on a real server with its own beat, with plan periods of two seconds."""

import asyncio
import json
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest

from tests.ingest.real_server import Connection
from tests.server import RunningServer, Tenant, running_server

PERIOD, CAPTURE, PERIODS, AGENTS = 2.0, 0.3, 10, 10
MINUTES_OF_TWO_SECONDS = {
    "FLAMEWATCH_PLAN_PERIOD_SECONDS": str(PERIOD),
    "FLAMEWATCH_CAPTURE_SECONDS": str(CAPTURE),
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "3",
}
TYPES = ["CPU", "WALL", "THREADS"]
Captures = list[tuple[float, str, str]]  # time (time.monotonic), agent, type

pytestmark = pytest.mark.server


async def agent(name: str, server: RunningServer, tenant: Tenant, log: Captures) -> None:
    """Repeat handshake and capture without uploading, which does not affect other agents."""
    connection = await Connection.open(urlsplit(server.url).port or 0)
    deployment = {"projectId": tenant.project, "target": "shop", "labels": {"version": "1"}}
    message = {"deployment": deployment, "profileType": TYPES}
    headers = {"Authorization": f"Bearer {tenant.write}", "X_Flamewatch_Agent": name}
    while True:
        await connection.send("POST", f"/v2/projects/{tenant.project}/profiles", message, **headers)
        status, body = await connection.read_response()
        response = json.loads(body)
        if status == 200:
            log.append((time.monotonic(), name, response["profileType"]))
            await asyncio.sleep(CAPTURE)
        else:
            assert status == 409, body
            delay = response["error"]["details"][0]["retryDelay"]
            await asyncio.sleep(float(delay.rstrip("s")))


async def watch(server: RunningServer) -> Captures:
    """Return what the agents capture within ten periods, after planning has started."""
    tenant = server.add_tenant()
    log: Captures = []
    names = [f"00000000-0000-4000-8000-{nth:012}" for nth in range(AGENTS)]
    agents = [asyncio.create_task(agent(name, server, tenant, log)) for name in names]
    await asyncio.sleep(4 * PERIOD)
    begin = time.monotonic()
    await asyncio.wait(agents, timeout=PERIODS * PERIOD)
    for task in agents:
        assert not task.done(), task.exception()
        task.cancel()
    return [capture for capture in log if begin <= capture[0] < begin + PERIODS * PERIOD]


async def test_ten_agents_give_about_ten_profiles_of_each_type_in_ten_minutes() -> None:
    with running_server(**MINUTES_OF_TWO_SECONDS) as server:
        captures = await watch(server)
    by_type = Counter(kind for _, _, kind in captures)
    by_agent = Counter(name for _, name, _ in captures)
    by_both = Counter((name, kind) for _, name, kind in captures)
    # One capture request a period, slightly before or after the edge of its period.
    assert all(8 <= by_type[kind] <= 12 for kind in TYPES), by_type
    assert len(by_agent) >= AGENTS - 1, by_agent
    assert max(by_both.values()) <= 3, by_both

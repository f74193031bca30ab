"""Documented example program, profiled by the real agent."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.end_to_end.browser_forms import signed_in
from tests.paths import ROOT
from tests.server import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]
EXAMPLE = ROOT / "examples" / "main_foo_bar.py"
PROFILES = 5
# On a busy machine profiles hold less CPU time, and five of them have too few samples.
CPU_NANOSECONDS = 16e9
# Captures end anywhere in a cycle; many short cycles per capture make the remainder negligible.
UNIT = 0.02


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(
        FLAMEWATCH_CAPTURE_SECONDS="4", FLAMEWATCH_PLAN_PERIOD_SECONDS="5"
    ) as running:
        yield running


def shares(tree: dict[str, Any]) -> dict[str, float]:
    """Return the total of each path of functions, as a share of main's."""
    totals: dict[str, float] = {}
    path: list[str] = []
    names = [tree["names"][name] for name in tree["frames"]["name"]]
    for depth, frame, own in zip(tree["depth"], tree["frame"], tree["self"], strict=True):
        path[depth:] = [names[frame]]
        for end in range(1, depth + 2):
            key = "/".join(path[:end])
            totals[key] = totals.get(key, 0) + own
        totals["self of " + "/".join(path)] = own
    whole = totals["<module>/main"]
    return {key.replace("<module>/", ""): value / whole for key, value in totals.items()}


def test_flame_graph_of_the_example_has_the_documented_proportions(server: RunningServer) -> None:
    tenant = server.add_tenant()
    project = tenant.project
    program = [sys.executable, str(EXAMPLE), "--unit", str(UNIT), "--rest", "0"]
    agent = str(Path(sys.executable).with_name("flamewatch-run"))
    with subprocess.Popen(
        [agent, "--service", "example", "--", *program],
        env=os.environ | {"FLAMEWATCH_URL": server.url, "FLAMEWATCH_KEY": tenant.write},
    ) as process:
        try:
            with signed_in(server) as client:
                tree = until(lambda: five_profiles(client, project), 500, "five profiles")
        finally:
            process.terminate()
    drawn = shares(tree)
    for path, units in {
        "main/foo1": 4,
        "main/foo2": 3,
        "main/foo1/bar": 2.5,
        "main/foo2/bar": 2.5,
        "self of main": 2,
        "self of main/foo2": 0.5,
    }.items():
        assert drawn[path] == pytest.approx(units / 9, abs=0.03), path
    assert drawn["self of main/foo1"] / drawn["main/foo1"] == pytest.approx(0.375, abs=0.03)


def five_profiles(client: httpx.Client, project: str) -> dict[str, Any] | None:
    response = client.get(f"/p/{project}/flame/tree?service=example&type=CPU")
    tree: dict[str, Any] = response.json() if response.status_code == 200 else {"profiles": 0}
    enough = tree["profiles"] >= PROFILES and tree["total"] >= CPU_NANOSECONDS
    return tree if enough else None


def test_capture_command_requests_a_profile_of_the_example(server: RunningServer) -> None:
    tenant = server.add_tenant(email="bob@example.org")
    project = tenant.project
    with pytest.raises(RuntimeError, match="No agent"):
        server.cli("capture", project, "example", "CPU")
    agent = str(Path(sys.executable).with_name("flamewatch-run"))
    with subprocess.Popen(
        [agent, "--service", "example", "--", sys.executable, str(EXAMPLE)],
        env=os.environ | {"FLAMEWATCH_URL": server.url, "FLAMEWATCH_KEY": tenant.write},
    ) as process:
        try:
            until(lambda: has_requested_capture(server, project), 60, "agent that offers THREADS")
        finally:
            process.terminate()


def has_requested_capture(server: RunningServer, project: str) -> bool:
    try:
        return bool(server.cli("capture", project, "example", "THREADS"))
    except RuntimeError:
        return False

"""Profiles through a real OpenTelemetry Collector, built from its Go modules."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ingest.formats.otlp.conversions import sample
from tests.server import RunningServer, Tenant, running_server
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.nightly, pytest.mark.timeout(3600)]
SOURCES = Path(__file__).parent / "collector"
CONFIG = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  otlp_http/flamewatch:
    endpoint: {url}
    headers:
      authorization: Bearer {key}
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [otlp_http/flamewatch]
"""


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program, built in a copy of its sources; Go caches what it compiles."""
    folder = tmp_path_factory.mktemp("collector")
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    path = f"{os.environ['PATH']}:/usr/local/go/bin"
    go = shutil.which("go", path=path)
    assert go, "the Collector is built by Go: install golang 1.25"
    built = subprocess.run(
        [go, "build", "-o", "otelcol", "."],
        cwd=folder,
        env=os.environ | {"PATH": path, "GOFLAGS": "-mod=readonly"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / "otelcol"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@contextlib.contextmanager
def running(
    collector: Path, server: RunningServer, tenant: Tenant, folder: Path
) -> Iterator[tuple[str, Path]]:
    """Run the Collector; yield the address of its receiver, and its log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config, log = folder / "config.yaml", folder / "log.txt"
    config.write_text(CONFIG.format(port=port, url=server.url, key=tenant.write))
    command = [str(collector), "--config", str(config), "--feature-gates=service.profilesSupport"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            until(lambda: _is_ready(process, log), 120, "start of the Collector")
            yield f"http://127.0.0.1:{port}/v1development/profiles", log
        finally:
            process.terminate()


def _is_ready(process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    return "Everything is ready" in log.read_text()


def services(server: RunningServer, tenant: Tenant) -> set[str]:
    response = httpx.get(
        f"{server.url}/api/v1/projects/{tenant.project}/services",
        headers={"Authorization": f"Bearer {tenant.read}"},
        timeout=60,
    )
    assert response.status_code == 200, response.text
    return {row["service"] for row in response.json()["services"]}


def test_the_collector_forwards_profiles_and_logs_what_was_left_out(
    collector: Path, server: RunningServer, tmp_path: Path
) -> None:
    tenant = server.add_tenant()
    with running(collector, server, tenant, tmp_path) as (url, log):
        for name in ("values", "timestamps", "heap", "off_cpu", "indexes", "other_types"):
            response = httpx.post(
                url,
                content=sample(f"1.10-{name}.pb"),
                headers={"Content-Type": "application/x-protobuf"},
                timeout=60,
            )
            assert response.status_code == 200, response.text
        sent = {"checkout", "nginx", "redis"}
        until(lambda: sent <= services(server, tenant), 120, "stored profiles")
        until(lambda: "cuda_kernel_exec/nanoseconds" in log.read_text(), 120, "partial success")

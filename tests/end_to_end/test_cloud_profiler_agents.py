"""Cloud Profiler's own agents, unmodified, from their registries: each profiles a small program.

The key files are those that the settings page sends.
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.certificates import Certificate, make_certificate
from tests.end_to_end.browser_forms import post, signed_in
from tests.end_to_end.clients import installing
from tests.server import RunningServer, Tenant, running_server
from tests.services import free_port
from tests.tls_proxy import tls_proxy
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.nightly, pytest.mark.timeout(1800)]
PROFILES = 2
LEAST_SHARE = 0.5
SECONDS = 240.0  # agents for each type take turns, on a machine that may be busy


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def server(certificate: Certificate) -> Iterator[RunningServer]:
    """Run a server whose gRPC port takes TLS."""
    with running_server(
        FLAMEWATCH_GRPC_PORT=str(free_port()),
        FLAMEWATCH_GRPC_TLS_CERT=str(certificate.certificate),
        FLAMEWATCH_GRPC_TLS_KEY=str(certificate.key),
    ) as running:
        yield running


@pytest.fixture(scope="module")
def tenant(server: RunningServer) -> Tenant:
    return server.add_tenant()


def grpc_address(server: RunningServer) -> str:
    return f"127.0.0.1:{server.environment['FLAMEWATCH_GRPC_PORT']}"


def download_key_file(server: RunningServer, tenant: Tenant, folder: Path, kind: str) -> Path:
    """Download a key file from the settings page, and return its path."""
    key_id = tenant.write.split("_")[1]
    with signed_in(server) as client:
        address = f"/p/{tenant.project}/settings/keys/{key_id}/file"
        content = post(client, address, kind=kind).json()
    path = folder / f"{kind}.json"
    path.write_text(json.dumps(content))
    return path


@contextlib.contextmanager
def running(command: list[str], folder: Path, **environment: str) -> Iterator[None]:
    """Run a program; show its output if the test fails."""
    log = folder / "program.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, env=os.environ | environment, stdout=output, stderr=output
        ) as process,
    ):
        try:
            yield
        except AssertionError as error:
            raise AssertionError(f"{error}\n{log.read_text()[-4000:]}") from None
        finally:
            process.kill()


def shares(server: RunningServer, tenant: Tenant, service: str, type: str) -> dict[str, float]:
    """Wait for some profiles of a type; return each function's share of the total."""

    def top() -> dict[str, Any] | None:
        response = httpx.get(
            f"{server.url}/api/v1/projects/{tenant.project}/top",
            params={"service": service, "type": type},
            headers={"Authorization": f"Bearer {tenant.read}"},
        )
        found: dict[str, Any] = response.json()
        enough = response.status_code == 200 and found["profiles"] >= PROFILES
        return found if enough else None

    found = until(top, SECONDS, f"{PROFILES} {type} profiles of {service}")
    functions = found["functions"]
    return {
        name: total / found["total"]
        for name, total in zip(functions["name"], functions["total"], strict=True)
    }


def assert_hot(
    server: RunningServer, tenant: Tenant, service: str, functions: Mapping[str, str]
) -> None:
    """Check that a function has most of the total of each type."""
    for type, function in functions.items():
        found = shares(server, tenant, service, type)
        assert found.get(function, 0) > LEAST_SHARE, f"{function} in {type}: {found}"


GO_FUNCTIONS = {
    "CPU": "main.hotLoop",
    "HEAP": "main.keepMemory",
    "HEAP_ALLOC": "main.allocateMuch",
    "THREADS": "main.waitForever",
    "CONTENTION": "main.holdLock",
}


def test_go_agent_over_tls_with_a_key_file_sends_profiles(
    server: RunningServer, tenant: Tenant, certificate: Certificate, tmp_path: Path
) -> None:
    command = [
        str(installing.go_program("cloud_profiler_go")),
        *("-address", grpc_address(server)),
        *("-project", tenant.project),
        *("-key-file", str(download_key_file(server, tenant, tmp_path, "standard"))),
        *("-ca", str(certificate.certificate)),
    ]
    with running(command, tmp_path):
        assert_hot(server, tenant, "go-shop", GO_FUNCTIONS)


def test_go_agent_over_plaintext_with_an_api_key_sends_profiles(tmp_path: Path) -> None:
    with running_server(FLAMEWATCH_GRPC_PORT=str(free_port())) as server:
        tenant = server.add_tenant()
        command = [
            str(installing.go_program("cloud_profiler_go")),
            *("-address", grpc_address(server)),
            *("-project", tenant.project),
            *("-key", tenant.write),
        ]
        with running(command, tmp_path):
            assert_hot(server, tenant, "go-shop", {"CPU": "main.hotLoop"})


def test_node_agent_with_a_key_file_sends_profiles(
    server: RunningServer, tenant: Tenant, certificate: Certificate, tmp_path: Path
) -> None:
    program = installing.node_program("cloud_profiler_node")
    key_file = download_key_file(server, tenant, tmp_path, "node")
    with tls_proxy(int(server.url.rpartition(":")[2]), certificate) as port:
        command = ["node", str(program), f"localhost:{port}", tenant.project]
        with running(
            command,
            tmp_path,
            GOOGLE_APPLICATION_CREDENTIALS=str(key_file),
            NODE_EXTRA_CA_CERTS=str(certificate.certificate),
        ):
            assert_hot(server, tenant, "node-shop", {"WALL": "hotLoop", "HEAP": "keepMemory"})


def test_python_agent_with_a_key_file_sends_profiles(
    server: RunningServer, tenant: Tenant, tmp_path: Path
) -> None:
    python = installing.python_environment("cloud_profiler_python")
    key_file = download_key_file(server, tenant, tmp_path, "standard")
    program = installing.CLIENTS / "cloud_profiler_python" / "main.py"
    command = [str(python), str(program), server.url, tenant.project, str(key_file)]
    with running(command, tmp_path):
        assert_hot(server, tenant, "python-shop", {"CPU": "hot_loop", "WALL": "hot_loop"})

"""gRPC server of `flamewatch up`: its port, TLS, and stop."""

import asyncio
import os
import socket
import subprocess
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2
from pytest_django import Settings

from ingest.cloud_profiler.proto import profiler_pb2 as pb
from profiler_site.configuration.checks import check_grpc_tls
from profiler_site.process.grpc_server import GrpcServer
from tests.certificates import make_certificate
from tests.ingest import pprof
from tests.ingest.grpc_client import GrpcClient, assert_aborted
from tests.server import COMMAND, RunningServer, running_server
from tests.services import free_port

MANY = 200  # agents
SERVING = health_pb2.HealthCheckResponse.SERVING


async def health(channel: grpc.aio.Channel) -> int:
    request, kind = health_pb2.HealthCheckRequest(), health_pb2.HealthCheckResponse
    response = await GrpcClient(channel).call("Check", request, kind, "grpc.health.v1.Health")
    return int(response.status)


@pytest.mark.django_db(transaction=True)
async def test_tls_with_the_certificate_of_the_settings(settings: Settings, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    settings.GRPC_TLS_CERT = str(certificate.certificate)
    settings.GRPC_TLS_KEY = str(certificate.key)
    server = GrpcServer("127.0.0.1", 0)
    await server.start()
    roots = grpc.ssl_channel_credentials(certificate.certificate.read_bytes())
    async with grpc.aio.secure_channel(server.address, roots) as channel:
        assert await health(channel) == SERVING
    async with grpc.aio.insecure_channel(server.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await health(channel)
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    await server.stop()


async def test_a_port_has_one_server() -> None:
    first = GrpcServer("127.0.0.1", 0)
    await first.start()
    port = int(first.address.rpartition(":")[2])
    with pytest.raises(RuntimeError):
        await GrpcServer("127.0.0.1", port).start()
    await first.stop()


async def test_connections_are_limited_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profiler_site.process.grpc_server._max_connections", lambda: 2)
    server = GrpcServer("127.0.0.1", 0)
    await server.start()
    host, _, port = server.address.rpartition(":")
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(4)]
    # A server sends its settings first; a connection above the limit is closed without a byte.
    first_bytes = await asyncio.gather(*(_first_byte(reader) for reader, _writer in opened))
    assert sorted(map(len, first_bytes)) == [0, 0, 1, 1]
    for _reader, writer in opened:
        writer.close()
    await server.stop()


async def _first_byte(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(30):
            return await reader.read(1)
    except ConnectionResetError:
        return b""


def test_the_certificate_and_the_key_are_set_together(settings: Settings, tmp_path: Path) -> None:
    assert check_grpc_tls(None) == []
    certificate = make_certificate(tmp_path)
    settings.GRPC_TLS_CERT = str(certificate.certificate)
    [error] = check_grpc_tls(None)
    assert error.id == "flamewatch.E003"
    assert "FLAMEWATCH_GRPC_TLS_KEY is ''" in error.msg
    settings.GRPC_TLS_KEY = str(certificate.key)
    assert check_grpc_tls(None) == []
    settings.GRPC_TLS_CERT = str(tmp_path / "missing.pem")
    assert "missing.pem" in check_grpc_tls(None)[0].msg


@pytest.mark.server
def test_parked_agents_take_no_threads() -> None:
    with running_server(
        FLAMEWATCH_GRPC_PORT=str(free_port()),
        FLAMEWATCH_POLL_TIMEOUT_SECONDS="300",
        FLAMEWATCH_MAX_PARKED_PER_DEPLOYMENT=str(2 * MANY),
    ) as server:
        tenant = server.add_tenant()
        address = f"127.0.0.1:{server.environment['FLAMEWATCH_GRPC_PORT']}"
        before, parked = asyncio.run(_park_many(server, address, tenant.write))
    assert parked["Threads"] - before["Threads"] < 10
    bytes_per_agent = (parked["VmRSS"] - before["VmRSS"]) * 1024 / MANY
    assert bytes_per_agent < 2**20, f"{bytes_per_agent:,.0f} bytes"


async def _park_many(
    server: RunningServer, address: str, key: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Park agents with a connection each; return the server's status before and then."""
    deployment = pb.Deployment(target="checkout")
    separate = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(address, options=separate) for _ in range(MANY)]
    agents = [GrpcClient(channel, key) for channel in channels]
    await agents[0].update(await agents[0].create(deployment), pprof.SIMPLE)
    before = _status(server)
    calls = [asyncio.ensure_future(agent.create(deployment, timeout=280)) for agent in agents]
    # A second call on a connection is answered after the server has read the first.
    assert set(await asyncio.gather(*map(health, channels))) == {SERVING}
    parked = _status(server)
    assert not any(call.done() for call in calls)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await asyncio.gather(*(channel.close() for channel in channels))
    return before, parked


def _status(server: RunningServer) -> dict[str, int]:
    """Return the numbers of /proc/PID/status; sizes in KiB."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    fields = (line.split() for line in lines)
    return {
        field[0].rstrip(":"): int(field[1]) for field in fields if field[1:2] and field[1].isdigit()
    }


@pytest.mark.server
def test_the_server_tells_its_grpc_address_and_releases_parked_agents_first() -> None:
    port = free_port()
    with running_server(
        FLAMEWATCH_GRPC_PORT=str(port), FLAMEWATCH_POLL_TIMEOUT_SECONDS="300"
    ) as server:
        assert f"gRPC for Cloud Profiler's agents: 127.0.0.1:{port}" in server.log.read_text()
        tenant = server.add_tenant()
        asyncio.run(_park_and_stop(server, f"127.0.0.1:{port}", tenant.write))
        assert server.process.wait(60) == 0


async def _park_and_stop(server: RunningServer, address: str, key: str) -> None:
    deployment = pb.Deployment(target="checkout")
    async with grpc.aio.insecure_channel(address) as channel:
        agent = GrpcClient(channel, key)
        profile = await agent.create(deployment, timeout=280)
        assert await agent.update(profile, pprof.SIMPLE)
        parked = asyncio.ensure_future(agent.create(deployment, timeout=280))
        # A second call on the same connection is answered after the server has read the first.
        assert await health(channel) == SERVING
        server.process.terminate()
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await parked
        assert_aborted(raised.value)


def failed_start(data_dir: Path, **environment: str) -> str:
    """Return what `flamewatch up` says when it does not start."""
    done = subprocess.run(
        [*COMMAND, "up", "--port", str(free_port())],
        env=os.environ | environment | {"FLAMEWATCH_DATA_DIR": str(data_dir)},
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.server
def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = failed_start(tmp_path, FLAMEWATCH_GRPC_PORT=str(port))
    assert f"Port {port} on 127.0.0.1 is already in use" in said
    assert f"FLAMEWATCH_GRPC_PORT={port + 1}, or 0 for no gRPC" in said


@pytest.mark.server
def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    said = failed_start(
        tmp_path, FLAMEWATCH_GRPC_PORT=str(free_port()), FLAMEWATCH_GRPC_TLS_CERT="/missing.pem"
    )
    assert "FLAMEWATCH_GRPC_TLS_CERT is '/missing.pem'" in said
    assert "Traceback" not in said

"""gRPC server in the process and on the event loop of the HTTP server.

grpcio limits connections in all, but not by address, and it knows nothing of the file descriptors
that other connections use: its share of them is fixed (CONNECTIONS_SHARE).
"""

import resource
from pathlib import Path

import grpc
from django.conf import settings

from ingest.cloud_profiler import grpc_service as cloud_profiler
from ingest.grpc.receiving import Receiver
from ingest.grpc.service import Port
from ingest.otlp import grpc_service as otlp
from ingest.uploads.requests import json_bytes
from profiler_site.process import grpc_standard_services
from profiler_site.process.http_protocol import HEAD_BYTES, HEAD_SECONDS

# Connections, of the limit of open files. The rest is for HTTP, blobs and the database.
CONNECTIONS_SHARE = 1 / 2
_UNLIMITED_FILES = 2**20
_STREAMS_OF_CONNECTION = 1000
# An agent that waits for its next turn opens a new connection then. A parked call is not idle.
_IDLE_MS = 65_000
_KEEPALIVE_MS = 60_000
_KEEPALIVE_TIMEOUT_MS = 20_000
_SHORTEST_PING_MS = 10_000
_STOP_SECONDS = 1.0


class GrpcServer:
    """Services of Cloud Profiler and OpenTelemetry, health and reflection on one port."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._server: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    async def start(self) -> None:
        """Listen; port 0 becomes a free one. Raise RuntimeError if the port cannot be bound."""
        server = grpc.aio.server(options=_options())
        credentials = _credentials()
        port = Port("http" if credentials is None else "https", Receiver())
        server.add_generic_rpc_handlers(
            (
                *cloud_profiler.handlers(port),
                otlp.handler(port),
                *grpc_standard_services.handlers(port.scheme),
            )
        )
        if credentials is None:
            self._port = server.add_insecure_port(self.address)
        else:
            self._port = server.add_secure_port(self.address, credentials)
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Take no more calls, and cancel those that run after 1 s."""
        if self._server is not None:
            await self._server.stop(_STOP_SECONDS)


def _options() -> list[tuple[str, int]]:
    return [
        ("grpc.so_reuseport", 0),  # otherwise two servers share a port without a word
        ("grpc.max_receive_message_length", json_bytes()),
        ("grpc.max_metadata_size", HEAD_BYTES),
        ("grpc.absolute_max_metadata_size", HEAD_BYTES),
        ("grpc.max_concurrent_streams", _STREAMS_OF_CONNECTION),
        ("grpc.max_allowed_incoming_connections", _max_connections()),
        ("grpc.server_handshake_timeout_ms", round(HEAD_SECONDS * 1000)),
        ("grpc.max_connection_idle_ms", _IDLE_MS),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_MS),
        ("grpc.http2.min_ping_interval_without_data_ms", _SHORTEST_PING_MS),
    ]


def _max_connections() -> int:
    limit, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _UNLIMITED_FILES if limit == resource.RLIM_INFINITY else limit
    return max(1, int(files * CONNECTIONS_SHARE))


def _credentials() -> grpc.ServerCredentials | None:
    """Return the credentials of FLAMEWATCH_GRPC_TLS_CERT and _KEY; None if they are not set."""
    if not settings.GRPC_TLS_CERT:
        return None
    pair = Path(settings.GRPC_TLS_KEY).read_bytes(), Path(settings.GRPC_TLS_CERT).read_bytes()
    return grpc.ssl_server_credentials([pair])

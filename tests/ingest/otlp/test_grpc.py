"""OTLP profiles over gRPC."""

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest

from profiles.models import Profile
from profiles.storage import head
from tests.ingest.client import Client
from tests.ingest.formats.otlp.conversions import sample
from tests.ingest.grpc_client import grpc_server
from tests.ingest.otlp.responses import partial_success, status

pytestmark = pytest.mark.django_db(transaction=True)
METHOD = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"


def exported(
    body: bytes, compression: grpc.Compression = grpc.Compression.NoCompression, **metadata: str
) -> bytes:
    """Send a request to a server in this process; return the response."""

    async def run() -> bytes:
        async with grpc_server() as address, grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.unary_unary(METHOD)
            headers = tuple((name.replace("_", "-"), text) for name, text in metadata.items())
            try:
                response: bytes = await call(
                    body, metadata=headers, compression=compression, timeout=60
                )
                return response
            finally:
                await head.stop()

    return asyncio.run(run())


def rejected(body: bytes, **metadata: str) -> tuple[grpc.StatusCode, str, bytes]:
    """Return the code, the message and the details of a failed call."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        exported(body, grpc.Compression.NoCompression, **metadata)
    error = failure.value
    trailers = dict(error.trailing_metadata() or ())
    details = trailers["grpc-status-details-bin"]
    assert isinstance(details, bytes)
    return error.code(), error.details() or "", details


def test_exported_profile_is_stored(agent: Client) -> None:
    assert exported(sample("1.10-values.pb"), authorization=f"Bearer {agent.key}") == b""
    assert Profile.objects.get().service == "checkout"


def test_gzip_message_with_another_key_header_is_stored(agent: Client) -> None:
    exported(sample("1.10-values.pb"), grpc.Compression.Gzip, x_api_key=agent.key)
    assert Profile.objects.get().weight == 420_000_000


def test_profiles_left_out_are_named_in_partial_success(agent: Client) -> None:
    response = exported(sample("1.9-other_types.pb"), authorization=f"Bearer {agent.key}")
    partial = partial_success(response)
    assert partial is not None
    assert partial.rejected == 1
    assert "OTLP 1.8 or 1.9" in partial.message


def test_error_has_a_grpc_status_with_details(agent: Client, reader: Client) -> None:
    body = sample("1.10-values.pb")
    code, message, details = rejected(body)
    assert (code, status(details).code) == (grpc.StatusCode.UNAUTHENTICATED, 16)
    assert message == status(details).message
    assert "Missing API key" in message
    assert (
        rejected(body, authorization=f"Bearer {reader.key}")[0] is grpc.StatusCode.PERMISSION_DENIED
    )
    code, message, _ = rejected(b"\x00rubbish", authorization=f"Bearer {agent.key}")
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "Not a message of OTLP profiles" in message
    assert not Profile.objects.exists()


@pytest.mark.usefixtures("agent")
def test_another_version_is_rejected_before_the_message_is_read(agent: Client) -> None:
    key = {"authorization": f"Bearer {agent.key}"}
    for version in ("2", "1,1"):
        code, message, _ = rejected(
            b"\xff unreadable", **key, otlp_profiles_development_version=version
        )
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "reads version 1" in message

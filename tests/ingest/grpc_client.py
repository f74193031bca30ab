"""Agent's client of the gRPC server, over a real socket."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo

from ingest.cloud_profiler.grpc_service import EXPORT_SERVICE, PROFILER_SERVICE
from ingest.cloud_profiler.proto import profiler_pb2 as pb
from ingest.grpc.errors import RETRY_INFO_TRAILER
from profiler_site.process.grpc_server import GrpcServer

DEPLOYMENT = pb.Deployment(
    project_id="acme-shop",
    target="checkout",
    labels={"zone": "eu-1", "version": "1.4", "language": "go"},
)


@contextlib.asynccontextmanager
async def grpc_server(host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Run the gRPC server on the event loop of the test; yield its address."""
    server = GrpcServer(host, 0)
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop()


@dataclass
class GrpcClient:
    """Calls of an agent with a key in its metadata, or without."""

    channel: grpc.aio.Channel
    key: str = ""
    metadata: dict[str, str] = field(default_factory=dict)

    async def call(
        self,
        method: str,
        request: Any,
        response: Any,
        service: str = PROFILER_SERVICE,
        **options: Any,
    ) -> Any:
        rpc = self.channel.unary_unary(
            f"/{service}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=response.FromString,
        )
        key = {"authorization": f"Bearer {self.key}"} if self.key else {}
        metadata = tuple((key | self.metadata).items())
        return await rpc(request, metadata=metadata, timeout=options.get("timeout", 60))

    async def create(
        self,
        deployment: pb.Deployment = DEPLOYMENT,
        parent: str = "projects/acme-shop",
        **options: Any,
    ) -> pb.Profile:
        request = pb.CreateProfileRequest(
            parent=parent, deployment=deployment, profile_type=[pb.CPU]
        )
        profile: pb.Profile = await self.call("CreateProfile", request, pb.Profile, **options)
        return profile

    async def update(self, profile: pb.Profile, body: bytes, **labels: str) -> pb.Profile:
        """Upload as Go's and Java's agents do: the profile of CreateProfile, with its bytes."""
        sent = pb.Profile()
        sent.CopyFrom(profile)
        sent.profile_bytes = body
        sent.labels.update(labels)
        request = pb.UpdateProfileRequest(profile=sent)
        stored: pb.Profile = await self.call("UpdateProfile", request, pb.Profile)
        return stored

    async def offline(self, profile: pb.Profile, parent: str = "projects/acme-shop") -> pb.Profile:
        request = pb.CreateOfflineProfileRequest(parent=parent, profile=profile)
        stored: pb.Profile = await self.call("CreateOfflineProfile", request, pb.Profile)
        return stored

    async def list(self, size: int = 0, token: str = "") -> pb.ListProfilesResponse:
        request = pb.ListProfilesRequest(
            parent="projects/acme-shop", page_size=size, page_token=token
        )
        page: pb.ListProfilesResponse = await self.call(
            "ListProfiles", request, pb.ListProfilesResponse, EXPORT_SERVICE
        )
        return page


def assert_aborted(error: grpc.aio.AioRpcError, *words: str) -> float:
    """Check the status, the text and RetryInfo of an error; return its delay in seconds."""
    assert error.code() is grpc.StatusCode.ABORTED, error
    trailers = dict(error.trailing_metadata())
    packed = trailers[RETRY_INFO_TRAILER]
    assert isinstance(packed, bytes)
    delay: float = RetryInfo.FromString(packed).retry_delay.ToTimedelta().total_seconds()
    assert delay > 0
    for word in words:
        assert word in str(error.details()), error
    return delay

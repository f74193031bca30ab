"""Error responses over gRPC, as Cloud Profiler's agents understand them."""

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo

from endpoints.error_responses import error_response

RETRY_INFO_TRAILER = "google.rpc.retryinfo-bin"
_MAX_CHARACTERS = 1000  # metadata has a limit of its own, 8 KiB in most clients


async def abort(context: "grpc.aio.ServicerContext[bytes, bytes]", error: Exception) -> None:
    """End an RPC with ABORTED and RetryInfo, whatever the error was. Always raises.

    The agents for Go and Java honour RetryInfo only with this status, and only in this trailer:
    with any other one they choose their own delay, up to an hour.
    """
    response = error_response(error)
    trailer = (RETRY_INFO_TRAILER, retry_info(response.retry_after))
    await context.abort(
        grpc.StatusCode.ABORTED, response.message[:_MAX_CHARACTERS], trailing_metadata=(trailer,)
    )


def retry_info(seconds: float) -> bytes:
    """Return a serialized google.rpc.RetryInfo."""
    delay = Duration()
    delay.FromNanoseconds(round(seconds * 1e9))
    return bytes(RetryInfo(retry_delay=delay).SerializeToString())

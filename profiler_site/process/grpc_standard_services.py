"""gRPC's standard services: grpc.health.v1.Health and reflection.

Both are open to everybody, as /ok and /ready are over HTTP.
"""

from collections.abc import AsyncIterator, Callable

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import SERVICE_NAME as REFLECTION_SERVICE
from grpc_reflection.v1alpha.reflection import ReflectionServicer

from endpoints.errors import BadRequest, NotFound
from ingest.cloud_profiler.grpc_service import EXPORT_SERVICE, PROFILER_SERVICE
from ingest.grpc.caller import build_caller
from ingest.grpc.errors import abort
from ingest.grpc.receiving import NoMessage, Receiver
from ingest.grpc.service import Call, Port, handler
from ingest.otlp.grpc_service import SERVICE as PROFILES_SERVICE
from profiler_site import health

HEALTH_SERVICE = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
_SERVICES = (
    *(PROFILER_SERVICE, EXPORT_SERVICE, PROFILES_SERVICE),
    *(HEALTH_SERVICE, REFLECTION_SERVICE),
)
_MAX_MESSAGE_BYTES = 4096
_MAX_QUESTIONS = 1000  # messages of one call of reflection

_Context = grpc.aio.ServicerContext


def handlers(scheme: str) -> list[grpc.GenericRpcHandler]:
    # Slots of its own: these calls must not keep agents without a key waiting.
    port = Port(scheme, Receiver())
    checks = {"Check": _check}  # without Watch: its calls would never end
    reflect: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(
        _reflection(port)
    )
    return [
        handler(HEALTH_SERVICE, checks, port, requires_tls=False),
        grpc.method_handlers_generic_handler(REFLECTION_SERVICE, {"ServerReflectionInfo": reflect}),
    ]


async def _check(call: Call) -> bytes:
    """Return SERVING if the server can do its work, as /ready does, for all services alike."""
    request = health_pb2.HealthCheckRequest()
    _parse(request, call.body)
    if request.service not in {"", *_SERVICES}:
        raise NotFound("No such service.")
    status, _text = await health.ready()
    response = health_pb2.HealthCheckResponse
    return response(
        status=response.SERVING if status == 200 else response.NOT_SERVING
    ).SerializeToString()


def _reflection(
    port: Port,
) -> Callable[[AsyncIterator[bytes], "_Context[bytes, bytes]"], AsyncIterator[bytes]]:
    servicer = ReflectionServicer(_SERVICES)

    async def reflect(
        messages: AsyncIterator[bytes], context: "_Context[bytes, bytes]"
    ) -> AsyncIterator[bytes]:
        try:
            peer = build_caller(context, port.scheme, requires_tls=False).peer
            for _ in range(_MAX_QUESTIONS):
                body = await port.receiver.receive(messages, ("address", peer), has_key=False)
                request = reflection_pb2.ServerReflectionRequest()
                _parse(request, body)
                for response in servicer.ServerReflectionInfo(iter([request]), context):
                    yield response.SerializeToString()
        except NoMessage:
            return
        except Exception as error:
            await abort(context, error)

    return reflect


def _parse(message: Message, body: bytes) -> None:
    if len(body) > _MAX_MESSAGE_BYTES:
        raise BadRequest(f"This message may have {_MAX_MESSAGE_BYTES:,} bytes.")
    try:
        message.ParseFromString(body)
    except DecodeError:
        raise BadRequest("The message is not valid protobuf.") from None

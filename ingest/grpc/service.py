"""gRPC services whose methods are functions of bytes, with the checks that all of them share."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import grpc

from ingest.caller import Caller
from ingest.grpc.caller import build_caller
from ingest.grpc.errors import abort
from ingest.grpc.receiving import Receiver
from ingest.uploads.upload_metrics import Protocol, measure_call


@dataclass(frozen=True, slots=True)
class Call:
    """Call of a method: who calls, the serialized request, and the time that is left."""

    caller: Caller
    body: bytes
    seconds_left: float | None  # until the client's deadline; None without one


@dataclass(frozen=True, slots=True)
class Port:
    """Port of the server: its scheme, `http` or `https`, and the slots for its messages."""

    scheme: str
    receiver: Receiver


Method = Callable[[Call], Awaitable[bytes]]
_Context = grpc.aio.ServicerContext
# Ends a call with the error; always raises.
Abort = Callable[["_Context[bytes, bytes]", Exception], Awaitable[None]]


def handler(
    name: str,
    methods: Mapping[str, Method],
    port: Port,
    *,
    requires_tls: bool = True,
    on_error: Abort = abort,
    upload_protocols: Mapping[str, Protocol] | None = None,
) -> grpc.GenericRpcHandler:
    """Return the handler of a service.

    A credential in the metadata is checked before the request is received. Errors end a call as
    ingest.grpc.errors describes, or as `on_error` does. `requires_tls` is explained in
    ingest.grpc.caller. The methods in `upload_protocols` are counted as uploads.
    """

    async def receive(messages: AsyncIterator[bytes], context: "_Context[bytes, bytes]") -> Call:
        caller = build_caller(context, port.scheme, requires_tls=requires_tls)
        project = (await caller.authenticate()).project if caller.credential else None
        sender = ("address", caller.peer) if project is None else ("project", project)
        has_key = project is not None
        body = await port.receiver.receive(messages, sender, has_key=has_key)
        return Call(caller, body, context.time_remaining())

    def behaviour(
        method: Method, protocol: Protocol | None
    ) -> Callable[[AsyncIterator[bytes], "_Context[bytes, bytes]"], Awaitable[bytes]]:
        async def respond(
            messages: AsyncIterator[bytes], context: "_Context[bytes, bytes]"
        ) -> bytes:
            try:
                with nullcontext() if protocol is None else measure_call(protocol):
                    return await method(await receive(messages, context))
            except Exception as error:
                await on_error(context, error)
                raise

        return respond

    # Methods that take a stream receive their message only when they ask for it; to clients this
    # is the same as a method that takes one message.
    behaviours: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        method: grpc.stream_unary_rpc_method_handler(
            behaviour(function, (upload_protocols or {}).get(method))
        )
        for method, function in methods.items()
    }
    return grpc.method_handlers_generic_handler(name, behaviours)

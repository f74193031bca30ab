"""OTLP profiles over gRPC: ProfilesService/Export with bytes in and out, without generated code."""

from collections.abc import Mapping
from typing import Any

import grpc
import grpc.aio

from endpoints import credentials
from endpoints.error_responses import error_response
from ingest.otlp import messages
from ingest.otlp.export import OtlpSender
from ingest.otlp.export import export as export_profiles
from ingest.uploads.upload_budget import uploads
from projects.credentials.authentication import Access

SERVICE = "opentelemetry.proto.collector.profiles.v1development.ProfilesService"
_DETAILS = "grpc-status-details-bin"


async def export(access: Access, peer: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Store the profiles of a request and return ExportProfilesServiceResponse.

    `headers` have names in lower case. Raise what ingest.otlp.export.export raises, and WrongScope.
    """
    credentials.require_write(access)
    with uploads.account(access.project) as charge:
        charge(len(body))
        return messages.response_bytes(
            await export_profiles(OtlpSender(access, peer, headers), body, charge)
        )


def handler() -> grpc.GenericRpcHandler:
    """Return the handler of the service for a grpc.aio.Server."""
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_export)
    return grpc.method_handlers_generic_handler(SERVICE, {"Export": method})


async def _export(body: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    """Authenticate the request and export; errors end the call with google.rpc.Status."""
    headers = _headers(context.invocation_metadata())
    try:
        access = await credentials.access(credentials.key_text(headers, {}), {})
        return await export(access, _address(context.peer()), headers, body)
    except Exception as error:
        response = error_response(error)
        code = grpc.StatusCode[messages.code_name(response)]
        details = ((_DETAILS, messages.status_bytes(response)),)
        await context.abort(code, response.message, details)


def _headers(metadata: Any) -> dict[str, str]:
    return {name: value for name, value in metadata or () if isinstance(value, str)}


def _address(peer: str) -> str:
    """Return the address of a peer such as `ipv4:192.0.2.1:50123` or `ipv6:%5B::1%5D:50123`."""
    kind, _, rest = peer.partition(":")
    if kind not in ("ipv4", "ipv6"):
        return ""
    return rest.rpartition(":")[0].replace("%5B", "").replace("%5D", "").strip("[]")

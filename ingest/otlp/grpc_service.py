"""OTLP profiles over gRPC: ProfilesService/Export with bytes in and out, without generated code."""

import grpc
import grpc.aio

from endpoints import credentials
from endpoints.error_responses import error_response
from ingest.grpc import service
from ingest.grpc.service import Call, Port
from ingest.otlp import messages
from ingest.otlp.development_version import VERSION_HEADER, require_version
from ingest.otlp.export import export as export_profiles
from ingest.uploads.upload_budget import process_budget
from ingest.uploads.upload_metrics import Protocol

SERVICE = "opentelemetry.proto.collector.profiles.v1development.ProfilesService"
_STATUS_METADATA_KEY = "grpc-status-details-bin"


def handler(port: Port) -> grpc.GenericRpcHandler:
    return service.handler(
        SERVICE,
        {"Export": export},
        port,
        on_error=_abort,
        upload_protocols={"Export": Protocol.OTLP_GRPC},
    )


async def export(call: Call) -> bytes:
    """Store the profiles of a request and return ExportProfilesServiceResponse.

    Raise what ingest.otlp.export.export raises, and WrongScope.
    """
    caller = call.caller
    require_version(caller.headers.get(VERSION_HEADER))
    access = await caller.authenticate()
    credentials.require_write(access)
    with process_budget.account(access.project) as account:
        account.charge(len(call.body))
        result = await export_profiles(caller, access, call.body, account)
    return messages.response_bytes(result)


async def _abort(context: "grpc.aio.ServicerContext[bytes, bytes]", error: Exception) -> None:
    """End the call with google.rpc.Status, as OTLP's exporters expect."""
    response = error_response(error)
    code = grpc.StatusCode[messages.code_name(response)]
    details = ((_STATUS_METADATA_KEY, messages.status_bytes(response)),)
    await context.abort(code, response.message, details)

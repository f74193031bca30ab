"""gRPC services ProfilerService and ExportService, over the functions that REST uses."""

import grpc
from django.conf import settings

from ingest.cloud_profiler import handshake, listing, messages, profile_upload
from ingest.cloud_profiler.proto import profiler_pb2
from ingest.grpc.service import Call, Port, handler
from ingest.uploads.pipeline import report_rejections
from ingest.uploads.upload_budget import process_budget
from ingest.uploads.upload_metrics import Protocol

_SERVICES = profiler_pb2.DESCRIPTOR.services_by_name
PROFILER_SERVICE = _SERVICES["ProfilerService"].full_name
EXPORT_SERVICE = _SERVICES["ExportService"].full_name
_UPLOADS = dict.fromkeys(("CreateOfflineProfile", "UpdateProfile"), Protocol.CLOUD_PROFILER_GRPC)
# A parked handshake is answered this long before its client's deadline.
_ANSWER_SECONDS = 1.0


def handlers(port: Port) -> list[grpc.GenericRpcHandler]:
    """Return the handlers of both services; see ingest.grpc.service.handler."""
    profiler = {
        "CreateProfile": create_profile,
        "CreateOfflineProfile": create_offline_profile,
        "UpdateProfile": update_profile,
    }
    export = {"ListProfiles": list_profiles}
    return [
        handler(PROFILER_SERVICE, profiler, port, upload_protocols=_UPLOADS),
        handler(EXPORT_SERVICE, export, port),
    ]


async def create_profile(call: Call) -> bytes:
    project, message = messages.create_profile_request(call.body)
    timeout = settings.POLL_TIMEOUT_SECONDS
    if call.seconds_left is not None:
        timeout = max(0.0, min(timeout, call.seconds_left - _ANSWER_SECONDS))
    response = await handshake.create_profile(call.caller, project, message, timeout)
    return messages.profile_response(response)


async def create_offline_profile(call: Call) -> bytes:
    project, parts = messages.parse_offline_upload(call.body)
    access = await profile_upload.authorize_offline(call.caller, project)
    with process_budget.account(access.project) as account:
        account.charge(len(call.body))
        offline = messages.parse_offline_profile(parts)
        response = await profile_upload.create_offline_profile(call.caller, access, offline)
    return messages.profile_response(response)


async def update_profile(call: Call) -> bytes:
    project, name_id, parts = messages.parse_update(call.body)
    requested = await profile_upload.authorize_update(call.caller, project, name_id)
    with (
        report_rejections(requested.target, requested.agent),
        process_budget.account(requested.project) as account,
    ):
        account.charge(len(call.body))
        sent = messages.parse_sent_profile(parts)
        response = await profile_upload.update_profile(requested, sent)
    return messages.profile_response(response)


async def list_profiles(call: Call) -> bytes:
    project, query = messages.list_profiles_request(call.body)
    return messages.list_profiles_response(await listing.list_profiles(call.caller, project, query))

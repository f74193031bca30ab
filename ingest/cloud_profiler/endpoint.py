"""ASGI endpoint of /v2: uploads without Django, long polls and listings by LeanHandler.

An upload costs little more than decoding it: no Django request, no URL dispatch, no middleware.
"""

import re

import orjson

from common.asgi import Receive, Scope, Send
from common.request_body import Disconnected
from endpoints.lean_handler import LeanHandler
from endpoints.plain_asgi import IncomingRequest, send_error, send_response
from ingest.cloud_profiler import profile_upload, wire
from ingest.cloud_profiler.responses import ProfileJson
from ingest.uploads.pipeline import report_rejections
from ingest.uploads.requests import UploadRequest, read_upload
from ingest.uploads.upload_budget import process_budget
from ingest.uploads.upload_metrics import Protocol, measure_uploads

PREFIX = "/v2/"
URLCONF = "ingest.cloud_profiler.urls"

_UPLOAD = re.compile(r"/v2/projects/([^/]+)/profiles(?:/([^/]+)|:createOffline)")
_JSON = {"Content-Type": "application/json"}


class Endpoint:
    """ASGI application for the paths under /v2/. Create it after django.setup()."""

    def __init__(self) -> None:
        self._django = LeanHandler(URLCONF)
        self._upload = measure_uploads(Protocol.CLOUD_PROFILER, _respond_to_upload)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_upload = _UPLOAD.fullmatch(scope["path"]) is not None
        await (self._upload if is_upload else self._django)(scope, receive, send)


async def _respond_to_upload(scope: Scope, receive: Receive, send: Send) -> None:
    incoming = IncomingRequest(receive)
    try:
        message = await _store_upload(UploadRequest.from_scope(scope, incoming))
        await send_response(send, 200, _JSON, orjson.dumps(message))
    except Disconnected:
        return
    except Exception as error:
        await send_error(incoming.delay_end(send), error)


async def _store_upload(request: UploadRequest) -> ProfileJson:
    path = _UPLOAD.fullmatch(request.path)
    project, name_id = (path[1], path[2]) if path else ("", None)
    if name_id is None:
        request.require_method("POST")
        access = await profile_upload.authorize_offline(request, project)
        with process_budget.account(access.project) as account:
            offline = await read_upload(request, account, wire.parse_offline_profile)
            return await profile_upload.create_offline_profile(request, access, offline)
    request.require_method("PATCH")
    requested = await profile_upload.authorize_update(request, project, name_id)
    with (
        report_rejections(requested.target, requested.agent),
        process_budget.account(requested.project) as account,
    ):
        sent = await read_upload(request, account, wire.parse_sent_profile)
        return await profile_upload.update_profile(requested, sent)

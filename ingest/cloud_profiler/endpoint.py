"""ASGI endpoint of /v2: uploads without Django, long polls and listings by LeanHandler.

An upload costs little more than decoding it: no Django request, no URL dispatch, no middleware.
"""

import re
from collections.abc import Awaitable

import orjson

from common.asgi import Receive, Scope, Send
from common.request_body import Disconnected
from endpoints.asgi_response import send_error, send_response
from endpoints.errors import WrongMethod
from endpoints.lean_handler import LeanHandler
from endpoints.unread_body import Incoming
from ingest.caller import Caller
from ingest.cloud_profiler import offline, uploads, wire
from ingest.cloud_profiler.responses import ProfileJson
from ingest.uploads import requests
from ingest.uploads.requests import UploadRequest, read_upload
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
    incoming = Incoming(receive)
    try:
        message = await _store_upload(requests.of_scope(scope, incoming))
        await send_response(send, 200, _JSON, orjson.dumps(message))
    except Disconnected:
        return
    except Exception as error:
        await send_error(incoming.responding(send), error)


def _store_upload(request: UploadRequest) -> Awaitable[ProfileJson]:
    path = _UPLOAD.fullmatch(request.path)
    project, name_id = (path[1], path[2]) if path else ("", None)
    caller = Caller.of_upload(request)
    if name_id is None:
        _require(request, "POST")
        return offline.create_offline(
            caller,
            project,
            lambda pk, charge: read_upload(request, pk, wire.offline_profile, charge),
        )
    _require(request, "PATCH")
    return uploads.update_profile(
        caller,
        project,
        name_id,
        lambda pk, charge: read_upload(request, pk, wire.sent_profile, charge),
    )


def _require(request: UploadRequest, method: str) -> None:
    if request.method != method:
        raise WrongMethod(method)

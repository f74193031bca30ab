"""ASGI endpoint of `POST /api/v1/projects/{project}/profiles:import`: a file as the body."""

import re

import orjson
from django.conf import settings

from common.asgi import Receive, Scope, Send
from common.client_address import client_address
from common.request_body import Disconnected
from endpoints import credentials
from endpoints.plain_asgi import IncomingRequest, send_error, send_response
from ingest.files import params, session_access
from ingest.files.importing import ImportJson, import_body
from ingest.files.snapshots import store_snapshots
from ingest.uploads.requests import UploadRequest, read_body
from ingest.uploads.upload_budget import process_budget
from projects.audit import Origin
from projects.credentials import access_tokens
from projects.credentials.authentication import Access

_PATH = re.compile(r"/api/v1/projects/([^/]+)/profiles:import")
_JSON = {"Content-Type": "application/json"}


def is_import(path: str) -> bool:
    """Return True for the path of this endpoint."""
    return _PATH.fullmatch(path) is not None


async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    """Store the profiles of the body and describe them, or send an error response."""
    incoming = IncomingRequest(receive)
    try:
        request = UploadRequest.from_scope(scope, incoming)
        request.require_method("POST")
        described = await _store(request)
        await send_response(send, 200, _JSON, orjson.dumps(described))
    except Disconnected:
        return
    except Exception as error:
        await send_error(incoming.delay_end(send), error)


async def _store(request: UploadRequest) -> ImportJson:
    path = _PATH.fullmatch(request.path)
    access = await _access(request, path[1] if path else "")
    options = params.read(request.scope["query_string"].decode("latin-1"))
    agent = request.describe_file_sender(access)
    with process_budget.account(access.project) as account:
        body = await read_body(request, account, settings.MAX_UPLOAD_BYTES)
        if options.snapshot:
            token = access.prefix if access_tokens.is_token(request.credential) else ""
            origin = Origin(client_address(request.scope), token=token)
            return await store_snapshots(access, options, body, account, origin)
        return await import_body(access, agent, options, body, account)


async def _access(request: UploadRequest, project: str) -> Access:
    """Authenticate the API key, the personal access token, or the session of the console's form."""
    if not request.credential and session_access.has_session(request.headers):
        return await session_access.access(request.scope, project)
    if access_tokens.is_token(request.credential):
        access = await credentials.project_access(request.credential, request.scope, project)
    else:
        access = await request.authenticate()
    credentials.require_write(access)
    credentials.require_own(access, project)
    return access
